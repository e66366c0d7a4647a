"""What people read of a question that a coding agent asks them, and what the agent is told."""

from collections.abc import Callable, Iterator, Sequence
from typing import assert_never

from bot.domain.messages.agent_wording import ANSWER
from bot.domain.messages.message import ITEM, Action, Choice, Message
from bot.domain.specification.agent_questions import (
    QuestionState,
    agent_of,
    answers_of,
    options_of,
    question_state,
)
from bot.domain.specification.claims import Entry
from bot.domain.specification.fold import AGENT
from bot.domain.values.markdown import escaped
from bot.domain.values.text import listed, one_line, values

TEXT_CHARS, OPTION_CHARS, MOST_OPTIONS, MOST_ABOUT = 600, 75, 4, 10
OPEN_AT_ONCE, A_DAY = 3, 20
"""Questions of one agent about one item."""
ANSWER_CHARS = 600

OPTION = Choice(action=Action.ANSWER_OPTION, label="")
DECLINE = Choice(action=Action.DECLINE_QUESTION, label="Not for us")

EMPTY = "The question is empty."
TOO_LONG = f"A question may have at most {TEXT_CHARS} characters."
TOO_MANY_OPTIONS = f"A question may have at most {MOST_OPTIONS} options."
BAD_OPTION = f"Each option has 1 to {OPTION_CHARS} characters, and no two are the same."
TOO_MANY_ABOUT = f"A question may be about at most {MOST_ABOUT} entries."
A_DAY_IS_OVER = f"A key may ask {A_DAY} questions about an item in 24 hours. Ask again tomorrow."
NO_QUESTIONS = "This folder of steps has no questions."
NOT_OPEN_YET = "The thread of this item is not open yet."
MUTED = "The thread of this item is muted."
STOPPED = "This item is stopped: people have to resume it first."
NOT_SAVED = "The question could not be saved just now."
MAY_NOT_ASK = "This key may read and not ask."
NOT_HERE = "Agents may not ask in the channel of this item."


def question(entry: Entry, *, slug: str, owner: str, name_of: Callable[[str], str]) -> Message:
    """The header is ours; the words of the agent are quoted, and nothing in them acts. *owner* is a name."""
    named, state = values(entry["about"]), question_state(entry)
    about = f" about {listed(named)}" if named else ""
    whose = f", an agent for {escaped(owner)}," if owner else ", an agent,"
    agent = agent_of(entry).removeprefix(f"{AGENT}:")
    rows = [f"**{escaped(agent)}**{whose} asks{about}:", f"> {escaped(str(entry['text'] or ''))}"]
    answer, choices = ANSWER.but(value=f"{slug}/{entry.id}"), tuple[Choice, ...]()
    id = note = entry.id
    match state:
        case QuestionState.OPEN:
            choices = (*_options(entry), answer.but(label="Answer…"), DECLINE.but(value=id))
            note = f"{id}. Your answer counts as yours. Or type `{id} answer: …`"
        case QuestionState.ANSWERED | QuestionState.CONTESTED:
            choices = (answer.but(label="Answer differently…"),)
            for one in answers_of(entry):
                words = escaped(one_line(str(one.value), ANSWER_CHARS))
                rows.append(f"{escaped(name_of(one.owner.by))} answered: {words}")
            if state is QuestionState.CONTESTED:
                note = f"{id}. You answered differently, so the agent waits. Or type `{id} answer: …`"
        case QuestionState.DECLINED:
            rows.append("Not for us: the agent is told so.")
        case QuestionState.WITHDRAWN:
            rows.append("The agent took the question back.")
        case _:
            assert_never(state)
    token = ITEM if state is not QuestionState.WITHDRAWN else ""
    return Message(text="\n".join(rows), choices=choices, token=token, note=note)


def _options(entry: Entry) -> Iterator[Choice]:
    for number, one in enumerate(options_of(entry), start=1):
        yield OPTION.but(label=one, value=f"{entry.id}/{number}")


# --- for the transcript ---------------------------------------------------------------------------------------------


def recorded(agent: str, id: str, text: str) -> str:
    return f"{agent} (agent) asks {id}: {text}"


def offered(agent: str, id: str, option: str) -> str:
    return f"{agent} (agent) offers an answer to {id}: {option}"


def declined(name: str, id: str) -> str:
    return f"{name} said of {id}: not for us."


def withdrawn(agent: str, id: str) -> str:
    return f"{agent} (agent) took {id} back."


# --- for the agent --------------------------------------------------------------------------------------------------


def too_many_open(ids: Sequence[str]) -> str:
    return f"{len(ids)} questions of this key are open: {listed(ids)}. Wait, or withdraw one."


def no_thread(slug: str) -> str:
    return f"{slug} has no open thread in Slack. A person has to type: /roundtable resume {slug}"


def not_yours(id: str) -> str:
    return f"{id} is no question of this key."
