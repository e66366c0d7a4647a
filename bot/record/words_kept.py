"""
A second check, which shares nothing with the code that writes the files: each person's words stand in a file, with
their name, and what a person accepted is not called open. It knows the format of a transcript, and reads the files as
text.
"""

import json
import re

SHORTEST = 4
"""Letters and digits; shorter values stand anywhere."""
_NO_WORDS = ("asked", "discussion", "heard", "person")
"""Fields with the words of a question, and references to a discussion, to a line or to a person."""
_ESCAPES = re.compile(r"&(?:lt|gt|amp|quot|#\d+);")
_ENTRY = re.compile(r"\n(?=(?:#|- |\d+\. |\*\*[A-Z]{1,4}-\d))")
_LED_BY = re.compile(r"[#\-* ]{0,8}([A-Z]{1,4}(?:-\d{1,9}){1,3})\b")
_ID = re.compile(r'"id": ?"([A-Z]{1,4}(?:-\d{1,9}){1,3})"')
_TITLED = re.compile(r"(?:#{2,6} |(?:[-*] )?\*\*)([A-Z]{1,4}(?:-\d{1,9}){1,3})\b")
_WHOLE = re.compile(r"#{3,} |\*\*[A-Z]{1,4}-\d")


def unkept(transcript: str, files: dict[str, str], people: str = "") -> list[tuple[int, str]]:
    """
    What is missing, as (number of the line, sentence). *files*: texts of what people read, by path. *people* is the
    text of people.json. Words that were edited, deleted, withdrawn, or given anew by a later line of a person need not
    be there.
    """
    names = _names(people)
    lines, missing = [], []
    for number, row in enumerate(transcript.split("\n"), 1):
        try:
            line = json.loads(row)
        except ValueError:
            continue  # a row that cannot be read is named elsewhere
        if isinstance(line, dict) and isinstance(line.get("meta"), dict):
            entries = line["meta"].get("entries")
            patches = [one for one in entries if _is_patch(one)] if isinstance(entries, list) else []
            lines.append((number, line.get("source"), line["meta"], patches))
    spoken = [one for one in lines if one[1] != "model" and _author(one[2])]
    given = [(n, meta, patch) for n, _, meta, patches in spoken for patch in patches]
    metas = [meta for _, _, meta, _ in lines]
    is_sealed = any("seal" in meta for meta in metas) and not any("takes_over" in meta for meta in metas)
    # Among lines with seals, one without takes nothing away.
    ours = [one for one in given if "seal" in one[1] or not is_sealed]
    taking = [meta for meta in metas if "seal" in meta or not is_sealed]
    over = {str(meta.get(how)) for meta in taking for how in ("amends", "retracts")}
    gone = {patch["id"] for _, _, patch in ours if patch.get("state") in ("withdrawn", "superseded")}
    gone |= {patch["id"] for _, _, patch in ours if str(patch.get("part_of")) in gone}
    last = {(patch["id"], name): n for n, _, patch in ours for name in patch.get("set", {})}
    # Lines stand in the order of Slack's stamps: of two at the same time the other one may have been heard first.
    again = {
        (patch["id"], name) for _, _, patch in ours if not patch.get("new") for name in patch.get("set", {})
    }
    blocks = [(_bare(block), block) for text in files.values() for block in _blocks(text)]
    for number, meta, patch in given:
        if str(meta.get("message_id")) in over or patch["id"] in gone:
            continue
        given_here = [(name, value) for name, value in patch.get("set", {}).items() if name not in _NO_WORDS]
        for at, (name, value) in enumerate(given_here):
            text = value if isinstance(value, str) else ""
            shown = names.get(text.removeprefix("@"), text)  # some values are nothing but a person
            words = _bare(shown)
            if len(words) < SHORTEST or last.get((patch["id"], name), number) != number:
                continue
            there = [block for bare, block in blocks if words in bare]
            who = names.get(_author(meta)) or str(meta.get("user_name") or _author(meta))
            if not there:
                missing.append((number, f"“{_short(shown)}” ({patch['id']}) is in no file"))
            elif at or not patch.get("new") or (patch["id"], name) in again:
                continue
            elif not any(who in block for block in there):
                missing.append((number, f"“{_short(shown)}” ({patch['id']}) stands there without {who}"))
    every = [(n, meta, patch) for n, _, meta, patches in lines for patch in patches]
    newest = {patch["id"]: (n, meta, patch) for n, meta, patch in every}
    doubted = {patch["id"] for _, _, patch in every if patch.get("unverified")}
    unsettled = (_LED_BY.match(block) for _, block in blocks if "not accepted" in block)
    for id in sorted({found[1] for found in unsettled if found} & newest.keys()):
        number, meta, patch = newest[id]
        is_taken = _author(meta) and "seal" in meta and patch.get("accept") is True
        if is_taken and not (meta.get("how") == "everything" and id in doubted):
            missing.append((number, f"{id} was accepted here, and stands there as not accepted"))
    return missing


def unknown_ids(transcript: str, files: dict[str, str]) -> list[tuple[str, int, str]]:
    """Entries that stand in *files* and that no line has, as (path, number of the row, id)."""
    ids = set(_ID.findall(transcript))
    kinds = {id.partition("-")[0] for id in ids}
    rows = [(path, at, row) for path, text in files.items() for at, row in enumerate(text.split("\n"), 1)]
    led = [(path, at, found[1]) for path, at, row in rows if (found := _TITLED.match(row))]
    return [(path, at, id) for path, at, id in led if id not in ids and id.partition("-")[0] in kinds]


def _is_patch(given: object) -> bool:
    """A line of others may have anything."""
    return (
        isinstance(given, dict)
        and isinstance(given.get("id"), str)
        and isinstance(given.get("set", {}), dict)
    )


def _author(meta: dict[str, object]) -> str:
    """Earlier versions wrote Slack's id, and the name, into the line."""
    return str(meta.get("person") or meta.get("user_id") or "")


def _names(people: str) -> dict[str, str]:
    """Empty if the file cannot be read; verifying reports that."""
    try:
        return {id: str(one.get("name", "")) for id, one in json.loads(people)["people"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _blocks(text: str) -> list[str]:
    """An entry under a heading of its own is one block, so is each bullet; a table has its names below it."""
    found = []
    for section in re.split(r"\n(?=#)", text):
        is_whole = _WHOLE.match(section) or "\n|" in section or "\n_Said by" in section
        found += [*_ENTRY.split(section), *([section] if is_whole else [])]
    return found


def _bare(text: str) -> str:
    return "".join(char for char in _ESCAPES.sub("", text).casefold() if char.isalnum())


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
