"""Several models as one: who is asked when another one fails, what is tried again, and who is left alone."""

import asyncio

import pytest

from bot.errors import VoiceError
from bot.voices.llm.chain import (
    FAILURES,
    LONGEST_REST_SECONDS,
    PATIENCE_SECONDS,
    REST_SECONDS,
    ROUNDS,
    ProviderGate,
)
from bot.voices.model import LanguageModel
from tests.voices.models.scripted import PROMPT, Clock, ScriptedMind, chain, down, link


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def said_by(mind: LanguageModel, *, seconds: float = 60) -> str:
    return (await mind.think(PROMPT, seconds=seconds, tokens=100)).text


async def failure(mind: LanguageModel, *, seconds: float = 60) -> VoiceError:
    with pytest.raises(VoiceError) as raised:
        await mind.think(PROMPT, seconds=seconds, tokens=100)
    return raised.value


async def test_the_first_answers_as_long_as_it_can(clock: Clock) -> None:
    """The others cost nothing."""
    first, second = ScriptedMind(clock, "Yes."), ScriptedMind(clock, "No.")

    assert await said_by(chain(clock, link(first, clock), link(second, clock))) == "Yes."
    assert not second.asked


@pytest.mark.parametrize("reason", ["unavailable", "timeout", "denied", "context", "refused", "empty"])
async def test_who_fails_is_followed_by_the_next_at_once(reason: str, clock: Clock) -> None:
    """Another key, a longer window or another temper: whatever it was, the next may be without it."""
    first = ScriptedMind(clock, down(reason, again=reason in {"unavailable", "timeout", "empty"}))

    assert await said_by(chain(clock, link(first, clock), link(ScriptedMind(clock, "Yes."), clock))) == "Yes."
    assert len(first.asked) == 1
    assert not clock.pauses


async def test_an_answer_that_was_too_long_is_too_long_for_all(clock: Clock) -> None:
    """Asking for a shorter one is up to whoever asked."""
    second = ScriptedMind(clock, "Yes.")

    failed = await failure(
        chain(clock, link(ScriptedMind(clock, down("cut_off", again=False)), clock), link(second, clock))
    )

    assert failed.reason == "cut_off"
    assert not second.asked


async def test_what_may_pass_is_tried_again(clock: Clock) -> None:
    """After a pause, and the next one is longer."""
    mind = ScriptedMind(clock, down(), down(), "Yes.")

    assert await said_by(chain(clock, link(mind, clock))) == "Yes."
    assert clock.pauses == sorted(clock.pauses)
    assert len(clock.pauses) == 2


async def test_chance_keeps_everybody_from_coming_back_at_once(clock: Clock) -> None:
    """A provider that comes back would be down again."""
    for chance in (0.0, 0.999):
        await said_by(chain(clock, link(ScriptedMind(clock, down(), "Yes."), clock), chance=chance))

    assert clock.pauses[1] > clock.pauses[0] * 1.9


@pytest.mark.parametrize(
    ("reason", "again", "costs", "times"),
    [
        ("unavailable", True, 0, ROUNDS),
        ("unavailable", True, 50, 2),
        ("timeout", True, 60, 1),
        *((reason, False, 0, 1) for reason in ("denied", "context", "refused")),
    ],
)
async def test_it_is_not_tried_for_ever(
    reason: str, costs: float, times: int, *, again: bool, clock: Clock
) -> None:
    """
    After the time of one call for each model, no other round is begun, and a timeout has cost all of it. What will not
    pass is not tried again: the same question gets the same answer.
    """
    mind = ScriptedMind(clock, down(reason, again=again), costs=costs)

    failed = await failure(chain(clock, link(mind, clock)))

    assert len(mind.asked) == times
    assert (failed.reason, failed.again) == (reason, again)


async def test_a_wait_that_is_asked_for_is_kept(clock: Clock) -> None:
    """And a little more, because others were asked to wait as well."""
    mind = ScriptedMind(clock, down(after=4), "Yes.")

    assert await said_by(chain(clock, link(mind, clock))) == "Yes."
    assert 4 < clock.pauses[0] < 6


async def test_nobody_is_waited_for_too_long(clock: Clock) -> None:
    """It is passed on how long it would be, and until then nobody else is sent there either."""
    mind = ScriptedMind(clock, down(after=PATIENCE_SECONDS + 20), "Yes.")
    model = chain(clock, link(mind, clock))

    failed = await failure(model)
    clock.now += 10
    again = await failure(model)

    assert (failed.after_seconds, again.after_seconds) == (30, 20)
    assert len(mind.asked) == 1
    clock.now += 21
    assert await said_by(model) == "Yes."


async def test_another_model_is_better_than_a_wait(clock: Clock) -> None:
    """As long as the first wants to be left alone, the second is asked without asking the first."""
    first = ScriptedMind(clock, down(after=5), "Yes.")
    model = chain(clock, link(first, clock), link(ScriptedMind(clock, "No."), clock))

    assert [await said_by(model) for _ in range(3)] == ["No."] * 3
    clock.now += 6
    assert await said_by(model) == "Yes."
    assert not clock.pauses


async def test_all_failures_are_told_in_one_sentence_each(clock: Clock) -> None:
    """Somebody has to find out what to do about it; its kind is that of what may pass."""
    first = ScriptedMind(clock, down("denied", again=False))
    second = ScriptedMind(clock, down("timeout"))

    failed = await failure(chain(clock, link(first, clock), link(second, clock)))

    assert str(failed) == "It is denied. It is timeout."
    assert (failed.reason, failed.again) == ("timeout", True)


async def test_the_setting_bounds_every_call(clock: Clock) -> None:
    """Whoever asks may want less, and never gets more."""
    mind = ScriptedMind(clock, "Yes.")
    one = link(mind, clock, seconds=30)
    for seconds in (10, 300):
        await one.think(PROMPT, seconds=seconds, tokens=100)

    assert mind.asked == [10, 30]


# --- whoever fails again and again ----------------------------------------------------------------------------------


async def fail(mind: LanguageModel, times: int) -> None:
    for _ in range(times):
        await failure(mind)


async def test_a_dead_provider_does_not_cost_its_time_again_and_again(clock: Clock) -> None:
    """After some timeouts in a row it is not asked; the next model is, at once."""
    dead = ScriptedMind(clock, down("timeout"), costs=60)
    model = chain(clock, link(dead, clock), link(ScriptedMind(clock, "No."), clock))

    for _ in range(FAILURES):
        await said_by(model)
    began = clock.now
    for _ in range(10):
        await said_by(model)
        clock.now += 1

    assert len(dead.asked) == FAILURES
    assert clock.now - began == 10


async def test_after_its_rest_it_is_asked_again(clock: Clock) -> None:
    one = link(ScriptedMind(clock, *[down("timeout")] * FAILURES, "Yes."), clock)
    await fail(one, FAILURES)
    assert (await failure(one)).reason == "unavailable"
    clock.now += REST_SECONDS

    assert await said_by(one) == "Yes."


async def test_calls_that_were_under_way_make_no_rest_longer(clock: Clock) -> None:
    one = link(ScriptedMind(clock, down("timeout")), clock)
    await asyncio.gather(*(failure(one) for _ in range(2 * FAILURES)))

    assert (await failure(one)).after_seconds == REST_SECONDS


async def test_each_rest_is_longer_than_the_last(clock: Clock) -> None:
    """Up to a few minutes; one answer, and all is forgotten."""
    mind = ScriptedMind(clock, down("timeout"))
    one = link(mind, clock)
    await fail(one, FAILURES)
    rests = []
    for _ in range(8):
        rests.append((await failure(one)).after_seconds)
        clock.now += rests[-1]
        await fail(one, 1)

    assert rests[:3] == [REST_SECONDS, 2 * REST_SECONDS, 4 * REST_SECONDS]
    assert max(rests) == rests[-1] == LONGEST_REST_SECONDS


async def test_an_answer_in_between_forgives(clock: Clock) -> None:
    """Only failures in a row say that somebody is down; and a refusal is an answer."""
    for answer in ("Yes.", down("refused", again=False), down("denied", again=False), down(after=1)):
        mind = ScriptedMind(clock, *[down("timeout")] * (FAILURES - 1), answer, down("timeout"))
        one = link(mind, clock)
        for _ in range(FAILURES - 1):
            await failure(one)
        await asyncio.gather(one.think(PROMPT, seconds=1, tokens=1), return_exceptions=True)
        clock.now += 2
        await fail(one, FAILURES - 1)

        assert len(mind.asked) == 2 * FAILURES - 1


async def test_each_model_rests_by_itself(clock: Clock) -> None:
    """A dead one beside its fallback at the same address is left alone, and the fallback answers."""
    gate = ProviderGate(8, clock)
    dead = ScriptedMind(clock, down("timeout"))
    first, second = (
        link(dead, clock, gate=gate),
        link(ScriptedMind(clock, "Yes."), clock, name="b", gate=gate),
    )
    both = chain(clock, first, second)
    for _ in range(FAILURES + 3):
        assert await said_by(both) == "Yes."

    assert len(dead.asked) == FAILURES
    assert "is not asked for a while" in str(await failure(first))


# --- at once --------------------------------------------------------------------------------------------------------


async def test_no_more_than_so_many_calls_at_a_time(clock: Clock) -> None:
    """Otherwise ten meetings at once would get everybody told to wait."""
    running = most = 0

    async def counted() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1
        return "Yes."

    one = link(ScriptedMind(clock, counted), clock, gate=ProviderGate(3, clock))

    assert await asyncio.gather(*(said_by(one) for _ in range(20))) == ["Yes."] * 20
    assert most == 3


async def test_a_place_is_not_waited_for_longer_than_an_answer(clock: Clock) -> None:
    """Then the next model is asked."""
    gate = ProviderGate(1, clock)
    await gate.places.acquire()

    failed = await failure(link(ScriptedMind(clock, "Yes."), clock, gate=gate), seconds=0.01)

    assert (failed.reason, failed.again) == ("unavailable", True)
    gate.places.release()
    assert await said_by(link(ScriptedMind(clock, "Yes."), clock, gate=gate)) == "Yes."


async def test_whoever_is_cancelled_leaves_the_place(clock: Clock) -> None:
    """While it waits for one, and while it has it."""
    never = asyncio.Event()

    async def hang() -> str:
        await never.wait()
        raise AssertionError

    mind = ScriptedMind(clock, hang, "Yes.")
    one = link(mind, clock, gate=ProviderGate(1, clock))
    thinking = [asyncio.create_task(said_by(one)) for _ in range(3)]
    await mind.begun.wait()

    for task in reversed(thinking):
        task.cancel()
    await asyncio.wait(thinking)

    assert await said_by(one) == "Yes."
