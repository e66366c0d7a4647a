"""What is counted when something happens, and under which names. Alerts and graphs depend on them."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.domain.discussion.elaboration import Contribution, Elaboration
from bot.domain.item.meta import Meta
from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import Commit, Post
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import CommitResult, Committed, Done, Failed, ItemState
from bot.domain.roundtable.stage import Stage
from bot.domain.values.places import Person
from bot.engine.engine import Queue
from bot.errors import Conflict, NotNow, Unavailable
from bot.server.metrics import DOORS, EFFECTS, REVIEWS, Metrics
from bot.shipped import Release
from bot.storage.sqlite import SqliteStore
from bot.voices.model import Usage
from tests.storage.samples import OWED, a_commit, a_roundtable

ROOT = Path(__file__).parents[1]
SAID = Say(key="C1.1", at="2026-11-21T10:00:00.000Z", person=Person(id="U1"), text="secret words", ts="1.1")
SPEECH = Post(id="bright-night.i1.7", message=Message(text="secret words"))


def told(effect_id: str = SPEECH.id) -> dict[str, str]:
    return {"key": effect_id, "effect": effect_id, "at": SAID.at}


class Numbers:
    """What a Prometheus would read."""

    def __init__(self, metrics: Metrics) -> None:
        self.text = metrics.exposed().decode()
        self.families = list(text_string_to_metric_families(self.text))

    def of(self, name: str, **labels: str) -> float:
        return sum(
            sample.value
            for family in self.families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    @property
    def names(self) -> set[str]:
        return {sample.name for family in self.families for sample in family.samples}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics("T1", release=Release("1.2.3", "3f2a9c1d"))


# --- what is counted ------------------------------------------------------------------------------------------------

Counted = Mapping[str, float]
"""By `name label=value`, without the namespace."""


def inputs(metrics: Metrics) -> Counted:
    """Saved, repeated, refused with a sentence, or not saved at all."""
    before, after = a_roundtable(), a_roundtable(version=2)
    metrics.decided(SAID, before, after)
    metrics.decided(SAID, after, after)
    for error in (NotNow("It is being saved."), Unavailable("Redis did not answer"), Conflict("gave up")):
        metrics.refused(SAID, error)
    results = {"saved": 1, "repeated": 1, "refused": 1, "unsaved": 2}
    counted = {f"inputs_total kind=say result={one}": count for one, count in results.items()}
    return {**counted, "inputs_total": 5}


def effects(metrics: Metrics) -> Counted:
    """What the world refused is told from what we did wrong."""
    metrics.performed(SPEECH, Done(**told()), seconds=0.2)
    for reason, seconds in (("is_archived", 2), ("unexpected", 0)):
        metrics.performed(SPEECH, Failed(**told(), reason=reason, sentence="No."), seconds=seconds)
    metrics.retried(SPEECH)
    return {
        **{f"effects_total kind=post outcome={one}": 1 for one in ("done", "failed", "broke")},
        "effect_seconds_count kind=post": 3,
        "effect_seconds_sum kind=post": 2.2,
        "effect_retries_total kind=post": 1,
    }


def acknowledgements(metrics: Metrics) -> Counted:
    """Taken, or left for Slack to repeat; what is new at Slack's side is `other`."""
    metrics.acknowledged("event", taken=True, seconds=0.004)
    metrics.acknowledged("event", taken=False, seconds=0.5)
    metrics.acknowledged("view_submission of somebody", taken=True, seconds=0.1)
    return {
        "acks_total door=event result=taken": 1,
        "acks_total door=event result=left": 1,
        "ack_seconds_count door=other": 1,
        "ack_seconds_bucket door=event le=0.005": 1,
    }


def pauses(metrics: Metrics) -> Counted:
    """By a person; or by Slack, which took no messages any more."""
    open_one = a_roundtable(stage=Stage.DISCUSSING)
    paused = open_one.but(version=2, stage=Stage.PAUSED)
    refused = Failed(**told(), reason="token_revoked", sentence="Slack no longer accepts the bot's token.")
    metrics.decided(SAID, open_one, paused)
    metrics.decided(refused, open_one, paused)
    metrics.decided(refused, paused, paused.but(version=3))
    return {"pauses_total by=person": 1, "pauses_total by=slack": 1}


def deliveries(metrics: Metrics) -> Counted:
    """For another process: the owner answered in time, or not."""
    for answered in (True, True, False):
        metrics.handed_over(answered=answered)
    return {"handed_over_total result=answered": 2, "handed_over_total result=unanswered": 1}


def words(metrics: Metrics) -> Counted:
    """Whatever git, or a review, says: there are a few words for it."""
    metrics.pushed("pushed")
    for result in REVIEWS:
        metrics.reviewed(result)
    for count in (metrics.pushed, metrics.reviewed):
        with pytest.raises(AssertionError):
            count("! [rejected] REVIEW: FAIL")
    return {"pushes_total result=pushed": 1, **{f"reviews_total result={one}": 1 for one in REVIEWS}}


def build(_metrics: Metrics) -> Counted:
    """So that a graph shows when an update began, and whether all processes have it."""
    return {"build_info version=1.2.3 revision=3f2a9c1d": 1}


@pytest.mark.parametrize("happens", [inputs, effects, acknowledgements, pauses, deliveries, words, build])
def test_everything_that_happens_is_counted_once(
    metrics: Metrics, happens: Callable[[Metrics], Counted]
) -> None:
    expected, numbers = happens(metrics), Numbers(metrics)

    for key, count in expected.items():
        name, *labels = key.split()
        of = dict(label.split("=") for label in labels)
        assert numbers.of(f"roundtable_{name}", **of) == count, key


def test_turns_are_counted_by_who_speaks(metrics: Metrics) -> None:
    """Those of people and of personas, each once, whatever else is saved."""
    silent = a_roundtable(elaboration=Elaboration(step_id="01-01", lead="maya", topic="light", max_turns=10))
    debate = silent.elaboration
    assert debate
    one = debate.heard(by="U1", name="Ada", text="secret words", ts="1.1")
    two = one.spoken(Contribution(persona="maya", text="secret words"), name="Maya")

    metrics.decided(SAID, silent, silent.but(version=2, elaboration=one))
    metrics.decided(SAID, silent.but(elaboration=one), silent.but(version=3, elaboration=two))
    metrics.decided(SAID, silent.but(elaboration=two), silent.but(version=4, elaboration=two))

    numbers = Numbers(metrics)
    assert numbers.of("roundtable_turns_total", by="person") == 1
    assert numbers.of("roundtable_turns_total", by="persona") == 1


def test_commits_are_counted_when_they_are_noted(metrics: Metrics) -> None:
    """A finished step apart from the other moments; once, however often the commit was tried."""
    step: Commit = a_commit()
    other = step.but(step="")
    for commit in (step, other):
        before = a_roundtable(outbox=(commit,))
        done = Committed(**told(commit.id), result=CommitResult(state=ItemState(meta=_meta()), sha="abc"))
        metrics.decided(done, before, a_roundtable(version=2))
        metrics.decided(done, before, before)

    numbers = Numbers(metrics)
    assert numbers.of("roundtable_commits_total", of="step") == 1
    assert numbers.of("roundtable_commits_total", of="other") == 1


def test_what_models_cost_is_counted_where_the_price_is_known(metrics: Metrics) -> None:
    """A model without a known price has no cost, which is not the same as none."""
    for model, dollars in (("known", Decimal("0.0031")), ("unknown", None)):
        metrics.configured("acme", model)
        usages = [Usage("acme", f"{model}-2026", 1.0, 1200, 40, 1000, dollars)] * 2
        metrics.called("acme", model, "answered", task="turn", seconds=3, usages=usages)
        metrics.called("acme", model, "a reason that is new", task="a new one", seconds=1, usages=())

    numbers = Numbers(metrics)
    assert numbers.of("roundtable_model_tokens_total", model="known", type="input") == 2400
    assert numbers.of("roundtable_model_calls_total", model="known", task="other", outcome="other") == 1
    assert numbers.of("roundtable_model_seconds_sum", model="known") == 4
    costs = [one for one in numbers.text.splitlines() if one.startswith("roundtable_model_cost_usd_total")]
    assert costs == [
        'roundtable_model_cost_usd_total{model="known",provider="acme",task="turn",team="T1"} 0.0062'
    ]


def test_there_is_a_fixed_number_of_series_and_none_knows_what_people_chose(metrics: Metrics) -> None:
    """However many items, threads and people there are."""
    before = len(metrics.exposed().splitlines())
    for number in range(50):
        rt = a_roundtable(slug=f"item-{number}")
        said = SAID.but(key=f"C{number}.1", person=Person(id=f"U{number}"))
        metrics.decided(said, rt, rt.but(version=2))
        metrics.performed(SPEECH.but(id=f"item-{number}.i1.1"), Done(**told()), seconds=1)
        metrics.acknowledged(f"door {number}", taken=True, seconds=1)

    text = metrics.exposed().decode()
    assert not re.search(r"item-|U\d|C\d|secret", text)
    assert len(text.splitlines()) - before < 60
    most = len(DOORS) * 15 + len(EFFECTS) * 17 + 200
    assert len([line for line in text.splitlines() if line[0] != "#"]) < most


def test_a_number_that_is_not_known_any_more_is_none(metrics: Metrics) -> None:
    """An age that stands still would say that all is well."""
    metrics.seen("queue", usable=True, facts={"oldest_seconds": 2.0, "owing": 1})
    metrics.seen("queue", usable=False, facts={})
    metrics.seen("slack", usable=True, facts={"shut_out": 0, "clock_ahead_seconds": 0.1})
    metrics.seen("slack", usable=False, facts={})

    assert 'roundtable_queue_oldest_seconds{team="T1"} NaN' in metrics.exposed().decode()
    assert 'roundtable_slack_clock_ahead_seconds{team="T1"} NaN' in metrics.exposed().decode()
    assert Numbers(metrics).of("roundtable_usable", part="queue") == 0


def test_what_is_about_a_team_says_which(metrics: Metrics) -> None:
    """And is not there before Slack has said it: a series would begin anew."""
    own = {"roundtable_usable", "roundtable_loop_lag_seconds", "roundtable_slack_hello_age_seconds"}
    own |= {"roundtable_build_info"}
    seen = [sample for family in everything_shown(metrics).families for sample in family.samples]

    assert all(
        ("team" in one.labels) == (one.name not in own) for one in seen if one.name.startswith("roundtable_")
    )
    assert {name for name in Numbers(Metrics()).names if name.startswith("roundtable_")} <= own


def test_counters_begin_at_zero(metrics: Metrics) -> None:
    """Otherwise the first failure would be no increase, and alert nobody."""
    numbers = Numbers(metrics)

    assert 'roundtable_effects_total{kind="commit",outcome="failed",team="T1"} 0.0' in numbers.text
    assert 'roundtable_pushes_total{result="refused",team="T1"} 0.0' in numbers.text


def test_every_metric_is_documented_under_its_name(metrics: Metrics) -> None:
    """And nothing is documented that is not there."""
    page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(roundtable_\w+)`", page, flags=re.MULTILINE))
    plain = {re.sub(r"_(bucket|count|sum)$", "", name) for name in everything_shown(metrics).names}

    assert documented == {name for name in plain if name.startswith("roundtable_")}


def everything_shown(metrics: Metrics) -> Numbers:
    """With what is there only once somebody looked."""
    metrics.configured("acme", "one")
    metrics.seen("slack", usable=True, facts={"hello_age_seconds": 1})
    metrics.seen("loop", usable=True, facts={"lag_seconds": 0})
    metrics.seen("queue", usable=True, facts={"oldest_seconds": 1, "owing": 1})
    metrics.seen("content", usable=True, facts={"differs": 0})
    metrics.seen("reviews", usable=True, facts={"oldest_seconds": 1, "owing": 1})
    metrics.counted({})
    usage = Usage("acme", "one", 1.0, 1200, 40, 1000, Decimal("0.0031"))
    metrics.called("acme", "one", "answered", task="turn", seconds=1, usages=[usage])
    for kind in EFFECTS:
        metrics.performed(SPEECH.but(kind=kind), Done(**told()), seconds=1)
    for door in DOORS:
        metrics.acknowledged(door, taken=True, seconds=1)
    return Numbers(metrics)


def _meta() -> Meta:
    return Meta.model_construct()


def test_several_teams_are_told_apart_under_one_name(metrics: Metrics) -> None:
    """A name may come once in a page, or nothing can read it."""
    other = Metrics("T2")
    other.pushed("pushed")
    page = metrics.exposed([other]).decode()

    assert 'roundtable_pushes_total{result="pushed",team="T1"} 0.0' in page
    assert 'roundtable_pushes_total{result="pushed",team="T2"} 1.0' in page
    assert page.count("# TYPE roundtable_pushes_total counter") == 1
    described = [line for line in page.splitlines() if line.startswith("# TYPE")]
    assert len(described) == len(set(described))


async def test_what_is_owed_gets_older_until_it_is_paid(tmp_path: Path) -> None:
    """
    Also in a process that was not there when it came to be owed. What counts is since when it is the next to be paid:
    people who go on talking make nothing younger.
    """
    seconds = 0

    def watch() -> str:
        return f"2026-11-21T10:{seconds // 60:02}:{seconds % 60:02}.000Z"

    async with SqliteStore(tmp_path) as store:
        queue = Queue(store, watch)
        assert await queue.waiting() == (0, 0.0)
        await store.put(a_roundtable(outbox=OWED), expected=0)
        seconds = 90
        assert await queue.waiting() == (1, 90.0)

        seconds = 100
        await store.put(a_roundtable(outbox=OWED, version=2, now=watch()), expected=1)
        assert await queue.waiting() == (1, 100.0)
        completing = (OWED[0].but(id="bright-night.i1.2"),)
        await store.put(a_roundtable(outbox=completing, version=3, now=watch()), expected=2)
        assert await queue.waiting() == (1, 0.0)

        await store.put(a_roundtable(version=4), expected=3)
        assert await queue.waiting() == (0, 0.0)
