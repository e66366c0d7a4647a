"""The prompt of each task: its stable parts, and what is new this time."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from bot.domain.catalog.personas import AddressKind, Roster
from bot.domain.discussion.board import board_of
from bot.domain.discussion.elaboration import MOST_IN_A_ROUND, Elaboration, Turn, TurnKind
from bot.domain.roundtable import ended
from bot.domain.roundtable.effects import Speak
from bot.domain.specification.entries import NOT_LISTED
from bot.voices.model import AnswerSchema, Prompt
from bot.voices.prompts import schemas, wanted
from bot.voices.prompts.digest import (
    NOTHING,
    PEOPLE_BEFORE,
    WRITING,
    QuotedTurn,
    digest,
    recent,
    standing,
    told_in_answers,
    told_in_turns,
    words_of,
)
from bot.voices.prompts.fencing import fenced, named, row, sealed
from bot.voices.prompts.scene import Scene, lens, missing, stable, who
from bot.voices.prompts.texts import filled, part_of

WORDS = 120
SHORT_WORDS = 30
TOPIC_CHARS = 120


def draft(scene: Scene, searched: str = "") -> Prompt:
    """*searched* is what a search of the code for people's new words found."""
    schema, kinds = scene.playbook.schema, wanted.kinds(scene)
    discussion = _ended(scene)
    task = "a discussion ended" if discussion else "people answered" if scene.rt.to_read else "a step opened"
    rules = filled(
        "drafting",
        kinds=wanted.described(one for one in schema.kinds.values() if one.anywhere),
        chat=_chat(SHORT_WORDS, "no questions"),
        persona=who(scene),
    )
    moving = filled(
        "draft",
        discussion=discussion,
        task=part_of("turns", task),
        call=wanted.call(scene),
        searched=_render_search(searched),
        points=wanted.listed(wanted.open_points(scene)),
        people=wanted.people(scene),
        standing=wanted.standing(scene),
        next=wanted.following(scene),
        kinds=wanted.described(one for one in kinds if not one.anywhere),
        answer=part_of("schemas", "block"),
    )
    return _prompt(scene, rules, moving, schemas.draft(sorted(schema.kinds.keys() - NOT_LISTED)))


def turn(scene: Scene, debate: Elaboration, asked: Speak, searched: str = "") -> Prompt:
    roster, board = scene.playbook.roster, board_of(debate, scene.rt.specification)
    moving = filled(
        "turn",
        missing=missing(scene),
        topic=row(debate.topic, TOPIC_CHARS),
        turn=debate.turns_used + 1,
        max_turns=debate.max_turns,
        discussion=_discussion(
            heard_by(debate, asked), standing(board, is_blind=asked.turn is TurnKind.OPENING)
        ),
        searched=_render_search(searched),
        lenses="\n\n".join(lens(one) for one in roster if one.key in asked.personas),
        task=_task(debate, asked, roster),
        most=most_contributions(asked),
        answer=part_of("schemas", "turn"),
    )
    rules = filled("speaking", chat=_chat(WORDS))
    return _prompt(scene, rules, moving, schemas.turn(one.key for one in roster))


def _render_search(searched: str) -> str:
    return f"{part_of('turns', 'searched')}\n{fenced('search of the code', searched)}\n\n" if searched else ""


def heard_by(debate: Elaboration, asked: Speak) -> Sequence[Turn]:
    """In an opening no persona knows what another says."""
    if asked.turn is TurnKind.OPENING:
        return tuple(one for one in debate.turns if one.human)
    return debate.turns


def most_contributions(asked: Speak) -> int:
    return MOST_IN_A_ROUND if asked.turn is TurnKind.ROUND else len(asked.personas)


def again(prompt: Prompt, why: str) -> Prompt:
    """*prompt* once more; *why* is the heading in `again.md` of what was wrong with the first answer."""
    return prompt._replace(moving=f"{prompt.moving}\n\n# Once more\n\n{part_of('again', why)}")


def _chat(words: int, questions: str = "questions") -> str:
    return filled("chat", words=words, questions=part_of("turns", questions))


def _prompt(scene: Scene, task_rules: str, moving: str, schema: AnswerSchema) -> Prompt:
    return sealed(stable(scene, task_rules), moving, seed=scene.seed)._replace(schema=schema)


def _task(debate: Elaboration, asked: Speak, roster: Roster) -> str:
    match asked.turn:
        case TurnKind.OPENING:
            return part_of("turns", "opening")
        case TurnKind.ASKED:
            return _answer(debate, asked, roster)
        case TurnKind.ROUND:
            return "\n\n".join([part_of("turns", "round"), *_quoted(debate)])
        case _:
            assert_never(asked.turn)


def _quoted(debate: Elaboration) -> Iterator[str]:
    """The lines that were quoted here, by the ids that they have in the prompt."""
    ids = {turn.line: turn.id for turn in debate.turns}
    lines = dict.fromkeys(quote.line for turn in debate.turns for quote in turn.quotes)
    if lines:
        yield part_of(
            "turns", "quoted", lines=", ".join(row(ids.get(line, line), TOPIC_CHARS) for line in lines)
        )


def _answer(debate: Elaboration, asked: Speak, roster: Roster) -> str:
    """An answer to the newest words that name one of those who were asked."""
    for said in reversed(debate.turns):
        address = roster.addressed(said.text, lead=debate.lead) if said.human else None
        if address and address.kind is AddressKind.DIRECT and {*address.personas} & {*asked.personas}:
            return part_of("turns", "asked", turn=said.id)
    return part_of("turns", "everybody asked")


def _ended(scene: Scene) -> str:
    """The discussion that no model has read since it ended. People's words have the ids by which they are quoted."""
    rt = scene.rt
    unread = {one.ts: one for one in rt.unread}
    told: list[QuotedTurn] = []
    for ts, turn in ended.turns(rt).items():
        if not turn.human:
            told.append(QuotedTurn(f"{named(turn.name)}, a persona", turn.text, human=False))
        told += told_in_answers(rt, [unread[ts]] if ts in unread else [])
    if not any(one.human for one in told):
        return ""
    return f"# The discussion\n\n{fenced('turns', words_of(recent(told, WRITING)))}\n\n"


def _discussion(turns: Sequence[Turn], stands: str) -> str:
    """The newest turns and what people said before them word for word, the rest in a line each."""
    told = told_in_turns(turns)
    newest = recent(told)
    before = told[: len(told) - len(newest)]
    people = recent([one for one in before if one.human], PEOPLE_BEFORE)
    labels = {one.label for one in people}
    earlier = digest([one for one in before if one.label not in labels])
    parts = (
        f"Earlier, in short:\n{fenced('earlier turns', earlier)}" if earlier else "",
        f"What people said earlier, word for word:\n{fenced('people', words_of(people))}" if people else "",
        f"The options, and who stands where:\n{fenced('positions', stands)}" if stands else "",
        fenced("turns", words_of(newest) or NOTHING),
    )
    return "\n\n".join(filter(None, parts))
