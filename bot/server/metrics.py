"""
Prometheus metrics. `docs/operating.md` explains each, `deploy/alerts.yaml` has the alerts.

No label has a value that people choose, such as an item, a thread or a person, so there are a few hundred series for
each team.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import get_args

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from bot.domain.catalog.personas import ModelTask
from bot.domain.roundtable.effects import Commit, Effect
from bot.domain.roundtable.inputs import Command, Input
from bot.domain.roundtable.outcomes import Committed, Failed, Outcome
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.engine.ports import Meter, kind_of
from bot.engine.reviews import RESULTS
from bot.errors import BotError, UserError
from bot.shipped import Release
from bot.voices.model import ANSWERED, CANCELLED, ModelMeter, Usage

NAMESPACE = "roundtable"
CONTENT_TYPE = CONTENT_TYPE_LATEST

SAVED, REPEATED, REFUSED, UNSAVED = "saved", "repeated", "refused", "unsaved"
DONE, FAILED, BROKE = "done", "failed", "broke"
TAKEN, LEFT = "taken", "left"
PERSON, PERSONA = "person", "persona"
SLACK = "slack"
OTHER = "other"
UNEXPECTED = "unexpected"
"""The reason of a failure by a bug."""

RATE_LIMITED = "app_rate_limited"
"""Slack says that it holds events back."""
DOORS = ("event", "command", "action", "shortcut", "view", RATE_LIMITED, OTHER)
REVIEWS = RESULTS
MODEL_OUTCOMES = (
    ANSWERED, CANCELLED, "refused", "empty", "cut_off", "context", "timeout", "unavailable", "denied",
)  # fmt: skip
"""An answer, or the reason why there is none; "other" is a reason that this table lacks."""
MODEL_TASKS = tuple(one.value for one in ModelTask)
INPUT, OUTPUT, CACHED = "input", "output", "cached"
HANDED_OVER = ("answered", "unanswered")
PUSHES = ("pushed", "nothing", "diverged", "unreachable", "refused")

COMMANDS = tuple(kind_of(command) for command in get_args(Command))
OPEN_STAGES = tuple(stage.value for stage in Stage if stage is not Stage.ANALYSED)
EFFECTS = tuple(effect.model_fields["kind"].default for effect in get_args(get_args(Effect)[0]))

# Slack waits three seconds for an acknowledgement; an effect may wait for a model, or for Slack to calm down.
ACK_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3)
MODEL_SECONDS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120)
EFFECT_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

Facts = Mapping[str, float]
"""The numbers of a part, by name."""
Labelled = tuple[Mapping[str, str], CollectorRegistry]


class Metrics(Meter, ModelMeter):
    """
    Of one process, or of one of its teams. What is counted has the *team* in a label, which is known once Slack has
    said it.
    """

    def __init__(self, team: str = "", *, release: Release | None = None) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the number of series
        self.team = team
        self._of_process, self._of_parts, self._of_team = (CollectorRegistry() for _ in range(3))
        ProcessCollector(registry=self._of_process)
        count = partial(Counter, namespace=NAMESPACE, registry=self._of_team)
        gauge = partial(Gauge, namespace=NAMESPACE, registry=self._of_team)
        time = partial(Histogram, namespace=NAMESPACE, registry=self._of_team)
        process_gauge = partial(Gauge, namespace=NAMESPACE, registry=self._of_process)

        self._inputs = count("inputs", "What people said, pressed and asked for", ["kind", "result"])
        self._effects = count("effects", "What was done in the world", ["kind", "outcome"])
        self._effect_seconds = time(
            "effect_seconds", "From the first attempt to the outcome", ["kind"], buckets=EFFECT_SECONDS
        )
        self._retries = count("effect_retries", "Attempts after the first", ["kind"])
        self._acks = count("acks", "Deliveries of Slack, taken or left for it to repeat", ["door", "result"])
        self._ack_seconds = time(
            "ack_seconds", "From a delivery to its acknowledgement", ["door"], buckets=ACK_SECONDS
        )
        self._conflicts = count("conflicts", "Decisions made again after a concurrent save")
        self._turns = count("turns", "Contributions to discussions", ["by"])
        self._commits = count("commits", "Commits in the workspace", ["of"])
        self._pushes = count("pushes", "Pushes to the remote", ["result"])
        self._reviews = count(
            "reviews", "Reviews taken, and their messages posted, changed or refused", ["result"]
        )
        self._handed_over = count(
            "handed_over", "Deliveries of Slack that another process owns, given to it", ["result"]
        )
        self._pauses = count(
            "pauses", "Roundtables that were paused, by a person or by Slack's refusals", ["by"]
        )

        of_model = ["provider", "model", "task"]
        self._model_calls = count(
            "model_calls", "Calls of models, by what came of them", [*of_model, "outcome"]
        )
        self._model_tokens = count("model_tokens", "Tokens that providers reported", [*of_model, "type"])
        self._model_cost = count("model_cost_usd", "Cost of tokens with a known price", of_model)
        self._model_seconds = time(
            "model_seconds", "From a call of a model to its answer", of_model, buckets=MODEL_SECONDS
        )
        self._build = process_gauge("build_info", "1; which build this is", ["version", "revision"])
        if release:
            self._build.labels(release.version, release.revision).set(1)
        self._usable = Gauge(
            "usable", "1 when the part can be used", ["part"], namespace=NAMESPACE, registry=self._of_parts
        )
        self._open = gauge("open_roundtables", "Roundtables that are not over, in all processes", ["stage"])
        self._facts = _facts_of(gauge, process_gauge)
        self._begin_at_zero()

    # --- from the engine and Slack ----------------------------------------------------------------------------------

    def decided(self, event: Input, before: Roundtable | None, after: Roundtable) -> None:
        if isinstance(event, Command):
            self._inputs.labels(kind_of(type(event)), REPEATED if after is before else SAVED).inc()
        if after is before:
            return
        if isinstance(event, Committed) and before:
            commits = [effect for effect in before.outbox if effect.id == event.effect]
            step = any(isinstance(effect, Commit) and effect.step for effect in commits)
            self._commits.labels("step" if step else "other").inc()
        if before and before.stage is not Stage.PAUSED and after.stage is Stage.PAUSED:
            self._pauses.labels(SLACK if isinstance(event, Failed) else PERSON).inc()
        for by, turns in _turns(before, after).items():
            self._turns.labels(by).inc(turns)

    def refused(self, event: Input, error: BotError) -> None:
        result = REFUSED if isinstance(error, UserError) else UNSAVED
        self._inputs.labels(kind_of(type(event)), result).inc()

    def conflicted(self) -> None:
        self._conflicts.inc()

    def performed(self, effect: Effect, outcome: Outcome, *, seconds: float) -> None:
        self._effects.labels(effect.kind, _result_of(outcome)).inc()
        self._effect_seconds.labels(effect.kind).observe(seconds)

    def retried(self, effect: Effect) -> None:
        self._retries.labels(effect.kind).inc()

    def acknowledged(self, door: str, *, taken: bool, seconds: float) -> None:
        known = door if door in DOORS else OTHER
        self._acks.labels(known, TAKEN if taken else LEFT).inc()
        self._ack_seconds.labels(known).observe(seconds)

    def handed_over(self, *, answered: bool) -> None:
        self._handed_over.labels(HANDED_OVER[not answered]).inc()

    def pushed(self, result: str) -> None:
        assert result in PUSHES, "labels are a fixed set"
        self._pushes.labels(result).inc()

    def reviewed(self, result: str) -> None:
        assert result in REVIEWS, "labels are a fixed set"
        self._reviews.labels(result).inc()

    # --- from models: names are those of the settings, so that there are few ------------------------------------------

    def configured(self, provider: str, model: str) -> None:
        for task in MODEL_TASKS:
            of = provider, model, task
            _touch(self._model_calls, [(*of, outcome) for outcome in (*MODEL_OUTCOMES, OTHER)])
            _touch(self._model_tokens, [(*of, kind) for kind in (INPUT, OUTPUT, CACHED)])
            self._model_seconds.labels(*of)

    def called(
        self, provider: str, model: str, outcome: str, *, task: str, seconds: float, usages: Sequence[Usage]
    ) -> None:
        of = provider, model, task if task in MODEL_TASKS else OTHER
        self._model_calls.labels(*of, outcome if outcome in MODEL_OUTCOMES else OTHER).inc()
        self._model_seconds.labels(*of).observe(seconds)
        for usage in usages:
            amounts = {INPUT: usage.tokens_in, OUTPUT: usage.tokens_out, CACHED: usage.tokens_cached}
            for kind, tokens in amounts.items():
                self._model_tokens.labels(*of, kind).inc(tokens or 0)
            if usage.dollars is not None:
                self._model_cost.labels(*of).inc(float(usage.dollars))

    # --- from probes ------------------------------------------------------------------------------------------------

    def seen(self, part: str, *, usable: bool, facts: Facts) -> None:
        """A number that the part does not give becomes NaN, not its last value."""
        self._usable.labels(part).set(usable)
        for name, number in self._facts.get(part, {}).items():
            number.set(facts.get(name, math.nan))

    def counted(self, stages: Mapping[str, int] | None) -> None:
        """Roundtables by stage; None when the store does not answer."""
        for stage in OPEN_STAGES:
            self._open.labels(stage).set(math.nan if stages is None else stages.get(stage, 0))

    def exposed(self, teams: Iterable["Metrics"] = ()) -> bytes:
        """
        Of this process, and of its *teams* if there are several. What is about a team is left out until the team is
        known: a label must not change.
        """
        ours: list[Labelled] = [({}, self._of_process), ({}, self._of_parts)]
        ours += [({"team": self.team}, self._of_team)] if self.team else []
        return generate_latest(_Page([*ours, *(one for team in teams for one in team.labelled())]))

    def labelled(self) -> Sequence[Labelled]:
        """Of one of several teams."""
        return [({"team": self.team}, registry) for registry in (self._of_parts, self._of_team)]

    def _begin_at_zero(self) -> None:
        """So that rates and alerts have a first value."""
        _touch(self._inputs, product(COMMANDS, (SAVED, REPEATED, REFUSED, UNSAVED)))
        _touch(self._effects, product(EFFECTS, (DONE, FAILED, BROKE)))
        _touch(self._acks, product(DOORS, (TAKEN, LEFT)))
        _touch(self._retries, EFFECTS)
        _touch(self._turns, (PERSON, PERSONA))
        _touch(self._pauses, (PERSON, SLACK))
        _touch(self._commits, ("step", "other"))
        _touch(self._pushes, PUSHES)
        _touch(self._handed_over, HANDED_OVER)
        _touch(self._reviews, REVIEWS)


class _Page(CollectorRegistry):
    """Everything in *registries*, with more labels. A name comes once, with the samples of all."""

    def __init__(self, registries: Sequence[Labelled]) -> None:
        super().__init__()
        self._registries = registries

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        for labels, registry in self._registries:
            for family in registry.collect():
                labelled = [one._replace(labels={**one.labels, **labels}) for one in family.samples]
                if known := families.get(family.name):
                    known.samples += labelled
                else:
                    family.samples = labelled
                    families[family.name] = family
        yield from families.values()


def _facts_of(
    gauge: Callable[[str, str], Gauge], process_gauge: Callable[[str, str], Gauge]
) -> Mapping[str, Mapping[str, Gauge]]:
    """By part, and by the name of the number."""
    hello = process_gauge("slack_hello_age_seconds", "Since Slack last said anything to us")
    shut = gauge("slack_shut_out", "1 when Slack refuses all our calls")
    ahead = gauge("slack_clock_ahead_seconds", "By how much our clock is ahead of Slack's")
    oldest = gauge("queue_oldest_seconds", "How long the oldest effect has waited")
    waiting = gauge("queue_roundtables", "Roundtables with waiting effects, in all processes")
    unshown = gauge("review_queue_oldest_seconds", "How long the oldest effect of a review has waited")
    notices = gauge("review_queue_notices", "Items whose reviews have waiting effects, in all processes")
    differs = gauge("content_differs", "1 when the owner of the team has other steps or personas")
    owner = gauge("owner", "1 when this process owns the team")
    budget = gauge("budget_used_ratio", "How much of the month's budget for models is used; NaN without one")
    budget.set(math.nan)
    lag = process_gauge("loop_lag_seconds", "How late the event loop was, at worst in the last minute")
    return {
        "slack": {"hello_age_seconds": hello, "shut_out": shut, "clock_ahead_seconds": ahead},
        "loop": {"lag_seconds": lag},
        "owner": {"mine": owner},
        "content": {"differs": differs},
        "budget": {"used_ratio": budget},
        "queue": {"oldest_seconds": oldest, "owing": waiting},
        "reviews": {"oldest_seconds": unshown, "owing": notices},
    }


def _touch(counter: Counter, labels: Iterable[str | tuple[str, ...]]) -> None:
    for one in labels:
        counter.labels(*((one,) if isinstance(one, str) else one))


def _result_of(outcome: Outcome) -> str:
    if not isinstance(outcome, Failed):
        return DONE
    return BROKE if outcome.reason == UNEXPECTED else FAILED


def _turns(before: Roundtable | None, after: Roundtable) -> Mapping[str, int]:
    if after.elaboration is None:
        return {}
    known = len(before.elaboration.turns) if before and before.elaboration else 0
    new = after.elaboration.turns[known:]
    people = sum(turn.human for turn in new)
    return {PERSON: people, PERSONA: len(new) - people}
