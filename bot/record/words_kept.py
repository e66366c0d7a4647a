"""
A second check, which shares nothing with the code that writes the files: each person's words stand in a file, with
their name. It knows the format of a transcript, and reads the files as text.
"""

import json
import re

SHORTEST = 4
"""Letters and digits; shorter values stand anywhere."""
_NO_WORDS = ("asked", "discussion", "person")
"""Fields with the words of a question, and references to a discussion or to a person."""
_ESCAPES = re.compile(r"&(?:lt|gt|amp|quot|#\d+);")
_ENTRY = re.compile(r"\n(?=(?:#|- |\d+\. |\*\*[A-Z]{1,4}-\d))")
_WHOLE = re.compile(r"#{3,} |\*\*[A-Z]{1,4}-\d")


def unkept(transcript: str, files: dict[str, str]) -> list[tuple[int, str]]:
    """
    What is missing, as (number of the line, sentence). *files*: texts of what people read, by path. Words that were
    edited, deleted, withdrawn, or given anew by a later line of a person need not be there.
    """
    lines, missing = [], []
    for number, row in enumerate(transcript.split("\n"), 1):
        try:
            line = json.loads(row)
        except ValueError:
            continue  # a row that cannot be read is named elsewhere
        if isinstance(line, dict) and isinstance(line.get("meta"), dict):
            lines.append((number, line["source"], line["meta"]))
    people = [(n, meta) for n, source, meta in lines if source != "model" and meta.get("user_id")]
    given = [(n, meta, patch) for n, meta in people for patch in meta.get("entries") or ()]
    over = {meta.get(how) for _, _, meta in lines for how in ("amends", "retracts")}
    gone = {patch["id"] for _, _, patch in given if patch.get("state") in ("withdrawn", "superseded")}
    gone |= {patch["id"] for _, _, patch in given if patch.get("part_of") in gone}
    last = {(patch["id"], name): n for n, _, patch in given for name in patch.get("set", {})}
    blocks = [(_bare(block), block) for text in files.values() for block in _blocks(text)]
    for number, meta, patch in given:
        if meta.get("message_id") in over or patch["id"] in gone:
            continue
        given_here = [(name, value) for name, value in patch.get("set", {}).items() if name not in _NO_WORDS]
        for at, (name, value) in enumerate(given_here):
            words = _bare(value) if isinstance(value, str) else ""
            if len(words) < SHORTEST or last[patch["id"], name] != number:
                continue
            there = [block for bare, block in blocks if words in bare]
            who = str(meta.get("user_name") or "")
            if not there:
                missing.append((number, f"“{_short(value)}” ({patch['id']}) is in no file"))
            elif at == 0 and patch.get("new") and not any(who in block for block in there):
                missing.append((number, f"“{_short(value)}” ({patch['id']}) stands there without {who}"))
    return missing


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
