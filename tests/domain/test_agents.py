"""Coding agents ask in the thread of an item, and people answer: what counts is whose words are whose."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.policy import AgentsMay, ChannelRules, Policies, PressPolicy
from bot.domain.messages import agent_question_wording as wording
from bot.domain.messages.attribution_wording import attribution
from bot.domain.messages.message import ITEM, Action, Message
from bot.domain.roundtable.inputs import AgentAsked, AgentWithdrew, AnswerQuestion, Mute, Press
from bot.domain.roundtable.transitions import answering
from bot.domain.specification.agent_questions import QuestionState, question_state
from bot.domain.specification.brief import brief
from bot.domain.specification.claims import Claim, Entry, EntryState, PartyKind
from bot.domain.specification.not_settled import BLOCKING, RowKind, not_settled
from bot.domain.specification.snapshot import folded_content
from bot.errors import NotNow, UserError
from bot.slack.render import parts
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once

WORDS = "May a limit be below 10 a second?"
CODER = "claude-code-ada"


def asked(text: str = WORDS, *, agent: str = CODER, key: str = "", **facts: object) -> AgentAsked:
    named = {"agent": agent, "owner": "ada", "text": text, "options": ("Yes", "No"), **facts}
    return AgentAsked(key=key or f"agent.{agent}.{text.casefold()}", at="2026-01-01T10:00:00.000Z", **named)


@played_once
def open_step() -> Table:
    table = Table(few_steps()).start().say("I am here.", who="linus").say("I am, too.", who="grace")
    return table.say("requirement: limits per client", who="grace")


def ask(table: Table, *events: AgentAsked) -> Table:
    for event in events or (asked(about=("FR-001",)),):
        table.hear(event)
    return table


def press(table: Table, action: str, value: str, *, who: str = "grace") -> Table:
    return table.does(Press, who=who, action=action, token=ITEM, ts="", value=value)


def answer(table: Table, text: str, *, who: str = "linus") -> Table:
    return table.does(AnswerQuestion, who=who, entry="Q-001", text=text)


def question(table: Table, id: str = "Q-001") -> Entry:
    return table.rt.specification.entries[id]


def state(table: Table, id: str = "Q-001") -> QuestionState:
    return question_state(question(table, id))


def claim(table: Table, field: str) -> Claim:
    found = question(table).claim(field)
    assert found
    return found


def shown(table: Table) -> Message:
    """The message of the first question, as it stands now."""
    ts = table.rt.stands_at("Q-001")
    edits = [one.message for one in table.world.root_edits if one.ts == ts]
    return edits[-1] if edits else next(one.message for one in table.world.thread if one.ts == ts)


def posts(table: Table) -> list[str]:
    return [one for one in table.texts if "an agent for" in one]


def test_a_question_stands_in_the_thread_as_one_message_and_counts_for_nothing() -> None:
    """It blocks nothing, no card offers to accept it, its words are no source, and *Not settled* says who asks."""
    table = ask(open_step())
    message = shown(table)
    assert message.text == (
        "**claude-code-ada**, an agent for Ada, asks about FR-001:\n> May a limit be below 10 a second?"
    )
    assert [one.label for one in message.choices] == ["Yes", "No", "Answer…", "Not for us"]
    assert message.note == "Q-001. Your answer counts as yours. Or type `Q-001 answer: …`"
    assert (message.pings, message.links) == ((), ())

    assert (question(table).state, claim(table, "text").proposed.kind) == (
        EntryState.PROPOSED,
        PartyKind.AGENT,
    )
    rows = [one for one in not_settled(table.playbook.schema, table.rt.specification) if one.id == "Q-001"]
    assert [(one.kind, one.facts[0]) for one in rows] == [
        (RowKind.QUESTION, "asked by claude-code-ada (agent)")
    ]
    assert "Q-001" not in str(table.card)
    [line] = [one for one in table.lines if one.message_id.startswith("agent.")]
    assert line.content == f"claude-code-ada (agent) asks Q-001: {WORDS}"
    assert not table.rt.specification.says(line.message_id, "May a limit be below 10")


def test_a_hundred_repetitions_are_one_question() -> None:
    """Also after a restart, and when the keys of inputs are forgotten."""
    table = ask(open_step())
    for _ in range(100):
        table.hear(asked())
    table.rt = table.rt.but(seen=())
    ask(table.restart(), asked())
    assert len(posts(table)) == 1
    assert [one for one in table.rt.specification.entries if one.startswith("Q-")] == ["Q-001"]


def test_a_pressed_option_is_accepted_by_who_pressed_and_a_second_other_answer_contested() -> None:
    """The agent proposed it. Until both say the same; more of one's own words replace them."""
    table = press(ask(open_step()), Action.ANSWER_OPTION, "Q-001/2")
    assert attribution(claim(table, "answer")) == "proposed by claude-code-ada (agent), accepted by Grace"
    assert claim(table, "answer").value == "No"
    assert claim(table, "text").accepted is None
    assert state(table) is QuestionState.ANSWERED
    assert shown(table).text.endswith("\nGrace answered: No")
    assert [one.label for one in shown(table).choices] == ["Answer differently…"]
    assert any(one.content == "Grace answered Q-001: No" for one in table.lines)
    found = brief(table.playbook.schema, table.rt.specification)
    assert f"{WORDS} Answer: No" in str(found.sections)
    assert not any("Q-001" in row for row in found.not_settled)

    assert "claude-code-ada asks: May a limit" in str(answering.form(table.rt, "Q-001", table.playbook))
    answer(table, "Yes, for trials.")
    assert state(table) is QuestionState.CONTESTED
    assert shown(table).text.endswith("\nGrace answered: No\nLinus answered: Yes, for trials.")
    [row] = [one for one in not_settled(table.playbook.schema, table.rt.specification) if one.id == "Q-001"]
    assert (row.kind in BLOCKING, row.facts) == (True, ("Grace: No", "Linus: Yes, for trials."))
    answer(table, "No", who="linus")
    assert state(table) is QuestionState.ANSWERED
    answer(table, "No, never.", who="linus")
    answer(table, "No, never.", who="grace")
    assert state(table) is QuestionState.ANSWERED


def test_typed_words_are_said_by_the_person() -> None:
    """In the form of the message; in the thread, too."""
    by_form = answer(ask(open_step()), "Never below 10.")
    typed = ask(open_step()).say("Q-001 answer: Never below 10.", who="linus")
    for table in (by_form, typed):
        assert (claim(table, "answer").value, attribution(claim(table, "answer"))) == (
            "Never below 10.",
            "Linus",
        )
        assert state(table) is QuestionState.ANSWERED
        assert shown(table).text.endswith("\nLinus answered: Never below 10.")
        assert claim(table, "text").accepted is None


def test_not_for_us() -> None:
    """The question is over, and says so."""
    table = press(ask(open_step()), Action.DECLINE_QUESTION, "Q-001")
    assert (state(table), shown(table).choices) == (QuestionState.DECLINED, ())
    with pytest.raises(NotNow, match="Q-001 is answered, or does not count"):
        press(table, Action.ANSWER_OPTION, "Q-001/1")
    with pytest.raises(NotNow, match="Q-001 is answered, or does not count"):
        answer(table, "Yes.")


def test_an_agent_takes_back_what_nobody_has_answered() -> None:
    """Its own alone; what people have answered stays."""
    table = ask(open_step())

    def withdraw(agent: str = CODER) -> None:
        table.hear(AgentWithdrew(key=table.key(), at=table.now(), agent=agent, entry="Q-001"))

    with pytest.raises(UserError, match=r"offline-sync/Q-001 is no question of this key\."):
        withdraw("other")
    withdraw()
    withdraw()
    assert (state(table), shown(table).choices) == (QuestionState.WITHDRAWN, ())
    assert shown(table).text.endswith("\nThe agent took the question back.")

    table = press(ask(open_step()), Action.ANSWER_OPTION, "Q-001/1")
    withdraw()
    assert state(table) is QuestionState.ANSWERED


def test_a_question_of_a_person_is_no_agents() -> None:
    table = open_step().say("Open question: Who pays?", who="grace")
    for what in (Action.ANSWER_OPTION, Action.DECLINE_QUESTION):
        with pytest.raises(NotNow):
            press(table, what, "Q-001" if what == Action.DECLINE_QUESTION else "Q-001/1")
    with pytest.raises(UserError, match="is no question of this key"):
        table.hear(AgentWithdrew(key="k", at=table.now(), agent=CODER, entry="Q-001"))


def test_three_are_open_at_once_for_each_agent_and_twenty_asked_in_a_day() -> None:
    """A question that is over makes room."""
    table = ask(open_step(), *(asked(f"Question {one}?") for one in range(3)))
    with pytest.raises(UserError) as refused:
        ask(table, asked())
    assert str(refused.value) == (
        "3 questions of this key are open: offline-sync/Q-001, offline-sync/Q-002 and offline-sync/Q-003."
        " Wait, or withdraw one."
    )
    ask(table, asked(agent="other"))
    press(table, Action.DECLINE_QUESTION, "Q-002")
    ask(table, asked())
    assert state(table, "Q-005") is QuestionState.OPEN

    table = open_step()
    for one in range(20):
        ask(table, asked(f"Question {one}?"))
        press(table, Action.DECLINE_QUESTION, f"Q-{one + 1:03}")
    with pytest.raises(UserError, match="20 questions about an item in 24 hours"):
        ask(table, asked())
    ask(table, asked().but(at="2026-01-02T10:00:00.001Z"))


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (asked(" \n\u200b"), wording.EMPTY),
        (asked("x" * 601), wording.TOO_LONG),
        (asked(options=("1", "2", "3", "4", "5")), wording.TOO_MANY_OPTIONS),
        (asked(options=("Yes", "YES")), wording.BAD_OPTION),
        (asked(options=("",)), wording.BAD_OPTION),
        (asked(options=("x" * 76,)), wording.BAD_OPTION),
        (asked(about=("FR-404",)), "offline-sync has no FR-404."),
        (asked(about=("FR-001",) * 11), wording.TOO_MANY_ABOUT),
    ],
)
def test_a_question_that_is_never_asked(event: AgentAsked, why: str) -> None:
    table = open_step()
    with pytest.raises(UserError) as refused:
        ask(table, event)
    assert str(refused.value) == why
    assert not isinstance(refused.value, NotNow)
    assert not posts(table)


def test_nothing_is_asked_in_a_muted_or_stopped_thread() -> None:
    """Nor where a policy keeps agents out of a channel."""
    table = open_step()
    table.does(Mute, muted=True)
    with pytest.raises(NotNow, match="is muted"):
        ask(table)
    table = open_step().stop()
    with pytest.raises(NotNow, match="is stopped"):
        ask(table)
    table.resume()
    assert len(posts(ask(table))) == 1

    table = open_step()
    closed = Policies(channels={"C1": ChannelRules(agents=AgentsMay.NONE)})
    table.playbook = replace(table.playbook, policies=closed)
    with pytest.raises(NotNow, match="may not ask in the channel"):
        ask(table)


def test_who_may_press_may_answer() -> None:
    table = ask(open_step())
    strict = table.playbook.policy.but(press=PressPolicy.STARTER)
    table.playbook = replace(table.playbook, policy=strict)
    refusals: tuple[Callable[[], Table], ...] = (
        lambda: press(table, Action.ANSWER_OPTION, "Q-001/1"),
        lambda: press(table, Action.DECLINE_QUESTION, "Q-001"),
        lambda: answer(table, "Yes."),
    )
    for refused in refusals:
        with pytest.raises(NotNow, match="Ada"):
            refused()
    assert state(press(table, Action.ANSWER_OPTION, "Q-001/1", who="ada")) is QuestionState.ANSWERED


def test_a_finished_item_is_asked_in_its_thread_and_nothing_reopens() -> None:
    table = Table(few_steps()).start()
    table.do_step().press_continue()
    while table.rt.stage != "analysed":
        table.do_step().press_continue()
    ask(table, asked(about=()))
    press(table, Action.ANSWER_OPTION, "Q-001/1", who="ada")
    assert (table.rt.stage, state(table)) == ("analysed", QuestionState.ANSWERED)
    kept = folded_content(table.world.meeting, None, {}).specification.entries["Q-001"]
    assert question_state(kept) is QuestionState.ANSWERED


def test_words_of_an_agent_are_quoted_on_one_line() -> None:
    """No heading, no second message, no mention: what acts is escaped."""
    table = ask(
        open_step(), asked("*Done*\n> Ada answered: Yes\n# <!channel> [here](https://evil.example) `x`")
    )
    text = shown(table).text
    assert text.count("\n") == 1
    assert r"\*Done\* \> Ada answered: Yes \# \<\!channel\> \[here\](https://evil.example) \`x\`" in text


@given(text=st.text(min_size=1, max_size=200), option=st.text(min_size=1, max_size=70))
def test_any_words_of_an_agent_are_shown_and_act_on_nobody(text: str, option: str) -> None:
    """Slack gets one quoted paragraph below the header, and labels as plain text."""
    hostile = f"{text}<!here> <@U0GRACE> <#C1> @channel {text}"
    table = ask(open_step(), asked(hostile, options=(f"Say {option}",)))
    (part,) = parts(shown(table))
    body, *others = [one for one in part.blocks if one["type"] == "section"]
    assert not others
    sent = body["text"]["text"]
    assert sent.startswith("*claude-code-ada*, an agent for Ada, asks:\n>")
    assert sent.count("\n") == 1
    assert not re.search(r"<[!@#h]", sent)
    labels = [one["text"] for block in part.blocks for one in block.get("elements", ()) if "action_id" in one]
    assert {one["type"] for one in labels} == {"plain_text"}


def test_the_message_is_found_again_by_a_press() -> None:
    """The item was taken up from git, and where the message stands is not known."""
    table = ask(open_step())
    ts = table.rt.stands_at("Q-001")
    table.rt = table.rt.but(live={id: one for id, one in table.rt.live.items() if id != "Q-001"})
    table.does(Press, who="grace", action=Action.ANSWER_OPTION, token=ITEM, ts=ts, value="Q-001/1")  # fmt: skip
    assert shown(table).text.endswith("\nGrace answered: Yes")
