"""Every fixed sentence of the workshop, as Markdown: what the host says, and what stands on the buttons."""

from collections.abc import Collection, Mapping

from bot.domain.messages.step_wording import chosen
from bot.domain.planning.plan import PlanDocument
from bot.domain.planning.proposal import Proposal, ProposedMove
from bot.domain.planning.verdict import RoleVerdict, titles
from bot.domain.planning.workshop import PLAN as PLAN_JSON
from bot.domain.planning.workshop import PLAN_FILES, PLAN_PAGE, REVIEW, Ask, Chosen, Workshop
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.markdown import bullet
from bot.domain.values.text import counted

REASONS_SHOWN = 5

BUTTONS: Mapping[ProposedMove, str] = {
    ProposedMove.GO: "Write the plan",
    ProposedMove.CLARIFY: "Ask us",
    ProposedMove.HOLD: "Leave it for now",
    ProposedMove.REDO: "Begin again",
}
ANOTHER_ROUND = "Another round"
SKIP_REST = "Skip the rest"
STRAIGHT = "Write the plan now"
LEAVE = "Leave the planning"
TO_THE_ANALYSIS = "Go on with the analysis"
PLAN = "Plan it"

PROPOSALS: Mapping[ProposedMove, str] = {
    ProposedMove.GO: "I'd write the plan now.",
    ProposedMove.CLARIFY: "I'd put the open questions to you first.",
    ProposedMove.HOLD: "I'd leave it for now.",
    ProposedMove.REDO: "I'd begin again.",
}
STAGES: Mapping[LinePhase, str] = {
    LinePhase.DRAFT: "has a brief, and has not begun",
    LinePhase.CLARIFYING: "is waiting for answers",
    LinePhase.WORKSHOP: "is being discussed by the roles",
    LinePhase.FORMALIZING: "is being written down",
    LinePhase.REVIEW_READY: "is written",
}

HOW_TO_ANSWER = 'Just write the answer; "skip" passes the question.'
READING = "The roles are reading."
READY_BELOW = "The plan is written. You find it further down."
MOVED = "The planning goes on further down."
TAKEN_UP = "I lost the state of the planning workshop. It begins again. Your answers are kept."
GOES_ON_LATER = "The planning stays as it is. `/roundtable plan` goes on with it."
HELD = "Nothing was changed. Press any button to go on."
FORMALIZING = "I'm writing the plan down."
BEGIN_AGAIN_NOTE = (
    f"{BUTTONS[ProposedMove.REDO]} puts this version aside; the answers and the transcript stay."
)
_FILES = f"`{PLAN_PAGE}` (to read), `{PLAN_JSON}` (the plan itself), `{PLAN_FILES}` and `{REVIEW}`"


def opened(ws: Workshop, *, introduced: bool = False) -> str:
    """*introduced*: readers of the thread know the roles from its beginning."""
    which = f" This is version {ws.version}; what you answered before is kept." if ws.version > 1 else ""
    who = "The roles" if introduced else titles(ws.roles)
    who = f"{who} read what is recorded, and say what they need to know."
    return f"Let's plan **{bullet(ws.title)}**. {who}{which}"


def asked(ask: Ask) -> str:
    """In the voice of the role that asked first; the others are named."""
    left = f"{counted(ask.left, 'more question')} after this" if ask.left else "the last question for now"
    too = f"; {titles(ask.question.by[1:])} would like to know, too" if ask.question.by[1:] else ""
    return f"**{bullet(ask.question.text)}**\n_({left}{too})_"


def skip_question(number: int) -> str:
    return f"Skip question {number}"


def card_title(ws: Workshop) -> str:
    return f"Planning: {bullet(ws.title)}"


def card_subtitle(ws: Workshop) -> str:
    return ", ".join([f"version {ws.version}", *([f"round {ws.round}"] if ws.round else [])])


def answer_by_number(ws: Workshop) -> tuple[str, ...]:
    """With several questions, a number says which one is meant."""
    asked = ws.asked
    if asked is None or len(ws.asking) == 1:
        return ()
    n = asked.number
    which = (
        f"To answer one question, begin with its number: `{n}. …` Without a number you answer question {n}."
    )
    return (f"Just reply here, all of you. {which}",)


def round_begins(ws: Workshop) -> str:
    return f"Round {ws.round}: each role judges in its own field."


def challenges(role: str) -> str:
    return f"All roles agree. {titles((role,))} looks for what speaks against it."


def verdict_word(one: RoleVerdict, *, first: bool) -> str:
    """The first line of what a role says, without its questions: they stand in a list of their own."""
    if not first:
        return _judgement(one)
    if not one.blocking_questions:
        return "\n".join(one.reasons) if _is_silent(one) else "no question"
    return counted(len(one.blocking_questions), "question")


def suggested(text: str) -> str:
    return f"I'd suggest: {text}"


def verdict(one: RoleVerdict, *, first: bool = False) -> str:
    """What a role says in the thread; in the *first* reading that is no judgement yet, and only what it would need."""
    if first:
        return _first_reading(one)
    rows = [_judgement(one)]
    rows += [f"- {bullet(reason)}" for reason in one.reasons]
    rows += [f"- {suggested(bullet(text))}" for text in one.suggestions]
    rows += [f"- I need to know: {bullet(text)}" for text in one.blocking_questions]
    return "\n".join(rows)


def _judgement(one: RoleVerdict) -> str:
    word = {True: "Yes.", False: "No.", None: "I can't say yet."}[one.ok]
    return word if one.confidence is None else f"{word} (confidence {one.confidence:.0%})"


def _is_silent(one: RoleVerdict) -> bool:
    """Whether the role could not be heard."""
    return one.ok is None and one.confidence is None and bool(one.reasons)


def _first_reading(one: RoleVerdict) -> str:
    if not one.blocking_questions and _is_silent(one):
        return "\n".join(one.reasons)
    if not one.blocking_questions:
        return "I've read it, and have no question."
    return f"I've read it, and have {counted(len(one.blocking_questions), 'question')} before I can judge."


def not_reached(sentence: str) -> str:
    return f"I could not answer in this round: {sentence}"


def proposed(proposal: Proposal) -> str:
    """People read the reasons first, and decide."""
    reasons = "\n".join(f"- {bullet(reason)}" for reason in proposal.reasons[:REASONS_SHOWN])
    return f"**{PROPOSALS[proposal.decision]}** You decide.\n{reasons}"


def explain(name: str) -> str:
    return f"That is not what I proposed. {bullet(name)}, say why in one sentence. I record it, then I write the plan."


def decided(choice: Chosen, name: str) -> str:
    """For the transcript, and for the menu that was used."""
    against = (
        f", although I proposed: {BUTTONS[choice.proposed]}" if choice.against and choice.proposed else ""
    )
    reason = f" ({bullet(choice.reason)})" if choice.reason else ""
    return f"{chosen(BUTTONS[choice.decision], bullet(name))}{against}{reason}"


def pressed(label: str, name: str) -> str:
    return chosen(label, bullet(name))


def answered(*, passed: bool) -> str:
    return "The question was passed" if passed else "The question was answered"


def explained(name: str) -> str:
    return f"{name} said why"


def root(title: str, slug: str, *, roles: Collection[str]) -> str:
    """The first message of a thread that begins with the planning."""
    return (
        f"**Planning: {bullet(title)}**\n"
        f"{titles(roles)} plan this with us, here in this thread. They ask what they need to know, and "
        f"everybody can answer. The plan is saved as `{slug}`. The analysis can follow."
    )


def called(name: str) -> str:
    return f"{bullet(name)} called the planning workshop."


def left(name: str) -> str:
    return f"{bullet(name)} left the planning for now."


def welcome_back(ws: Workshop) -> str:
    return f"We are in the planning workshop. {status(ws)}"


def formalized(*, valid: bool) -> str:
    return "A plan came back." if valid else "A plan came back that is not valid."


def mending(errors: Collection[str]) -> str:
    rows = "\n".join(f"- {bullet(error)}" for error in errors)
    return f"The plan has errors. I ask once for a corrected plan.\n{rows}"


def not_mended(errors: Collection[str]) -> str:
    rows = "\n".join(f"- {bullet(error)}" for error in errors)
    return f"The plan still has errors, so nothing was written.\n{rows}"


def ready(ws: Workshop, plan: PlanDocument, not_ready: str = "") -> str:
    counts = ", ".join((
        counted(len(plan.work.tasks), "task"),
        counted(len(plan.acceptance_criteria), "acceptance criterion", "acceptance criteria"),
        counted(len(plan.file_plan), "file"),
        counted(len(plan.risks), "risk"),
        counted(len(plan.notes_of("open_question")), "open question"),
    ))  # fmt: skip
    return (
        f"The plan of **{bullet(ws.title)}** is written, version {ws.version}: {counts}.\n"
        f"{not_ready or 'It is ready for review.'} It is kept as {_FILES}."
    )


def stands_ready(ws: Workshop) -> str:
    return f"The plan of **{bullet(ws.title)}** is written, version {ws.version}: {_FILES}."


def begins_again(ws: Workshop, folder: str) -> str:
    return f"Version {ws.version} is kept in `{folder}`, and the transcript goes on. Version {ws.version + 1} begins."


def doing(ws: Workshop) -> str:
    """In a list of many items."""
    if ws.held:
        return "left for now"
    return f"{STAGES[ws.stage].removeprefix('is ')}{_to_go(ws)}"


def status(ws: Workshop) -> str:
    """One line for `status` and the home tab."""
    where = "is left for now" if ws.held else STAGES[ws.stage]
    rounds = f", round {ws.round}" if ws.stage is LinePhase.WORKSHOP and ws.round else ""
    return f"The plan (version {ws.version}{rounds}) {where}{_to_go(ws)}."


def _to_go(ws: Workshop) -> str:
    return f", {counted(len(ws.asking), 'question')} to go" if ws.asking else ""
