"""
Scenarios: a stretch of a meeting, and what becomes of one or two of the things that reach out of the engine in it.

Every single fate is tried, and every pair of them in the full run. All of it is the real engine and the real domain;
only what is outside of them is played.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from bot.domain.item import meta
from bot.domain.messages.message import ITEM, Action
from bot.domain.roundtable import cards
from bot.domain.roundtable.prompts import FAR
from bot.domain.roundtable.state import BRIEF, ROOT
from bot.domain.transcript.lines import Line, Source
from tests import transcripts
from tests.durability.checks import counted_turns, turns_unlike
from tests.durability.fates import MEETS, Fate, Fates, Kind, Met
from tests.durability.session import HERE, Session, Stuck, playbook
from tests.durability.world import MEETING, META, Post, World
from tests.oracle import apart

Script = Callable[[Session], None]
Plan = tuple[tuple[int, Fate], ...]


def _nothing(session: Session) -> None:
    """From an empty world."""


def _opened(session: Session) -> None:
    session.start()


def _first_step_done(session: Session) -> None:
    session.start()
    session.say("Edits get lost")
    session.press(Action.FINISH_STEP)


def _phase_done(session: Session) -> None:
    _first_step_done(session)
    for _ in range(2):
        session.press(Action.CONTINUE)
        session.say("About ten files")
        session.press(Action.FINISH_STEP)


def _few_turns(session: Session) -> None:
    """As a person may want it who edits meta.json."""
    _first_step_done(session)
    raw = json.loads(session.world.files[META])
    session.world.files[META] = json.dumps({**raw, "elaboration_config": {"max_turns": 4}}).encode()
    session.press(Action.CONTINUE)
    session.say("Sync, queue")
    session.press(Action.FINISH_STEP)


def _far_up(session: Session) -> None:
    """A command gets the menu of the card repeated below."""
    session.start()
    for number in range(FAR - 1):
        session.say(f"Edits get lost in tunnel {number}")


def _discussed(session: Session) -> None:
    _first_step_done(session)
    session.press(Action.ELABORATE)


Deed = tuple[str, str | Action]


class Stretch(NamedTuple):
    """*before* is done at peace."""

    before: Script
    during: tuple[Deed, ...]


STRETCHES: Mapping[str, Stretch] = {
    "opening": Stretch(_nothing, (("start", ""),)),
    "step": Stretch(_opened, (("say", "Edits get lost"), ("press", Action.FINISH_STEP))),
    "feedback": Stretch(_first_step_done, (("say", "Photos too, please"),)),
    "quiet-feedback": Stretch(
        _first_step_done, (("say", "Photos too, please"), ("pause", ""), ("press", Action.CONTINUE))
    ),
    "discussion": Stretch(
        _first_step_done, (("press", Action.ELABORATE), ("say", "We decided: no photos"), ("say", "done"))
    ),
    "turn-limit": Stretch(
        _few_turns, (("press", Action.ELABORATE), ("say", "Is that all we know?"), ("say", "It is not"))
    ),
    "far up": Stretch(_far_up, (("say", "deep"), ("press", Action.FINISH_STEP))),
    "pause": Stretch(_opened, (("say", "stop"), ("press", Action.RESUME))),
    "depth": Stretch(_opened, (("say", "deep"), ("say", "brief"))),
    "phase": Stretch(_phase_done, (("press", Action.CONTINUE),)),
    "skip": Stretch(_first_step_done, (("press", Action.SKIP), ("press", Action.CONTINUE))),
    "export": Stretch(_first_step_done, (("say", "Photos too, please"), ("export", ""))),
    "second-thoughts": Stretch(
        _opened,
        (
            ("say", "Edits get lost"),
            ("amend", "Edits get mixed up"),
            ("say", "Photos, too"),
            ("press", Action.FINISH_STEP),
            ("retract", ""),
        ),
    ),
    "plan": Stretch(
        _first_step_done,
        (
            ("plan", ""),
            ("say", "Test Planner: go"),
            ("press", Action.FINISH_STEP),
            ("press", Action.CONTINUE),
        ),
    ),
    "going-on": Stretch(
        _discussed, (("press", Action.GO_ON), ("say", "Alex, is it?"), ("press", Action.END_ELABORATION))
    ),
}


class Outcome(NamedTuple):
    wrong: tuple[str, ...]
    met: tuple[Met, ...]
    seen: tuple[Kind, ...]


class Landmark(NamedTuple):
    """The world between two deeds when nothing goes wrong, and what has reached out until then."""

    world: World
    seen: tuple[Kind, ...]


@cache
def undisturbed(stretch: str) -> tuple[Landmark, ...]:
    world = World()
    STRETCHES[stretch].before(Session(world))
    fates = Fates(at_peace=False)
    session = Session(world.copied(fates))
    landmarks = [Landmark(session.world.copied(Fates()), ())]
    for deed in STRETCHES[stretch].during:
        session.act(*deed)
        assert len(fates.seen) > len(landmarks[-1].seen), f"{stretch}: {deed} does something"
        landmarks.append(Landmark(session.world.copied(Fates()), tuple(fates.seen)))
    return tuple(landmarks)


def played(stretch: str, plan: Plan, *, excusing: bool = True) -> Outcome:
    """
    *excusing* is what the bot does not promise yet, see `test_simulator`.

    From the last landmark before the first fate, to the first one after the last at which the world is as if
    nothing had happened: from there on, nothing will. If there is none, to a finished step.
    """
    landmarks, deeds = undisturbed(stretch), STRETCHES[stretch].during
    first = min((number for number, _ in plan), default=0)
    begun = max(n for n, landmark in enumerate(landmarks[:-1]) if len(landmark.seen) <= first)
    fates = Fates(plan=dict(plan), seen=list(landmarks[begun].seen), at_peace=False)
    session = Session(landmarks[begun].world.copied(fates))
    wrong: list[str] = []
    try:
        for number in range(begun, len(deeds)):
            session.act(*deeds[number])
            if len(fates.met) == len(plan) and session.world.same_as(landmarks[number + 1].world):
                return Outcome((), tuple(fates.met), tuple(fates.seen))
        fates.at_peace = True
        session.end()
        fates.land()
    except Stuck as stuck:
        wrong.append(f"stuck: {stuck}")
    if not excusing:
        session.world.excused.clear()
    wrong += violations(session.world, session)
    return Outcome(tuple(wrong), tuple(fates.met), tuple(fates.seen))


def singles(stretch: str) -> Iterator[Plan]:
    """Every fate of everything that reaches out when nothing goes wrong."""
    seen = undisturbed(stretch)[-1].seen
    yield from (((number, fate),) for number, kind in enumerate(seen) for fate in MEETS[kind])


def pairs(first: Plan, seen: tuple[Kind, ...]) -> Iterator[Plan]:
    """*first*, and then every fate of everything that was *seen* to follow it."""
    number = first[0][0] + 1
    for later, kind in enumerate(seen[number:], start=number):
        yield from ((*first, (later, fate)) for fate in MEETS[kind])


# --- what has to be true ----------------------------------------------------------------------------------------------


def violations(world: World, session: Session) -> Iterator[str]:
    read = transcripts.read(world.files.get(MEETING, b""))
    yield from (f"line {flaw.number} {flaw.sentence}" for flaw in read.flaws)
    yield from _heard(world, session, read.lines)
    yield from _changed(world, session, read.lines)
    yield from _spoken(world, session, read.lines)
    yield from _shown(world, session)
    yield from _saved(world, session)
    yield from _turns(world, read.lines)
    yield from apart(world.files)


def _heard(world: World, session: Session, lines: tuple[Line, ...]) -> Iterator[str]:
    said = (line for line in lines if line.source is Source.USER and "amends" not in line.meta)
    heard = Counter(str(line.meta.get("message_ts")) for line in said)
    excused = world.excused | (world.taken_back if session.flushed else set())
    for ts in world.said:
        if heard[ts] > 1 or (not heard[ts] and ts not in excused):
            yield f"what people said is recorded {heard[ts]} times"


def _changed(world: World, session: Session, lines: tuple[Line, ...]) -> Iterator[str]:
    """
    A change is a line of its own, and what was written of it before is written anew. A lost store leads on to the next
    step: what belongs to an earlier one stays as it is.
    """
    changes = Counter(str(line.meta.get("amends") or line.meta.get("retracts")) for line in lines)
    for ts, before in world.changed.items():
        found = changes[f"{HERE.channel}.{ts}"]
        if found > 1 or (not found and not session.flushed):
            yield f"what people changed is recorded {found} times"
        written = (text for path, text in world.files.items() if path.endswith(".md"))
        if not session.flushed and any(before.encode() in text for text in written):
            yield "what people changed is still written"


def _spoken(world: World, session: Session, lines: tuple[Line, ...]) -> Iterator[str]:
    ours = [post for post in world.thread if post.key]
    if max(Counter(post.key for post in ours if not post.resumed).values(), default=0) > 1:
        yield "a post stands there twice"
    posted = {post.key for post in ours}
    # A card that is posted anew, and a menu that is repeated, say nothing new.
    order = list(dict.fromkeys(post.key for post in ours if not post.files and post.key not in _moved(ours)))
    places = {line.message_id: place for place, line in enumerate(lines)}
    if len(places) < len(lines):
        yield "a line is recorded twice"
    known = [key for key in order if key in places]
    in_order = known == sorted(known, key=places.__getitem__)
    if not in_order and not _on_its_way_when_all_was_lost(world, session):
        yield "Slack and the file do not have one order"
    if any(line.source is Source.MODEL and line.message_id not in posted for line in lines):
        yield "a persona's line is recorded, and not posted"
    last = order.index(known[-1]) if known else 0
    if not session.flushed and any(key not in places for key in order[:last]):
        yield "a post is not recorded"


def _moved(ours: list[Post]) -> set[str]:
    steps, tokens = [post.step for post in ours], [post.token for post in ours]
    return {
        post.key
        for at, post in enumerate(ours)
        if (post.step and post.step in steps[:at])
        or (post.token not in {"", ITEM} and post.token in tokens[:at])
    }


def _shown(world: World, session: Session) -> Iterator[str]:
    """
    Edits may be lost or made twice; in the end every message says what it should. Where nobody may look whether a post
    is there, it is made again, and the bot knows only the second.
    """
    repeated = {post.key for post in world.thread if post.resumed}
    known = (post for post in world.thread if post.key and (post.resumed or post.key not in repeated))
    # The menu of a card that stands far above may be repeated once: its buttons are those of the card.
    offering = [post for post in known if post.message.choices and post.message.token != ITEM]
    menus = {post.message.token for post in offering}
    of_cards = [post for post in offering if post.message.card]
    if (len(menus) > 1 or len(of_cards) > 1 or len(offering) > 2) and not session.flushed:
        yield f"{len(offering)} messages have buttons"
    rt = session.rt
    for followed in (rt.live.get(ROOT), rt.live.get(BRIEF)) if rt else ():
        stood = next((post.message for post in world.thread if followed and post.ts == followed.ts), None)
        if stood and followed and followed.shown and stood.text != followed.shown.text:
            yield "the first message or the brief does not say what it should"
    if rt is None or rt.card is None:
        return
    due = cards.rendered(rt, rt.card, playbook())
    stands = next((post.message for post in world.thread if post.ts == rt.stands_at(rt.card.token)), None)
    if stands is None or (stands.text, stands.card, stands.choices) != (due.text, due.card, due.choices):
        yield "the card does not say what is the case"


def _on_its_way_when_all_was_lost(world: World, session: Session) -> bool:
    """A post that lands when the process that made it is dead, and the store that knew of it empty."""
    return session.flushed and any(met.fate is Fate.LATE for met in world.fates.met)


def _saved(world: World, session: Session) -> Iterator[str]:
    made = [one.step for one in world.made if ": step " in one.subject]
    if len(set(made)) < len(made):
        yield "a step is finished in two commits"
    effects = [one.effect for one in world.made]
    if len(set(effects)) < len(effects):
        yield "an effect is committed twice"
    try:
        found = meta.read(world.files.get(META, b""), now="").meta
    except meta.Corrupt as error:
        yield f"meta.json is torn: {error}"
        return
    if not session.flushed and set(found.steps_completed) != {*made} - {playbook().agenda.plan.step_id}:
        yield "meta.json and git do not have the same steps"
    if (rt := session.rt) and rt.outbox:
        yield "something is owed"


def _turns(world: World, lines: tuple[Line, ...]) -> Iterator[str]:
    try:
        found = meta.read(world.files.get(META, b""), now="").meta
    except meta.Corrupt:
        return
    recorded = [record.turn_count for record in found.elaborations]
    yield from turns_unlike(recorded, counted_turns(lines), found.max_turns)
