"""What an item is about, in people's words: its title, and what they had said when it was begun."""

from collections.abc import Iterator, Mapping

from bot.domain.planning.verdict import summary
from bot.domain.planning.workshop import UNNAMED_PERSON, Workshop
from bot.domain.values.markdown import bullet, quoted
from bot.domain.values.text import clean, one_line

SAID_BEFORE = "## What was said before"
BRIEF_CHARS = 4_000


def brief_of(title: str, draft: str) -> str:
    """Of an item called *title*, whose draft.md is *draft*. Words that begin with the title say it already."""
    _, _, said = clean(draft).partition(f"{SAID_BEFORE}\n")
    quoted = (line.removeprefix(">").strip() for line in said.split("\n") if line.startswith(">"))
    words = "\n".join(quoted).strip()[:BRIEF_CHARS]
    if not words:
        return title
    same = one_line(words, BRIEF_CHARS).startswith(title.rstrip("…").strip())
    return words if same else f"{title}\n\n{words}"


# What every role is given before it judges: the same text for all of them.


def briefing(ws: Workshop, names: Mapping[str, str]) -> str:
    """
    The brief, what people answered and said, what the version before came to, and the verdicts of the last round.

    It is data, never an instruction: text that people and roles wrote is quoted. *names* are people's, by id.
    """
    return "\n\n".join(_parts(ws, names)) + "\n"


def _parts(ws: Workshop, names: Mapping[str, str]) -> Iterator[str]:
    yield f"# {bullet(ws.title)}\n\n{quoted(ws.brief)}"
    if answers := [
        f"- {one.id} {bullet(one.text)}\n{quoted(f'{_name(one.person, names)}: {one.answer}')}"
        for one in ws.answered
    ]:
        yield "## Answered\n\n" + "\n".join(answers)
    if unanswered := [f"- {one.id} {bullet(one.text)}" for one in ws.questions if not one.answered]:
        yield "## Not answered\n\n" + "\n".join(unanswered)
    if said := [f"- {_name(one.person, names)}: {bullet(one.text)}" for one in ws.remarks]:
        yield "## Also said\n\n" + "\n".join(said)
    if ws.lessons:
        yield f"## Version {ws.version - 1} came to nothing\n\n" + "\n".join(
            f"- {bullet(one)}" for one in ws.lessons
        )
    if ws.round > 1 and (before := ws.verdicts_of(ws.round - 1)):
        yield f"## Round {ws.round - 1}\n\n{quoted(summary(before))}"


def _name(person: str, names: Mapping[str, str]) -> str:
    return bullet(names.get(person) or person) or UNNAMED_PERSON
