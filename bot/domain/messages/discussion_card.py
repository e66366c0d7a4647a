"""
The card of a discussion: one message that is edited from the opening to the synthesis.

It says who is for what, which objections are open, what people decided, and how many turns the personas have left.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import assert_never

from bot.domain.actions.table import SOMETHING_ELSE, UNDECIDED
from bot.domain.discussion.board import Agreement, BoardSide, DiscussionBoard, Stand, fate, owner
from bot.domain.discussion.elaboration import BoardOption, Elaboration, Fate
from bot.domain.messages import discussion_wording as wording
from bot.domain.messages import mark_wording, menus
from bot.domain.messages.attribution_wording import decided_by, recorder
from bot.domain.messages.menus import GO_ON
from bot.domain.messages.message import (
    Action,
    Card,
    CardPart,
    CardRow,
    Choice,
    Confirm,
    Emphasis,
    Link,
    Message,
    card_in_words,
)
from bot.domain.roundtable.marks import MessageMark
from bot.domain.specification.claims import Entry
from bot.domain.values.text import one_line, paragraphs
from bot.domain.values.value import Value

OPTIONS_SHOWN = 10
OBJECTIONS_SHOWN = 6
DECISIONS_SHOWN = 6
PROMPTS_SHOWN = 3
TEXT_CHARS = 300
TURNS_ADDED = 5
ASKED_AT_MOST = 3
NAME_CHARS = 40

RECORD = Choice(action=Action.RECORD, label="Record decision…")
OBJECT = Choice(action=Action.OBJECT, label="Object…")
ASK_ALL = Choice(action=Action.ASK_ALL, label="Ask everybody")
ASK = Choice(action=Action.ASK_PERSON, label="Ask")
SEALED = Choice(action=Action.SEALED, label="Sealed positions…")
MORE_TURNS = Choice(action=Action.MORE_TURNS, label=f"{TURNS_ADDED} more turns")
END = Choice(action=Action.END_ELABORATION, label="End")
AGREED = mark_wording.AGREED.but(emphasis=Emphasis.PRIMARY)
REVEAL = Choice(action=Action.REVEAL, label="Show them now")
UNDECIDED_CHOICE = Choice(action=Action.STAND, label="Undecided", value=UNDECIDED)
ELSE_CHOICE = Choice(action=Action.STAND, label="Something else…", value=SOMETHING_ELSE)
NAME_OPTION = Choice(action=Action.OPTION, label="Name an option…")
FATES = {
    Fate.ACCEPTED: "Settled: we change it",
    Fate.REJECTED: "Turn it down, because…",
    Fate.RISK: "Keep it as a risk…",
    Fate.WITHDRAWN: "I take it back",
}


class DiscussionScene(Value):
    """
    What the card is made of. `people` are those who take part. `links` are where messages stand, by their line.
    `goes_on` is whether personas can be asked to. `ending` says when the discussion ends by itself. `unheard`
    are the names of those who have said nothing here, who was silent longest first. `notes`: what is wrong with calls.
    """

    board: DiscussionBoard
    step: str
    people: Mapping[str, str] = {}
    agreements: tuple[Agreement, ...] = ()
    marks: tuple[MessageMark, ...] = ()
    links: Mapping[str, str] = {}
    heading: str = ""
    first: str = ""
    goes_on: bool = False
    ending: str = ""
    unheard: Mapping[str, str] = {}
    notes: tuple[CardPart, ...] = ()

    @property
    def debate(self) -> Elaboration:
        return self.board.debate

    def names(self, people: Iterable[str]) -> list[str]:
        return [self.people.get(one, one) for one in people]

    @property
    def missing(self) -> list[str]:
        """Who has not given a sealed position yet."""
        sealed = self.debate.sealed
        return self.names(one for one in sealed.asked if one not in sealed.given) if sealed else []


def open_card(scene: DiscussionScene) -> Message:
    parts = tuple(_parts(scene))
    choices, more = _choices(scene)
    hint = wording.TYPED_HINT if scene.debate.options else ""
    hint = wording.SEALED_HINT if scene.debate.sealed else hint
    foot = tuple(filter(None, [hint]))
    card = Card(title=_title(scene), subtitle=_subtitle(scene), parts=parts, more=more, foot=foot)
    links = tuple(Link(label=line, url=url) for line, url in scene.links.items() if _is_shown(url, parts))
    text = paragraphs("" if scene.first else scene.heading, card_in_words(card))
    return Message(text=text, choices=choices, card=card, links=links)


def moved_card(scene: DiscussionScene) -> Message:
    """What stays of a card that stands below by now."""
    card = Card(title=_title(scene), parts=(CardPart(prose=wording.CARD_MOVED),))
    return Message(text=paragraphs(card.title, card_in_words(card)), card=card)


def ended_card(topic: str, synthesis: Message, *, heading: str) -> Message:
    """The synthesis, in place of the discussion."""
    title = f"{wording.card_title(topic)} – done"
    card = Card(title=title, parts=(CardPart(prose=synthesis.text),))
    return synthesis.but(text=paragraphs(heading, synthesis.text), card=card)


def pressable(objection: str) -> tuple[Choice, ...]:
    return tuple(
        Choice(action=Action.OBJECTION, label=label, value=f"{objection}/{became.value}")
        for became, label in FATES.items()
    )


# --- head -----------------------------------------------------------------------------------------------------------


def _title(scene: DiscussionScene) -> str:
    return wording.card_title(scene.debate.topic)


def _subtitle(scene: DiscussionScene) -> str:
    debate = scene.debate
    turns = "sealed positions first" if debate.sealed else wording.turns_left(debate)
    return " · ".join(filter(None, (f"from {scene.step}", turns)))


# --- body -----------------------------------------------------------------------------------------------------------


def _parts(scene: DiscussionScene) -> Iterator[CardPart]:
    debate = scene.debate
    if scene.first:
        yield CardPart(prose=scene.first)
    if debate.sealed:
        yield CardPart(prose=wording.sealed(scene.names(debate.sealed.given), scene.missing))
        return
    yield from _prompts(scene)
    held = scene.board
    if decided := held.decisions:
        rows = tuple(map(_decision, decided[-DECISIONS_SHOWN:]))
        yield CardPart(title="Decided", rows=rows, button=menus.REVERSE if held.current_decisions else None)
    if debate.revealed_at:
        yield CardPart(prose=wording.ALL_IN)
    if debate.options:
        yield CardPart(rows=tuple(_board(scene)))
    elif not decided:
        yield CardPart(prose=wording.NO_POSITIONS)
    for one in held.open_objections[:OBJECTIONS_SHOWN]:
        yield CardPart(title="Open objection", prose=_objection(one, scene), options=pressable(one.id))
    if rows := tuple(CardRow(text=mark_wording.row(one)) for one in scene.marks if _is_told(one)):
        yield CardPart(title="Marked", rows=rows)
    if settled := [one for one in held.objections if fate(one) is not Fate.OPEN]:
        rows = tuple(CardRow(text=_fate(one)) for one in settled[-OBJECTIONS_SHOWN:])
        yield CardPart(title="Objections with an answer", rows=rows)
    if lines := "\n".join(filter(None, _lines(scene))):
        yield CardPart(prose=lines)
    yield from scene.notes
    if scene.debate.has_nothing_new and not scene.debate.exhausted:
        asked = (
            ASK.but(label=f"{ASK.label} {one_line(name, NAME_CHARS)}", value=id)
            for id, name in scene.unheard.items()
        )
        yield CardPart(prose=wording.NOTHING_NEW, buttons=(*islice(asked, ASKED_AT_MOST), END))


def _is_told(mark: MessageMark) -> bool:
    """An objection with a reason is one of the discussion, and stands among those."""
    return not mark.is_open and not (mark.kind == "objection" and mark.entry)


def _prompts(scene: DiscussionScene) -> Iterator[CardPart]:
    """What all positions say, then what people marked; a yes by word says the number."""
    asked = [one for one in scene.marks if one.is_open]
    found: list[Agreement | MessageMark] = [*scene.agreements, *asked]
    for place, one in enumerate(found[:PROMPTS_SHOWN], start=1):
        title = f"{mark_wording.ASKED} ({place})" if len(found) > 1 else mark_wording.ASKED
        if isinstance(one, Agreement):
            yield _prompt(one, title, scene)
        else:
            buttons = (AGREED.but(value=one.id), mark_wording.NOT_AGREED.but(value=one.id))
            yield CardPart(title=title, prose=mark_wording.asked(one), buttons=buttons)


def _prompt(agreement: Agreement, title: str, scene: DiscussionScene) -> CardPart:
    objections = len(scene.board.open_objections)
    prose = wording.did_we_agree(agreement.option.text, agreement.names, objections=objections)
    value = f"{agreement.option.letter}/{scene.board.moves}"
    return CardPart(
        title=title,
        prose=prose,
        buttons=(
            AGREED.but(value=value),
            mark_wording.NOT_AGREED.but(value=value),
            RECORD.but(label="Change the wording…", value=agreement.option.letter),
        ),
    )


def _decision(decided: Entry) -> CardRow:
    reason = f"because {decided['reason']}" if decided["reason"] else ""
    counts = "reversed" if decided.gone else ""
    by = decided_by(decided)
    aside = ", ".join(filter(None, (by, reason, counts)))
    return CardRow(id=decided.id, text=_short(str(decided["text"])), aside=_short(aside))


def _board(scene: DiscussionScene) -> Iterator[CardRow]:
    held = scene.board
    for side in held.sides[:OPTIONS_SHOWN]:
        about = f"{side.option.issue}: " if side.option.issue else ""
        yield CardRow(id=side.option.letter, text=_short(about + side.option.text))
        yield from _holders(side, scene)
    on_a_side = {name for side in held.sides for name in side.personas}
    spoke = dict.fromkeys(one.name for one in held.debate.turns if not one.human)
    people = scene.names(held.undecided(scene.people))
    personas = [name for name in spoke if name not in on_a_side]
    if people or personas:
        yield CardRow(text="", aside="Undecided")
        yield CardRow(text=_who(people, personas), level=1)


def _holders(side: BoardSide, scene: DiscussionScene) -> Iterator[CardRow]:
    if any(one.sure for one in side.people):
        for one in side.people:
            sure = f", {wording.SURE[one.sure]}" if one.sure in wording.SURE else ""
            why = f": {_short(one.why)}" if one.why else ""
            yield CardRow(text=f"{_short(one.told)}{sure}{why}", level=1)
        if side.personas:
            yield CardRow(text=_who([], side.personas), level=1)
    elif side.people or side.personas:
        yield CardRow(text=_who([_short(one.told) for one in side.people], side.personas), level=1)
    yield from (CardRow(text="", aside=_moved(one, scene), level=1) for one in side.people if one.was)


def _moved(now: Stand, scene: DiscussionScene) -> str:
    line = now.because or now.heard
    link = _linked(scene, scene.board.speakers.get(line, ""), line)
    if now.because:
        return wording.came_over(now.name, now.was, because=link)
    return wording.came_over(now.name, now.was, after=link)


def _who(people: Sequence[str], personas: Sequence[str]) -> str:
    label = "personas" if len(personas) > 1 else "persona"
    named = f"{label}: {', '.join(personas)}" if personas else ""
    return " · ".join(filter(None, (", ".join(people), named)))


def _objection(one: Entry, scene: DiscussionScene) -> str:
    claim = one.claim("text")
    settle = f"\n{wording.would_settle(str(one['settle']))}" if one["settle"] else ""
    lines = (claim.line, *claim.sources) if claim else ()
    link = _linked(scene, owner(one), next((line for line in lines if line in scene.links), ""))
    return f"“{_short(str(one['text']))}” – {link}{settle}"


def _fate(one: Entry) -> str:
    said, by = f"“{_short(str(one['text']))}” – {owner(one)}: ", recorder(one, "outcome")
    because = f", because {one['outcome_text']}" if one["outcome_text"] else ""
    match became := fate(one):
        case Fate.ACCEPTED:
            return f"{said}settled by {by}, something is changed{because}"
        case Fate.REJECTED:
            return f"{said}turned down by {by}{because}"
        case Fate.RISK:
            return f"{said}kept as a risk by {by}{because}"
        case Fate.WITHDRAWN:
            return f"{said}taken back"
        case Fate.OPEN:
            raise AssertionError("an open objection has no answer")
        case _:
            assert_never(became)


def _lines(scene: DiscussionScene) -> Iterator[str]:
    debate = scene.debate
    if debate.exhausted:
        yield wording.LIMIT_ON_CARD
        yield scene.ending
    elif debate.nearly_over:
        yield wording.NEARING_THE_END
    if debate.asks_all:
        yield wording.asks_all(debate.asks_all)


# --- buttons --------------------------------------------------------------------------------------------------------


def _choices(scene: DiscussionScene) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """Below the card, and behind ⋯."""
    held, debate = scene.board, scene.debate
    if debate.sealed:
        return _sealed_choices(scene), (END.but(label="End the discussion"), NAME_OPTION, menus.STOP)
    if debate.exhausted:
        is_decided = bool(held.current_decisions)
        end = END if is_decided else END.but(label="End, leave it open")
        primary = RECORD.but(emphasis=Emphasis.PRIMARY)
        return (*_stands(held.options), primary, end, MORE_TURNS, OBJECT), (menus.STOP,)
    go_on = (GO_ON,) if scene.goes_on else ()
    more_turns = (MORE_TURNS,) if debate.is_limited else ()
    if debate.options or held.objections or held.own(held.decisions):
        more = (END.but(label="End the discussion"), *go_on, SEALED, *more_turns, menus.STOP)
        return (*_stands(held.options), RECORD, OBJECT, ASK_ALL), more
    more = (*go_on, NAME_OPTION, RECORD.but(label="Record a decision…"), OBJECT, *more_turns, menus.STOP)
    return (ASK_ALL, SEALED, END), more


def _sealed_choices(scene: DiscussionScene) -> tuple[Choice, ...]:
    question = Confirm(
        title=wording.show_without(scene.missing), text=wording.NO_MORE_SEALED, yes="Show them", no="Wait"
    )
    give = SEALED.but(label="Give my position…", emphasis=Emphasis.PRIMARY)
    return give, REVEAL.but(confirm=question)


def _stands(named: Sequence[BoardOption]) -> tuple[Choice, ...]:
    if not named:
        return ()
    options = tuple(
        Choice(action=Action.STAND, label=one_line(f"For {one.letter}: {one.text}", 60), value=one.letter)
        for one in named[:OPTIONS_SHOWN]
    )
    return (*options, UNDECIDED_CHOICE, ELSE_CHOICE)


# --- small things ---------------------------------------------------------------------------------------------------


def _linked(scene: DiscussionScene, name: str, line: str) -> str:
    url = scene.links.get(line, "")
    return f"[{one_line(name)}]({url})" if url and name else name


def _is_shown(url: str, parts: Sequence[CardPart]) -> bool:
    texts = (text for part in parts for text in (part.prose, *(row.aside for row in part.rows)))
    return any(f"]({url})" in text for text in texts)


def _short(text: str) -> str:
    return one_line(text, TEXT_CHARS)
