"""The decisions that were found in the items that a person may see."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot.domain.messages.message import Link, Message
from bot.domain.values.markdown import escaped
from bot.domain.values.text import counted, one_line

SHOWN = 10
LINE_CHARS = 300
WORDS_CHARS = 60


class FoundDecision(NamedTuple):
    """
    `at` is when it was said, `fate` what became of it since, such as "replaced by DEC-002". `over`: it counts no more.
    `link` is the message in Slack; empty where that is not known for certain.
    """

    slug: str
    title: str
    id: str
    text: str
    by: str = ""
    at: str = ""
    why: str = ""
    replaces: str = ""
    fate: str = ""
    link: str = ""
    over: bool = False


def matching(found: Iterable[FoundDecision], words: str) -> tuple[FoundDecision, ...]:
    """Those that have every one of *words* somewhere, the newest first."""
    wanted = words.casefold().split()
    kept = (one for one in found if all(word in _searched(one) for word in wanted))
    return tuple(sorted(kept, key=lambda one: one.at, reverse=True))


def told(found: Sequence[FoundDecision], words: str, *, unread: int = 0) -> Message:
    """*unread*: how many items there was no time for."""
    about = f" about `{one_line(words, WORDS_CHARS).replace('`', '')}`" if words.strip() else ""
    rows = [
        f"{counted(len(found), 'decision')}{about}, the newest first:"
        if found
        else f"No decision{about} was found."
    ]
    rows += [f"- {_row(one)}" for one in found[:SHOWN]]
    if len(found) > SHOWN:
        rows.append(f"And {len(found) - SHOWN:,} more. Add a word: `decisions redis`.")
    if unread:
        rows.append(
            f"{counted(unread, 'item')} could not be read in time. Name one of its words and ask again."
        )
    links = (
        Link(label=f"{one.id or 'decision'}: {one.title}", url=one.link) for one in found[:SHOWN] if one.link
    )
    return Message(text="\n".join(rows), links=tuple(links))


def as_text(found: Sequence[FoundDecision]) -> str:
    """For a terminal."""
    if not found:
        return "No decision was found."
    return "\n".join(
        row
        for one in found
        for row in (one_line(f"{one.slug} {one.id} {one.text}", LINE_CHARS), *_facts(one))
    )


def _facts(one: FoundDecision) -> Iterable[str]:
    facts = [f"{one.by} {one.at[:10]}".strip(), one.why and f"because: {one.why}"]
    facts += [one.replaces and f"replaces {one.replaces}", one.fate, one.link]
    return (f"    {one_line(fact, LINE_CHARS)}" for fact in facts if fact)


def _row(one: FoundDecision) -> str:
    lead = f"**{one.id}** " if one.id else ""
    text = escaped(one_line(one.text, LINE_CHARS))
    about = [
        f"{escaped(one_line(one.title))} (`{one.slug}`)",
        " ".join(part for part in (escaped(one.by), one.at[:10]) if part),
        f"because {escaped(one_line(one.why, LINE_CHARS))}" if one.why else "",
        f"replaces {one.replaces}" if one.replaces else "",
        one.fate,
    ]
    return f"{lead}{text} – {'; '.join(part for part in about if part)}"


def _searched(one: FoundDecision) -> str:
    return f"{one.slug} {one.title} {one.id} {one.text} {one.by} {one.why}".casefold()
