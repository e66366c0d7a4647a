"""
A software bill of materials (CycloneDX 1.5, JSON) of what requirements/*.txt pins: `scripts/sbom [image|models]`.

Names, versions and hashes are those of the lock file, so they are what the image holds. Licences come from the metadata
of what is installed; a package that is not installed here has none.
"""

import argparse
import json
import re
import tomllib
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[\w, -]+\])?==(?P<version>[^\s;]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
LICENCE_CLASSIFIER = "License :: OSI Approved :: "
LONGEST_LICENCE = 100
"""Some packages put the whole text where the name belongs."""


def bill(kind: str) -> dict[str, Any]:
    lock = (ROOT / f"requirements/{kind}.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = {
        "type": "application",
        "name": project["name"],
        "version": project["version"],
        "bom-ref": project["name"],
        "purl": f"pkg:pypi/{project['name']}@{project['version']}",
    }
    components = [_component(entry) for entry in re.split(r"\n(?=\S)", lock) if PIN.match(entry)]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, kind + lock)}",
        "version": 1,
        "metadata": {"component": ours},
        "components": components,
        "dependencies": [{"ref": project["name"], "dependsOn": [one["bom-ref"] for one in components]}],
    }


def _component(entry: str) -> dict[str, Any]:
    """Its hashes are those of its files, one for each platform."""
    pin = PIN.match(entry)
    assert pin
    name, version = pin["name"], pin["version"]
    purl = f"pkg:pypi/{name.lower()}@{version}"
    files = [{"alg": "SHA-256", "content": one} for one in HASH.findall(entry)]
    page = f"https://pypi.org/project/{name}/{version}/"
    licence = _licence(name)
    return {
        "type": "library",
        "name": name,
        "version": version,
        "bom-ref": purl,
        "purl": purl,
        **({"licenses": [licence]} if licence else {}),
        "externalReferences": [{"type": "distribution", "url": page, "hashes": files}],
    }


def _licence(name: str) -> dict[str, Any] | None:
    try:
        told: PackageMetadata = metadata(name)
    except PackageNotFoundError:
        return None
    if expression := told.get("License-Expression"):
        return {"expression": expression}
    named = [one.removeprefix(LICENCE_CLASSIFIER) for one in told.get_all("Classifier") or ()
             if one.startswith(LICENCE_CLASSIFIER)]  # fmt: skip
    words = " and ".join(named) or (told.get("License") or "").strip()
    return {"license": {"name": words.splitlines()[0][:LONGEST_LICENCE]}} if words else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="scripts/sbom", description=__doc__)
    parser.add_argument("lock", nargs="?", choices=("image", "models"), default="image")
    print(json.dumps(bill(parser.parse_args().lock), indent=2))
