"""
Writes docs/sentences.md: every sentence in the code that people can see in Slack, in the order of the code, and what
some messages look like.

Placeholders stand as `{name}`. Docstrings, logs, assertions and patterns are left out. A test compares the file with
the code; `scripts/sentences` writes it.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # a played meeting needs the tests' table

from bot.domain.messages.message import Action, Message  # noqa: E402
from bot.slack.render import parts as rendered  # noqa: E402
from tests.domain.table import Table  # noqa: E402

PAGE = ROOT / "docs" / "sentences.md"
WORDING = ("bot/domain/messages",)
"""All text in these folders is for people."""
BESIDE = ("bot/domain", "bot/engine", "bot/slack", "bot/errors.py")
"""In these only whole sentences are."""
NOT_FOR_SLACK = (
    "bot/domain/catalog/schema.py", "bot/domain/item/", "bot/domain/privacy/", "bot/domain/reviews/text.py",
    "bot/domain/specification/", "bot/domain/transcript/", "bot/domain/planning/",
    "bot/slack/client.py", "bot/slack/manifest.py", "bot/slack/transport.py",
)  # fmt: skip
"""Files, checks of content, and what operators read."""

QUIET_CALLS = frozenset({
    "compile", "debug", "info", "warning", "error", "exception", "sub", "split", "startswith", "endswith",
    "removeprefix", "removesuffix", "partition", "rpartition", "AssertionError", "TypeVar", "getLogger", "Field",
})  # fmt: skip
"""Calls whose text nobody sees."""
SENTENCE_WORDS = 3
_WORD = re.compile(r"[A-Za-z]{2,}|\bI\b")
_MARKUP = re.compile(r"[<>@]{2,}|\\[wsdb]|\(\?")

INTRODUCTION = """\
# Sentences

Everything that people can see in Slack, in the order of the code. `{name}` stands for what is filled in. Written by
`scripts/sentences`; a test compares it with the code.
"""


def page() -> str:
    parts = [INTRODUCTION]
    for module in _modules():
        if found := list(dict.fromkeys(_sentences(module))):
            name = module.relative_to(ROOT).with_suffix("").as_posix().removeprefix("bot/")
            parts.append("\n".join([f"## {name}", "", *map(_row, found)]) + "\n")
    shown = (f"## {name}\n\n```text\n{_text(message)}\n```\n" for name, message in _played())
    return "\n".join([*parts, SURFACES, *shown])


# --- what a meeting looks like -------------------------------------------------------------------------------------

SURFACES = """\
# What messages look like

The text of messages of a played meeting without a model, as Slack gets it. Buttons stand in brackets.
"""


def _played() -> Iterator[tuple[str, Message]]:
    at = Table().start("Rate limiting")
    yield "The root of the thread", at.world.thread[0].message
    yield "The card of a step, open", at.last
    at.say("problem: Batch jobs starve everybody else.", who="grace")
    yield "The card of a step, partly answered", _card(at)
    at.press(Action.FINISH_STEP)
    yield "The card of a step, finished", at.last
    at.stop()
    yield "Paused", at.last
    at.resume().plan()
    yield "The card of the plan, open", at.last
    at.say("2. The night jobs fail.", who="grace").say("Test Planner: no-go; because: nobody measures")
    yield "The card of the plan, partly answered", _card(at)
    at.press(Action.FINISH_STEP)
    yield "The card of the plan, finished", at.last


def _card(at: Table) -> Message:
    assert at.rt.card, "a step is open"
    return at.card


def _text(message: Message) -> str:
    return "\n".join(part.text for part in rendered(message)).replace("```", "'''")


# --- what stands in the code -----------------------------------------------------------------------------------------


def _modules() -> Iterator[Path]:
    first = [path for folder in WORDING for path in sorted((ROOT / folder).rglob("*.py"))]
    yield from first
    for place in BESIDE:
        paths = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py"))
        for path in paths:
            name = path.relative_to(ROOT).as_posix()
            if path not in first and not name.startswith(NOT_FOR_SLACK):
                yield path


def _sentences(module: Path) -> Iterator[str]:
    is_wording = module.relative_to(ROOT).as_posix().startswith(WORDING)
    for text in _texts(ast.parse(module.read_text(encoding="utf-8"))):
        words = _WORD.findall(re.sub(r"\{[^{}]*\}", "", text))
        if not words or _MARKUP.search(text):
            continue
        # A single small word is a key or a name; what is shown begins with a capital or has a space.
        is_shown = " " in text.strip() or (text[:1].isupper() and not text.isupper())
        is_sentence = (
            len(words) >= SENTENCE_WORDS and " " in text.strip() and bool(re.search(r"[.?!…:]\W*$", text))
        )
        if is_sentence or (is_wording and is_shown):
            yield text


def _texts(node: ast.AST) -> Iterator[str]:
    """Of all strings below *node* that are neither documentation nor for a machine."""
    if isinstance(node, ast.Constant):
        yield from [node.value] if isinstance(node.value, str) else []
    elif isinstance(node, ast.JoinedStr):
        yield "".join(_piece(one) for one in node.values)
        for one in node.values:
            yield from _texts(one.value) if isinstance(one, ast.FormattedValue) else ()
    elif not _is_for_nobody(node):
        for child in ast.iter_child_nodes(node):
            is_documentation = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if not is_documentation and not _is_annotation(node, child):
                yield from _texts(child)


def _is_for_nobody(node: ast.AST) -> bool:
    is_quiet = isinstance(node, ast.Call) and _called(node) in QUIET_CALLS
    return is_quiet or isinstance(node, ast.Assert | ast.ImportFrom | ast.Import)


def _piece(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return f"{{{_name(node.value)}}}" if isinstance(node, ast.FormattedValue) else ""


def _name(node: ast.expr) -> str:
    """A short name for what is filled in."""
    match node:
        case ast.Name(id=name):
            return name.strip("_")
        case ast.Attribute(attr=name):
            return name
        case ast.Call(args=[first, *_]):
            return _name(first)
        case ast.Call(func=called):
            return _name(called)
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return _name(value)
        case _:
            return "…"


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_annotation(node: ast.AST, child: ast.AST) -> bool:
    return child in (getattr(node, "annotation", None), getattr(node, "returns", None))


def _row(text: str) -> str:
    """One line of a list; line breaks inside are shown as ⏎, and links lead nowhere."""
    line = " ⏎ ".join(row.rstrip() for row in text.strip().splitlines())
    return "- " + line.replace("](", r"]\(")


if __name__ == "__main__":
    argparse.ArgumentParser(prog="scripts/sentences", description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
