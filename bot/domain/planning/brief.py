"""What an item is about, in people's words: its title, and what they had said when it was begun."""

from bot.domain.text import clean, one_line

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
