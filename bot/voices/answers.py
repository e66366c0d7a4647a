"""
Parses the answer of a model: the text for people, and what stands beside it.

Parsing never fails. What does not fit the form is left out.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.discussion.elaboration import Contribution, Stance
from bot.domain.specification.claims import Quote
from bot.domain.specification.fold import MOST_SOURCES, QUOTE_CHARS
from bot.domain.values.json_files import objects_in
from bot.domain.values.text import SENTENCE_ENDS
from bot.voices.prompts.fencing import sanitized, text_row

MOST_PARTS = 20
MOST_SENTENCES = 8
MOST_TURNS = 8
ISSUE_CHARS = 60
POSITION_CHARS = 200
QUESTION_CHARS = 300

_LISTS = ("entries", "questions", "next")


class Answered(NamedTuple):
    """
    `declined`: it says that it refuses. `following` are the questions for the next step, `quotes` those of the text.
    Questions and entries are as they were given; `entries` is None where the answer has no list of them.
    """

    text: str
    declined: bool = False
    questions: tuple[Mapping[str, Any], ...] = ()
    following: tuple[Mapping[str, Any], ...] = ()
    quotes: tuple[Quote, ...] = ()
    entries: tuple[Any, ...] | None = None


def read_draft(answer: str) -> Answered | None:
    """None where nothing has the form of a draft, also because of a part that is no list."""
    for found in objects_in(answer):
        if found.get("declined") is True or _is_draft(found):
            break
    else:
        return None
    said, quotes = _said(found.get("say"))
    entries = found.get("entries")
    return Answered(
        said,
        declined=found.get("declined") is True,
        questions=rows_in(found.get("questions")),
        following=rows_in(found.get("next")),
        quotes=quotes,
        entries=tuple(entries) if isinstance(entries, list) else None,
    )


def _is_draft(given: Mapping[str, Any]) -> bool:
    """That entries do not fit is counted when they are read."""
    lists = [given[name] for name in _LISTS if given.get(name) is not None]
    asked = (given.get(name) for name in ("questions", "next"))
    is_whole = bool(lists) and all(isinstance(one, list) for one in lists)
    return is_whole and not any(map(has_only_misfits, asked)) and _is_said(given.get("say", ""))


def _is_said(given: Any) -> bool:
    return isinstance(given, str) or (isinstance(given, list) and not has_only_misfits(given))


def has_only_misfits(given: Any) -> bool:
    """It is no empty list: words may be in it."""
    return bool(given) and not rows_in(given)


def rows_in(given: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(one for one in given if isinstance(one, Mapping)) if isinstance(given, list) else ()


def whole_entries_in(answer: str) -> tuple[Mapping[str, Any], ...]:
    """In an answer that was cut off, or has no form; also where another part of it is of the wrong type."""
    found = [*objects_in(answer)]
    given = [one.get("entries") for one in found]
    inner = (row for one in given for row in rows_in([one] if isinstance(one, Mapping) else one))
    return tuple(one for one in (*found, *inner) if isinstance(one.get("fields"), Mapping | list))


def spoken_in(answer: str, *, turns: Collection[str]) -> list[Contribution] | None:
    """
    What is said in a discussion, as it was given; None where nothing has the form, or no words can be found in what
    has. *turns* are the ids that the speaker could know; others are dropped.
    """
    given = (one.get("contributions") for one in objects_in(answer))
    rows = next((one for one in given if isinstance(one, list)), None)
    if rows is None:
        return None
    parts = rows_in(rows := rows[:MOST_PARTS])
    found = [_spoken(one, turns) for one in parts]
    is_whole = len(parts) == len(rows) and all(_is_said(one.get("say")) for one in parts)
    return found if is_whole or any(one.text for one in found) else None


def is_declined(answer: str) -> bool:
    return any(one.get("declined") is True for one in objects_in(answer))


def _spoken(given: Mapping[str, Any], turns: Collection[str]) -> Contribution:
    said, quotes = _said(given.get("say"))
    texts = [said]
    asked = given.get("ask")
    if isinstance(asked, Mapping) and (question := text_row(asked.get("text"), QUESTION_CHARS)):
        to = text_row(asked.get("to"), ISSUE_CHARS)
        if to and to.split()[0] not in question:  # a name at the beginning would be that of a speaker
            question = f"{to}: {question}" if said else f"{question.rstrip('?？')}, {to}?"
        texts.append(question)
    issue, position = text_row(given.get("issue"), ISSUE_CHARS), text_row(given.get("option"), POSITION_CHARS)
    named = (str(given.get("moved_by") or ""), *(one.line for one in quotes))
    because = tuple(one for one in dict.fromkeys(named) if one in turns)[:MOST_TURNS]
    stances = (Stance(issue=issue, position=position, because=because),) if issue and position else ()
    text = " ".join(filter(None, texts))
    persona = str(given.get("persona") or "").strip()
    return Contribution(persona=persona, text=text, stances=stances, quotes=quotes)


def _said(given: Any) -> tuple[str, tuple[Quote, ...]]:
    """Its sentences, and what they quote. A text in place of the list quotes nothing."""
    if not isinstance(given, list):
        return given.strip() if isinstance(given, str) else "", ()
    rows = rows_in(given[:MOST_SENTENCES])
    texts = (text.strip() for one in rows if isinstance(text := one.get("text"), str) and text.strip())
    return " ".join(texts), tuple(islice(quotes_in(rows), MOST_SOURCES))


def quotes_in(rows: Iterable[Mapping[str, Any]]) -> Iterator[Quote]:
    """As they were given, cut where the record would refuse them."""
    return (quote for row in rows for _, quote in quotes_of_fields(row))


def quotes_of_fields(row: Mapping[str, Any]) -> Iterator[tuple[str, Quote]]:
    """The same, each with the field that it is for, if it names one."""
    for one in rows_in(row.get("quotes"))[:MOST_SOURCES]:
        field, line, words = (
            sanitized(str(one.get(name) or "")).strip() for name in ("field", "line", "words")
        )
        if line and words:
            yield field, Quote(line=line, words=words[:QUOTE_CHARS])


# Prepares the text of a model to be posted for a persona: only the persona's own words, all of them visible.
#
# That nothing in it pings or acts is the task of `Message.text`; here it must not deceive.


LONGEST = 3_000
"""The most characters of a contribution: about five times what the prompt asks for."""

LONGEST_REMARK = 500
"""The same of what is said about an answer to a step."""

_MARKED = re.compile(r"^(?:<<<|>>>)[0-9a-f]{16}.*$", re.MULTILINE)
_LINK = re.compile(r"!?\[(?P<label>[^\]\n]{0,300}+)\]\(\s*+<?(?P<url>[^()\s>]{1,2000}+)>?+[^)\n]{0,300}+\)")
_ANGLED = re.compile(r"<(?P<url>https?://[^|<>\s]{1,2000}+)\|(?P<label>[^>\n]{0,300})>")
_PREAMBLE = re.compile(
    r"\A\s*(?:(?:sure|certainly|of course|absolutely|okay|ok|great)(?:\s+thing)?\s*[,!.:]\s*)?"
    r"(?:here(?:'s|’s| is| are)\b[^\n.]{0,100}:\s*\n)",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"\s*(?:(?:i[’']?m|i am) sorry,?\s+(?:but\s+)?i\s+(?:can(?:no|[’'])t|won[’']t|am (?:not able|unable))"
    r"|i (?:can(?:no|[’'])t|am (?:not able|unable) to) (?:help|assist|comply|continue|fulfil)"
    r"|as an? (?:ai|artificial|large language|language model)\b"
    r"|(?:es tut mir leid|entschuldigung)\W+(?:aber\s+)?(?:ich kann|dabei kann ich|das kann ich)\b[^.\n]{0,60}\bnicht\b"
    r"|ich kann (?:ihnen |dir )?(?:dabei|damit|bei dieser anfrage) (?:leider )?nicht\b"
    r"|(?:je suis )?désolée?\W+(?:mais\s+)?je ne (?:peux|puis) pas\b|je ne (?:peux|puis) pas vous aider\b"
    r"|lo siento\W+(?:pero\s+)?no puedo\b|no puedo ayudar\w* con\b"
    r"|mi dispiace\W+(?:ma\s+)?non posso\b|desculpe\W+(?:mas\s+)?não posso\b|sinto muito\W+(?:mas\s+)?não posso\b"
    r"|het spijt me\W+(?:maar\s+)?ik kan\b[^.\n]{0,60}\bniet\b|przykro mi\W+(?:ale\s+)?nie mogę\b"
    r"|申し訳(?:ありません|ございません)|すみませんが|对不起|抱歉|很抱歉|죄송하지만|죄송합니다|извините)",
    re.IGNORECASE,
)


class SpeakerPrefixes:
    """Recognizes names in front of words, such as "Maya:"."""

    def __init__(self, roster: Roster, people: Iterable[str] = ()) -> None:
        self._names = {name.casefold(): one.key for one in roster for name in (one.name, one.first_name)}
        self._people = {name.casefold() for name in people if name.strip()}
        known = sorted({*self._names, *self._people, "user", "human"}, key=len, reverse=True)
        self._label = re.compile(
            rf"^[ \t>*_`]*(?:\[[^\]\n]{{0,40}}\][ \t]*)?(?P<name>{'|'.join(map(re.escape, known))})"
            r"(?:[ \t]*\([^()\n]{0,80}\))?[*_` \t]*[:：][*_ \t]*",
            re.IGNORECASE | re.MULTILINE,
        )

    def own(self, text: str, persona: Persona) -> str:
        """
        The words of *persona* in *text*: without its name before them, and up to where those of another speaker begin.
        Empty when there are none.
        """
        kept: list[str] = []
        at = 0
        mine = True
        for label in self._label.finditer(text):
            if mine:
                kept.append(text[at : label.start()])
            mine = self._names.get(label["name"].casefold()) == persona.key
            at = label.end()
            if not mine and "".join(kept).strip():
                break
        if mine:
            kept.append(text[at:])
        return "".join(kept).strip()

    def blends(self, text: str, persona: Persona) -> bool:
        """Whether *text* has the words of another speaker, too."""
        named = (label["name"].casefold() for label in self._label.finditer(text))
        return any(self._names.get(one) != persona.key for one in named)


def tidied(text: str) -> str:
    """*text* with the addresses of links shown, and without markers, preambles and invisible characters."""
    bare = _MARKED.sub("", sanitized(text))
    shown = _ANGLED.sub(_open, _LINK.sub(_open, bare))
    return _PREAMBLE.sub("", shown, count=1).strip()


def declines(text: str) -> bool:
    """Whether an answer without a form refuses, or is about the model. In the form, `declined` says so."""
    return _DECLINES.match(text) is not None


def shortened(text: str, limit: int = LONGEST) -> str:
    """*text* up to the last sentence that fits; an open code block is closed."""
    if len(text) <= limit:
        return text
    ends = [found.start() for found in SENTENCE_ENDS.finditer(text, 0, limit)]
    cut = text[: ends[-1] if ends and ends[-1] > limit // 2 else limit].rstrip()
    return f"{cut}\n```\n…" if cut.count("```") % 2 else f"{cut} …"


def _open(link: re.Match[str]) -> str:
    label, url = link["label"].strip(), link["url"]
    return url if not label or label == url else f"{label} ({url})"
