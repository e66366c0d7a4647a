"""Who stands behind a value: the only sentence about it that any view prints."""

from collections.abc import Iterable

from bot.domain.specification.claims import Claim, Entry, Party, PartyKind
from bot.domain.specification.fold import THE_BOT
from bot.domain.values.text import listed, one_line, value_text

DECIDERS = "deciders"
"""The field of a decision, and the fact of an earlier line: the names of those who decided."""
UNCHECKED_MARK = "_(unchecked)_"
"""Behind a sentence of a persona that tells a fact, and shows no words of a person or of code that say it."""
VALUE_CHARS = 80
_NAMED_AS = frozenset({PartyKind.PERSONA, PartyKind.PROGRAM, PartyKind.AGENT})


def attribution(claim: Claim) -> str:
    """For example `Grace`, `Grace, accepted by Linus`, or `proposed by Maya (persona), not accepted`."""
    said, made, took = claim.said, claim.proposed, claim.accepted
    is_worded = said is not None and said.by != made.by and claim.is_reworded
    parts = [said.name] if said else [f"proposed by {_called(made)}"]
    if is_worded:
        parts.append(f"worded by {_called(made)}")
    if took is None:
        parts.append("not accepted")
    elif took.by != (made if is_worded or said is None else said).by:
        parts.append(f"accepted by {took.name}")
    if claim.is_unchecked and claim.reason:
        parts.append(f"unchecked: {claim.reason}")
    return ", ".join(parts)


def attribution_of(entry: Entry, field: str) -> str:
    """Of the value that counts. Of a decision it names who decided, where others did than who recorded it."""
    claim = entry.claim(field)
    if claim is None:
        return ""
    if entry[DECIDERS]:
        return decided_by(entry, field)
    same = (one for one in entry.claims[field] if one.said and one.accepted and one.value == claim.value)
    return together(attribution(one) for one in same) if claim.said and claim.accepted else attribution(claim)


def decided_by(entry: Entry, field: str = "text") -> str:
    """Who decided, and who recorded that, where these are others."""
    name, named = recorder(entry, field), entry[DECIDERS]
    deciders = list(map(str, named)) if isinstance(named, list | tuple) else []
    if not deciders or [one.casefold() for one in deciders] == [name.casefold()]:
        return f"decided by {name}"
    return f"decided by {listed(deciders)}, recorded by {name}"


def recorder(entry: Entry, field: str) -> str:
    """The name of who gave the value that counts, or took it over."""
    claim = entry.claim(field)
    return (claim.accepted or claim.proposed).name if claim else ""


def attributions(entry: Entry) -> str:
    """Of every value that counts, except the reference to its discussion, which no person said."""
    return together(attribution(claim) for field, claim in entry.current() if field != "discussion")


def together(sentences: Iterable[str]) -> str:
    """Each once; `Ada and Grace`."""
    found = dict.fromkeys(sentences)
    return ("; " if any("," in one for one in found) else " and ").join(found)


def credit(sentence: str) -> str:
    """An attribution as a sentence of its own: `Said by Grace, accepted by Linus`."""
    told = credit_inside(sentence)
    return f"{told[:1].upper()}{told[1:]}"


def credit_inside(sentence: str) -> str:
    """In another sentence: `said by Grace, accepted by Linus`."""
    is_whole = not sentence or sentence.startswith(("proposed by ", "decided by "))
    return sentence if is_whole else f"said by {sentence}"


def overtaken(entry: Entry, field: str) -> str:
    """Empty, unless an edit changed words that were corrected since."""
    edit, now = entry.overtaken(field), entry.claim(field)
    if edit is None or now is None:
        return ""
    changed = f"{edit.author.name} changed earlier words to {_quoted(edit.value)}"
    return f"{changed}; {now.author.name} had said {_quoted(now.value)} since. Which counts?"


def _quoted(value: object) -> str:
    return f"“{one_line(value_text(value), VALUE_CHARS)}”"


def _called(party: Party) -> str:
    is_marked = party.kind in _NAMED_AS and party.name != THE_BOT
    return f"{party.name} ({party.kind.value})" if is_marked else party.name
