"""
The prompts as they were last looked at, one file each: a change of words shows in review as what it is.

After a change that is meant: `python -m tests.voices.prompts.kept`.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path

from bot.content.playbook import load
from bot.domain.discussion import board
from bot.domain.discussion.elaboration import Elaboration, EndedDiscussion, Stance, Turn, TurnKind
from bot.domain.item.meta import Record
from bot.domain.roundtable import ended as discussions
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftQuestion
from bot.domain.roundtable.state import Answer, Roundtable
from bot.domain.specification.claim_check import Root
from bot.domain.specification.claims import Quote
from bot.domain.specification.entries import Specification
from bot.domain.values.places import Place
from bot.shipped import personas_dir, steps_dir
from bot.voices import verifying
from bot.voices.model import Prompt
from bot.voices.prompts import tasks
from bot.voices.prompts.scene import Scene
from bot.voices.reviewing import asking_for_findings
from bot.voices.verifying import SourcedClaim
from tests.specification.meeting import Meeting

FOLDER = Path(__file__).parent / "kept"
SHIPPED = load(personas_dir(), steps_dir())
MAYA, ALEX, JORDAN = (persona.key for persona in SHIPPED.roster)
FILES = {
    "draft.md": "# Offline sync\n\nEdits get lost in tunnels.\n",
    "requirements-spec.md": "# Requirements Spec: Offline sync\n\n## 1. Business Context\n\nField work.\n",
}

ROUNDTABLE = Roundtable(
    incarnation="0a1b2c3d",
    slug="offline-sync",
    title="Offline sync",
    place=Place(team="T", channel="C", thread="1"),
    people={"U1": "Ada", "U2": "Grace"},
    phase_key="01-requirements",
    step_id="01-01",
    elaborations=(
        Record(
            step_id="00-01",
            turn_count=4,
            personas_active=(MAYA, ALEX, JORDAN),
            timestamp="2026-01-01T00:00:00.000Z",
            synthesis_summary="Tunnels are the common case.",
        ),
    ),
    answers=(
        Answer(person="U1", text="Edits get lost in tunnels.\nEvery week.", ts="1"),
        Answer(person="U2", text="We count 40 tickets a month.", ts="2"),
    ),
    now="2026-01-01T00:00:00.000Z",
)
CALLED = Answer(person="U2", text="Alex, can a queue keep the order?", ts="3")
TO_ALL = CALLED.but(text="Everyone, what breaks first?")
TO_NOBODY = CALLED.but(text="Which interfaces are there?")
QUEUE = Stance(issue="conflicts", position="keep both versions", because=("t01",))
TURNS = (
    Turn(id="t01", by=MAYA, name="Maya", text="We covered the context. Alex, what is your take?"),
    Turn(id="t02", by=ALEX, name="Alex", text="A queue keeps the order.", stances=(QUEUE,)),
    Turn(id="t03", by=JORDAN, name="Jordan", text="The caller receives a conflict."),
    Turn(id="t04", by="U1", name="Ada", text="Alex, what if two people edit one record?", human=True),
)


def scene(persona: str = MAYA, *, rt: Roundtable = ROUNDTABLE) -> Scene:
    return Scene(rt, SHIPPED, SHIPPED.roster[persona], FILES)


def debate(turns: int) -> Elaboration:
    return Elaboration(
        step_id="01-01", lead=MAYA, topic="Business Context Discovery", max_turns=10, turns=TURNS[:turns]
    )


def quoting() -> Elaboration:
    """Somebody has quoted a message and some code, and people listen."""
    asked, code = (
        Quote(line="m1", words="two people edit"),
        Quote(line="src/sync.py:5@1a2b3c4", words="no key here"),
    )
    person, newest = TURNS[3].but(line="m1"), TURNS[1].but(id="t05", quotes=(asked, code))
    held = debate(3).but(entry="DIS-001", turns=(*TURNS[:3], person, newest))
    return board.with_options(held, ["keep both versions", "the newest version"], issue="conflicts")


def taken() -> Specification:
    """Where a person and a persona stand in that discussion."""
    meeting = Meeting()
    held = {"issue": "conflicts", "option": "keep both versions", "discussion": "DIS-001"}
    own = {"person": "U1", "condition": "if sync stays fast", **held}
    meeting.press("Ada", {"id": "POS-001", "kind": "position", "new": True, "set": own})
    other = {"person": MAYA, **held}
    meeting.propose({"id": "POS-002", "kind": "position", "new": True, "set": other}, step="01-01")
    return meeting.specification


def asking(*personas: str, kind: TurnKind = TurnKind.ASKED) -> Speak:
    return Speak(persona=personas[0], task="turn", turn=kind, personas=personas)


ROUND = asking(MAYA, ALEX, JORDAN, kind=TurnKind.ROUND)


DECIDED = Turn(id="t05", by="U2", name="Grace", text="Decision: both versions, side by side.", human=True)
OBJECTED = Turn(id="t06", by="U1", name="Ada", text="Objection: nobody reads two versions.", human=True)


def marked() -> Elaboration:
    """A person decided, with a button and in so many words, and another one objects."""
    return debate(0).but(entry="DIS-001", turns=(*TURNS, DECIDED, OBJECTED))


def on_record() -> Specification:
    """The same as entries."""
    meeting = Meeting()
    held = {"discussion": "DIS-001"}
    names, both = "names: short", "both versions, side by side."
    meeting.press("Ada", {"id": "DEC-001", "kind": "decision", "new": True, "set": {"text": names, **held}})
    meeting.press("Grace", {"id": "DEC-002", "kind": "decision", "new": True, "set": {"text": both, **held}})
    against = {"text": "nobody reads two versions.", **held}
    meeting.press("Ada", {"id": "OBJ-001", "kind": "objection", "new": True, "set": against})
    return meeting.specification


def ended(debate: Elaboration, rt: Roundtable = ROUNDTABLE) -> Roundtable:
    """No model has read it."""
    turns = tuple(one.but(ts=f"9.{n}") if one.human else one for n, one in enumerate(debate.turns))
    rt = rt.but(ended={debate.step_id: EndedDiscussion(turns=turns)})
    return rt.but(unread=discussions.said(rt))


def specification() -> Specification:
    """One that was agreed to, with its criterion and priority, and one that is proposed."""
    meeting = Meeting()
    meeting.say("Ada", "01-06", "requirement: Keep the last row\nAC: 500 of 500 rows\nFR-001 priority: must")
    meeting.say("Grace", "01-06", "- Show how many rows were written")
    return meeting.specification


def review() -> Prompt:
    return asking_for_findings("offline-sync", SHIPPED.roster[JORDAN], SHIPPED.roster, files=FILES)


def heard(said: Answer) -> Roundtable:
    """Said just now, and read by nobody."""
    return ROUNDTABLE.but(answers=(said,), unread=(said,))


ASKED_BEFORE = (
    DraftQuestion(text="Who is told?", step_id=ROUNDTABLE.step_id),
    DraftQuestion(text="Asked on another step?", step_id="00-00"),
)
FLAWS = ("empty", "cut_off", "voices", "refused", "unstructured")
PROMPTS: Mapping[str, Callable[[], Prompt]] = {
    "draft": lambda: tasks.draft(scene()),
    "draft-by-name": lambda: tasks.draft(scene(ALEX, rt=heard(CALLED))),
    "draft-with-all": lambda: tasks.draft(scene(JORDAN, rt=heard(TO_ALL))),
    "draft-asked-before": lambda: tasks.draft(scene(rt=ROUNDTABLE.but(questions=ASKED_BEFORE))),
    "draft-a-question": lambda: tasks.draft(scene(JORDAN, rt=heard(TO_NOBODY))),
    "draft-a-step-that-opens": lambda: tasks.draft(scene(rt=ROUNDTABLE.but(answers=()))),
    "turn-opening": lambda: tasks.turn(scene(), debate(0), asking(MAYA, kind=TurnKind.OPENING)),
    "turn-asked": lambda: tasks.turn(scene(ALEX), debate(4), asking(ALEX)),
    "turn-everybody": lambda: tasks.turn(scene(), debate(3), asking(MAYA, ALEX, JORDAN)),
    "turn-round": lambda: tasks.turn(scene(rt=ROUNDTABLE.but(specification=taken())), quoting(), ROUND),
    "turn-once-more": lambda: reduce(tasks.again, FLAWS, tasks.turn(scene(ALEX), debate(4), asking(ALEX))),
    "draft-with-code": lambda: tasks.draft(scene(), "src/sync.py:40@1a2b3c4: wait = Retry(60)"),
    "draft-of-features": lambda: tasks.draft(
        scene(rt=ROUNDTABLE.but(step_id="01-06", specification=specification()))
    ),
    "draft-after-a-discussion": lambda: tasks.draft(scene(rt=ended(marked()).but(specification=on_record()))),
}
JUDGING: Mapping[str, Callable[[], Prompt]] = {
    "findings": review,
    "findings-again": lambda: tasks.again(review(), "unstructured"),
}
"""Of those who review: they are not at the table, and have rules of their own."""

VERIFYING: Mapping[str, Callable[[], Prompt]] = {
    "review": lambda: verifying.prompt(
        [SourcedClaim("40% drop", {"C.1": Root("Ada", "some drop off"), "C.2": Root("Ben", "why?")})],
        entries="FR-001 requirement [accepted, Ada C.1] Keep the last row",
        lines="[C.1] Ada:\n> some drop off",
        seed="review",
    ),
}
ALL = {**PROMPTS, **JUDGING, **VERIFYING}


def page(prompt: Prompt) -> str:
    """As it is sent, with a line where a part ends."""
    return "\n\n----------\n\n".join((*prompt.stable, prompt.moving)) + "\n"


if __name__ == "__main__":
    for name, prompt in ALL.items():
        (FOLDER / f"{name}.md").write_text(page(prompt()), encoding="utf-8")
