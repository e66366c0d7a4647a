"""The prompt of each task: its stable parts, and what is new this time."""

from collections.abc import Iterator, Sequence

from bot.domain.catalog.personas import AddressKind, Roster
from bot.domain.discussion.board import DiscussionBoard, board_of, owner
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.messages.attribution_wording import recorder
from bot.voices.model import AnswerSchema, Prompt
from bot.voices.prompts import schemas, wanted
from bot.voices.prompts.blind import visible_to
from bot.voices.prompts.digest import (
    NOTHING,
    PEOPLE_BEFORE,
    TALKING,
    WRITING,
    QuotedTurn,
    QuoteLimits,
    digest,
    recent,
    standing,
    told_in_turns,
    words_of,
)
from bot.voices.prompts.fencing import fenced, sealed
from bot.voices.prompts.scene import Scene, stable, who
from bot.voices.prompts.seen import named, row
from bot.voices.prompts.texts import filled, part_of

WORDS = 120
SHORT_WORDS = 30
FRAME_WORDS = 130
TOPIC_CHARS = 120
OBJECTION_CHARS = 340
"""An issue and a position, as long as they can be."""


def draft(scene: Scene, searched: str = "") -> Prompt:
    """*searched* is what a search of the code for people's new words found."""
    kinds = wanted.kinds(scene)
    found = (
        f"{part_of('turns', 'searched')}\n{fenced('search of the code', searched)}\n\n" if searched else ""
    )
    moving = filled(
        "draft",
        task=part_of("turns", "people answered" if scene.rt.to_read else "a step opened"),
        persona=who(scene),
        call=wanted.call(scene),
        searched=found,
        points=wanted.listed(wanted.open_points(scene)),
        people=wanted.people(scene),
        standing=wanted.standing(scene),
        next=wanted.following(scene),
        rules=filled("entries", kinds=wanted.described(kinds)),
        chat=_chat(SHORT_WORDS, "no questions"),
        form=filled("assessment", answer=schemas.in_words(schemas.BLOCK)),
    )
    return _prompt(scene, moving, schemas.assessment(kinds, scene.step_id))


def frame(scene: Scene, debate: Elaboration) -> Prompt:
    others = [one.first_name for one in scene.playbook.roster.others(scene.persona.key)]
    moving = filled(
        "frame",
        discussion=_said_before(debate),
        persona=who(scene),
        others=" or ".join(others) or "nobody, as you are alone",
        chat=_chat(FRAME_WORDS),
        form=_record(),
    )
    return _prompt(scene, moving, schemas.contribution())


def respond(scene: Scene, debate: Elaboration) -> Prompt:
    moving = filled(
        "respond",
        topic=row(debate.topic, TOPIC_CHARS),
        turn=debate.turns_used + 1,
        max_turns=debate.max_turns,
        persona=who(scene),
        task=_task(scene, debate),
        chat=_chat(WORDS),
        form=_record(may_pass=True),
        discussion=_discussion(visible_to(debate, scene.persona.key)),
    )
    return _prompt(scene, moving, schemas.contribution())


def synthesize(scene: Scene, debate: Elaboration) -> Prompt:
    moving = filled(
        "synthesize",
        topic=row(debate.topic, TOPIC_CHARS),
        turn=debate.turn_count,
        persona=who(scene),
        again=_once_more(debate),
        answer=schemas.in_words(schemas.DATA),
        discussion="\n\n".join(
            filter(
                None,
                (
                    _discussion(debate.turns, WRITING),
                    *_besides(debate),
                    *_on_record(board_of(debate, scene.rt.specification)),
                ),
            )
        ),
    )
    return _prompt(scene, moving, schemas.synthesis())


def again(prompt: Prompt, why: str) -> Prompt:
    """*prompt* once more; *why* is the heading in `again.md` of what was wrong with the first answer."""
    return prompt._replace(moving=f"{prompt.moving}\n\n# Once more\n\n{part_of('again', why)}")


def _chat(words: int, questions: str = "questions") -> str:
    return filled("chat", words=words, questions=part_of("turns", questions))


def _record(*, may_pass: bool = False) -> str:
    field = ', "pass": false' if may_pass else ""
    silence = part_of("turns", "may be silent") if may_pass else ""
    return filled("record", answer=schemas.in_words(schemas.RECORD), field=field, silence=silence)


def _prompt(scene: Scene, moving: str, schema: AnswerSchema | None) -> Prompt:
    return sealed(stable(scene), moving, seed=scene.seed)._replace(schema=schema)


def _task(scene: Scene, debate: Elaboration) -> str:
    """The task of this turn. A person who spoke last is answered in every kind of turn."""
    persona, last = scene.persona.key, debate.turns[-1] if debate.turns else None
    told: list[str] = []
    if debate.is_blind(persona):
        told.append(part_of("turns", "first round"))
    if last and last.human:
        told.append(_answer(scene, debate, last))
    usual = "going on" if persona != debate.lead else "leading on"
    return "\n\n".join(told or [part_of("turns", usual), *_quoted(debate)])


def _quoted(debate: Elaboration) -> Iterator[str]:
    """The lines that were quoted here, by the ids that they have in the prompt."""
    ids = {turn.line: turn.id for turn in debate.turns}
    lines = dict.fromkeys(quote.line for turn in debate.turns for quote in turn.quotes)
    if lines:
        yield part_of(
            "turns", "quoted", lines=", ".join(row(ids.get(line, line), TOPIC_CHARS) for line in lines)
        )


def _answer(scene: Scene, debate: Elaboration, last: Turn) -> str:
    """An answer to all turns that wait for this persona, or only to the *last* one."""
    persona, roster = scene.persona.key, scene.playbook.roster
    direct = [turn for turn in debate.unanswered if _is_for(persona, turn, debate, roster=roster)]
    others = [turn for turn in debate.unanswered if _is_for("", turn, debate, roster=roster)]
    mine = [turn for turn in debate.unanswered if turn in direct or turn in others]
    if mine and mine != [last]:
        turns = "; ".join(f"turn {turn.id} by {named(turn.name)}" for turn in mine)
        return part_of("turns", "answering together", turns=turns)
    return part_of("turns", "spoken to" if last in direct else "answering", turn=last.id)


def _is_for(persona: str, turn: Turn, debate: Elaboration, *, roster: Roster) -> bool:
    """Whether *turn* addresses *persona* by name; for an empty *persona*, whether it addresses no persona."""
    address = roster.addressed(turn.text, lead=debate.lead)
    if address.kind is AddressKind.DIRECT:
        return persona in address.personas
    return not persona


def _once_more(debate: Elaboration) -> str:
    if not debate.failed_syntheses:
        return ""
    return part_of("again", "synthesis")


def _besides(debate: Elaboration) -> Iterator[str]:
    """Messages that became no turn, because too much was said at once."""
    told = [
        QuotedTurn(f"{named(one.name)}, a person", one.text, human=True) for one in debate.besides if one.text
    ]
    if told:
        yield f"Said besides, in no turn:\n{fenced('besides', words_of(recent(told, WRITING)))}"


def _on_record(board: DiscussionBoard) -> Iterator[str]:
    """The part of the block that follows from the record."""
    decided = [
        f"{one['text']} ({named(recorder(one, 'text'))})" for one in board.own(board.current_decisions)
    ]
    against = [f"{one['text']} ({named(owner(one))})" for one in board.open_objections]
    if decided:
        rows = "\n".join(f"- {row(one, OBJECTION_CHARS)}" for one in decided)
        yield f"Decisions of people, which are on record word by word:\n{fenced('decisions', rows)}"
    if against:
        rows = "\n".join(f"- {row(one, OBJECTION_CHARS)}" for one in against)
        yield f"Objections that are open, and on record:\n{fenced('objections', rows)}"


def _said_before(debate: Elaboration) -> str:
    """People may speak before the framing."""
    return "# The discussion\n\n" + _discussion(debate.turns) if debate.turns else ""


def _discussion(turns: Sequence[Turn], room: QuoteLimits = TALKING) -> str:
    """The newest turns and what people said before them word for word, the rest in a line each."""
    told = told_in_turns(turns)
    stands = standing(turns)
    newest = recent(told, room)
    before = told[: len(told) - len(newest)]
    people = recent([one for one in before if one.human], PEOPLE_BEFORE)
    labels = {one.label for one in people}
    earlier = digest([one for one in before if one.label not in labels])
    parts = (
        f"Earlier, in short:\n{fenced('earlier turns', earlier)}" if earlier else "",
        f"What people said earlier, word for word:\n{fenced('people', words_of(people))}" if people else "",
        f"Open issues, and who stands where:\n{fenced('positions', stands)}" if stands else "",
        fenced("turns", words_of(newest) or NOTHING),
    )
    return "\n\n".join(filter(None, parts))
