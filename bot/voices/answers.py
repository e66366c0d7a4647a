"""
Parses the answer of a model: the text for people, and the record of the speaker's stances.

Parsing never fails. What does not fit the form is left out, and a text without a record is still used.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from bot.domain.catalog.personas import Persona, Roster
from bot.domain.discussion.elaboration import Stance
from bot.domain.specification.claims import Quote
from bot.domain.specification.fold import MOST_SOURCES, QUOTE_CHARS
from bot.domain.values.json_files import objects_in, parse
from bot.voices.prompts.seen import sanitized, text_row

MOST_STANCES = 8
RECORDS_TRIED = 20
"""Beginnings of a record outside of code blocks."""
MOST_TURNS = 8
ISSUE_CHARS = 60
POSITION_CHARS = 200
QUESTION_CHARS = 300
NAME_CHARS = 80
REASON_CHARS = 300

FIELDS = frozenset(
    {
        "stances",
        "quotes",
        "pass",
        "say",
        "questions",
        "next",
        "entries",
        "declined",
    }
)

_LISTS = ("stances", "entries", "questions", "next")
_BLOCK = re.compile(
    r"^[ \t]*```[ \t]*+(?P<kind>[\w-]*+)[ \t]*+\n(?P<inside>.*?)(?:^[ \t]*```[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_BARE = re.compile(r'\{\s*"(?:stances|quotes|pass|say|questions|next|entries|declined)"\s*:')


class GivenQuestion(NamedTuple):
    """`about` is the number of an open point, 0 for none."""

    text: str
    to: str = ""
    recommended: str = ""
    why: str = ""
    about: int = 0


class Answered(NamedTuple):
    """
    `recorded`: the answer had a usable record; `declined`: it says that it refuses. `following` are the questions for
    the next step. `entries` are as they were given, None where the answer has no list of them.
    """

    text: str
    stances: tuple[Stance, ...] = ()
    quotes: tuple[Quote, ...] = ()
    passed: bool = False
    recorded: bool = False
    declined: bool = False
    questions: tuple[GivenQuestion, ...] = ()
    following: tuple[GivenQuestion, ...] = ()
    entries: tuple[Any, ...] | None = None
    dropped: tuple[Mapping[str, str], ...] = ()


def read(answer: str, *, turns: Collection[str]) -> Answered:
    """*turns* are the ids that the speaker could know; other ids in a stance are dropped."""
    text, found = _apart(answer.replace("\r\n", "\n"))
    if found is None:
        return Answered(text)
    said = found["say"] if isinstance(found.get("say"), str) else text
    passed = found.get("pass") is True and not said.strip()
    entries = found.get("entries")
    return Answered(
        said.strip(),
        tuple(_stances(found.get("stances"), turns)),
        tuple(quotes_in(found.get("quotes"))),
        passed,
        recorded=passed or any(isinstance(found.get(name), list) for name in _LISTS),
        declined=found.get("declined") is True,
        questions=tuple(_questions(found.get("questions"))),
        following=tuple(_questions(found.get("next"))),
        entries=tuple(entries) if isinstance(entries, list) else None,
    )


def quotes_in(given: Any) -> Iterator[Quote]:
    """As they were given, cut where the record would refuse them."""
    for one in given[:MOST_SOURCES] if isinstance(given, list) else ():
        named = one if isinstance(one, Mapping) else {}
        line, words = (sanitized(str(named.get(name) or "")).strip() for name in ("line", "words"))
        if line and words:
            yield Quote(line=line, words=words[:QUOTE_CHARS])


def rows_in(answer: str, field: str) -> list[Any] | None:
    """The list *field* of the JSON object in *answer*, or the JSON array that is all of it; None without either."""
    named: Iterator[Any] = (one.get(field) for one in objects_in(answer))
    for rows in named:
        if isinstance(rows, list):
            return rows
    try:
        rows = parse(answer[answer.find("[") : answer.rfind("]") + 1])
    except ValueError:
        return None
    return rows if isinstance(rows, list) else None


def _apart(answer: str) -> tuple[str, Mapping[str, Any] | None]:
    """
    The text, and the record at its end, or a record that is all of the answer. A record with text after it was quoted
    or copied: it is removed from the text and not used.
    """
    if whole := _whole(answer):
        return "", whole
    found: Mapping[str, Any] | None = None
    words: list[str] = []
    at, end = 0, len(answer.rstrip())
    for block in _BLOCK.finditer(answer):
        is_last = block.end() >= end
        record = _record(block["inside"], alone=is_last)
        if record is None and block["kind"].casefold() != "record":
            continue
        found = record if is_last else None
        words.append(answer[at : block.start()])
        at = block.end()
    words.append(answer[at:])
    return _without_tail("".join(words), found)


def _whole(answer: str) -> Mapping[str, Any] | None:
    try:
        found = parse(answer)
    except ValueError:
        return None
    return found if isinstance(found, dict) and _is_record(found, alone=True) else None


def _without_tail(text: str, found: Mapping[str, Any] | None) -> tuple[str, Mapping[str, Any] | None]:
    """Removes a record that is in no code block, or that was cut off."""
    for bare in islice(_BARE.finditer(text), RECORDS_TRIED):
        record = _record(text[bare.start() :], alone=True)
        begins_a_line = not text[: bare.start()].rpartition("\n")[2].strip()
        if record is not None or (begins_a_line and _is_cut_off(text[bare.start() :])):
            return text[: bare.start()].rstrip("` \n\t").strip(), found or record
    return text.strip(), found


def _is_cut_off(text: str) -> bool:
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return True
    return False


def _record(text: str, *, alone: bool) -> Mapping[str, Any] | None:
    """Personas may also write JSON about the work: an object with other fields is a record only if it has stances."""
    return next((one for one in objects_in(text) if _is_record(one, alone=alone)), None)


def _is_record(found: Mapping[str, Any], *, alone: bool) -> bool:
    return "stances" in found or (alone and bool(found) and FIELDS.issuperset(found))


def _stances(given: Any, turns: Collection[str]) -> Iterator[Stance]:
    seen_issues: set[str] = set()
    for one in given if isinstance(given, list) else ():
        stance = _stance(one, turns) if isinstance(one, Mapping) else None
        if stance and stance.issue.casefold() not in seen_issues and len(seen_issues) < MOST_STANCES:
            seen_issues.add(stance.issue.casefold())
            yield stance


def _stance(given: Mapping[str, Any], turns: Collection[str]) -> Stance | None:
    issue, position = (
        text_row(given.get("issue"), ISSUE_CHARS),
        text_row(given.get("position"), POSITION_CHARS),
    )
    if not issue or not position:
        return None
    because = given.get("because")
    named = [one for one in because if isinstance(one, str)] if isinstance(because, list) else []
    return Stance(
        issue=issue,
        position=position,
        because=tuple(dict.fromkeys(one for one in named if one in turns))[:MOST_TURNS],
    )


def _questions(given: Any) -> Iterator[GivenQuestion]:
    for one in given if isinstance(given, list) else ():
        if not isinstance(one, Mapping):
            continue
        text, about = tidied(text_row(one.get("text"), QUESTION_CHARS)), one.get("about")
        if text:
            yield GivenQuestion(
                text,
                text_row(one.get("to"), NAME_CHARS),
                text_row(one.get("recommended"), QUESTION_CHARS),
                text_row(one.get("why"), REASON_CHARS),
                about if isinstance(about, int) and not isinstance(about, bool) else 0,
            )


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
_ENDS = re.compile(r"(?<=[.!?。！？])\s|\n")


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


def tidied(text: str) -> str:
    """*text* with the addresses of links shown, and without markers, preambles and invisible characters."""
    bare = _MARKED.sub("", sanitized(text))
    shown = _ANGLED.sub(_open, _LINK.sub(_open, bare))
    return _PREAMBLE.sub("", shown, count=1).strip()


def declines(text: str) -> bool:
    """Whether the model refuses or speaks about itself, and not as a persona about the work."""
    return _DECLINES.match(text) is not None


def shortened(text: str, limit: int = LONGEST) -> str:
    """*text* up to the last sentence that fits; an open code block is closed."""
    if len(text) <= limit:
        return text
    ends = [found.start() for found in _ENDS.finditer(text, 0, limit)]
    cut = text[: ends[-1] if ends and ends[-1] > limit // 2 else limit].rstrip()
    return f"{cut}\n```\n…" if cut.count("```") % 2 else f"{cut} …"


def _open(link: re.Match[str]) -> str:
    label, url = link["label"].strip(), link["url"]
    return url if not label or label == url else f"{label} ({url})"
