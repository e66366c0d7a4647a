"""
Which sections of an output a step owns, read from the prose of its Artifacts section.

    - Create or update `quick-scan.md` in the artifact folder:
      - Section: "1. Scope"
      - Content: scope class with rationale

Authors write this in many ways, so it is read kindly: §"1. Scope", Section 1. Scope, `## 1. Scope`.
"""

import re
from collections.abc import Collection, Iterator

from bot.domain.values.value import Value

_PART = re.compile(
    r"""
    # "1. Scope", `## 1. Scope`, **1. Scope**
    (?<!["“'‘`*])["“'‘`*]++ (?:\#++\s)?
        (?P<quoted>\d{1,3}(?:\.\d{1,3})*)\.\s (?P<quoted_title>[^"”`*]{1,200}?) ['’]? ["”'’`*] (?!\w)
    # §1. Scope, Section: 1. Scope, # 1. Scope
  | (?:§ | \bsections?\b:? | (?<!\#)\#++) \s? (?P<plain>\d{1,3}(?:\.\d{1,3})*)\.\s (?P<plain_title>[^,;:(`"]{1,200}?)
        (?=\s? (?: [,;:(`"] | -- | [–—] | \b(?:in|of|to)\s | \.?$))
    # Section: "Scope"
  | (?:§\s? | ^(?:[-*+]\s)?section:\s?) ["“`]? (?P<named>[^\d\s"”`*][^"”`]*?) ["”`]?$
    # quick-scan.md, docs/common/nfr-matrix.md
  | (?<![\w{}./-]) (?P<file>(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.(?:md|json|csv|ya?ml|txt)) (?![\w/])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HINT = re.compile(r"[-*+] (?P<hint>.+[^:])")
_DETAIL = re.compile(r"[-*+] (?:content|format|include|column|note|trace)s?:", re.IGNORECASE)


class OwnedSection(Value):
    """
    One section of an output: its whole heading "6. Functional Requirements", its number "6", and what the
    step says about its content and format. An unnumbered section has no number.
    """

    heading: str
    number: str = ""
    hints: tuple[str, ...] = ()


def owned_sections(artifacts: str, output: str, *, outputs: Collection[str]) -> tuple[OwnedSection, ...]:
    """
    The sections of *output*, in the order of the text.

    What is said before any section of it is named comes as one with an empty heading.
    """
    sections: dict[str, OwnedSection] = {}
    heading = ""
    for spaced in (one for one in outputs if " " in one):
        artifacts = artifacts.replace(spaced, spaced.replace(" ", "-"))
    for file, found in _said(artifacts, next(iter(outputs), output)):
        if file != _name(output):
            heading = ""
        elif isinstance(found, OwnedSection):
            heading = found.heading
            sections.setdefault(heading.casefold(), found)
        else:
            known = sections.get(heading.casefold()) or OwnedSection(heading=heading)
            sections[heading.casefold()] = known.but(hints=(*known.hints, found))
    return tuple(sections.values())


def _said(artifacts: str, file: str) -> Iterator[tuple[str, OwnedSection | str]]:
    """
    Each section and each hint with the file it is about.

    That is the file named before it on its line, else the first one of its line, else the last one above.
    """
    file = _name(file)
    for raw in artifacts.splitlines():
        line = " ".join(raw.split())
        hint = _HINT.fullmatch(line)
        parts = [] if _DETAIL.match(line) else list(_PART.finditer(line))
        if hint and not parts:
            yield file, hint["hint"]
            continue
        file = next((_name(part["file"]) for part in parts if part["file"]), file)
        for part in parts:
            if part["file"]:
                file = _name(part["file"])
            else:
                yield file, _section(part)


def _section(part: re.Match[str]) -> OwnedSection:
    if named := part["named"]:
        return OwnedSection(heading=named.strip())
    number, title = part["quoted"] or part["plain"], part["quoted_title"] or part["plain_title"]
    return OwnedSection(heading=f"{number}. {title.strip()}", number=number)


def _name(path: str) -> str:
    return path.removeprefix("docs/common/").casefold().replace(" ", "-")
