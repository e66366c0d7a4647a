"""What `roundtable eval` prints: a row for each contender and each comparison, and the verdict in the last line."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from bot.domain.values.text import counted
from roundtable_eval.evaluation import Evaluation
from roundtable_eval.scoring import Score
from roundtable_eval.verdict import Interval, Scores

NAME_CHARS, RIVAL_CHARS = 18, 26


class Measure(NamedTuple):
    """The mean over all plays, in the *form* of a format specification."""

    label: str
    of: Callable[[Score], float]
    form: str


MEASURES = (
    Measure("net", lambda one: one.net, "5.2f"),
    Measure("surfaced", lambda one: one.share(one.surfaced), "4.0%"),
    Measure("per question", lambda one: one.surfaced_per_question, "4.2f"),
    Measure("recorded", lambda one: one.share(one.recorded), "4.0%"),
    Measure("wrong", lambda one: one.wrong, "4.2f"),
    Measure("tokens", lambda one: one.spent.tokens, "7,.0f"),
)
BESIDE = (
    Measure("dissents lost", lambda one: one.dissents_lost, "4.2f"),
    Measure("decisions invented", lambda one: one.decisions_invented, "4.2f"),
    Measure("questions", lambda one: one.asked, "3.1f"),
    Measure("calls", lambda one: one.spent.calls, "4.1f"),
    Measure("tokens in", lambda one: one.spent.tokens_in, "7,.0f"),
    Measure("cached", lambda one: one.spent.tokens_cached, "7,.0f"),
    Measure("out", lambda one: one.spent.tokens_out, "6,.0f"),
    Measure("seconds to the first question", lambda one: one.spent.first_question_seconds, "4.0f"),
    Measure("in all", lambda one: one.spent.seconds, "4.0f"),
)


def as_text(found: Evaluation) -> str:
    return "\n".join([*_rows(found), found.verdict.sentence])


def _rows(found: Evaluation) -> Iterator[str]:
    yield f"{counted(len(found.meetings), 'meeting')}, {counted(found.repeats, 'repeat')}, seed {found.seed}"
    if bare := _without_sheets(found):
        yield f"Without sheets, so people answer nothing: {', '.join(bare)}"
    for measures in (MEASURES, BESIDE):
        for name, scores in found.scores.items():
            row = "  ".join(f"{one.label} {_mean(scores, one.of):{one.form}}" for one in measures)
            dollars = f"  {_dollars(scores)}" if measures is BESIDE else ""
            yield f"{name.ljust(NAME_CHARS)} {row}{dollars}"
    for name, scores in found.scores.items():
        if why := [one.failed for row in scores for one in row if one.failed]:
            yield f"{name} left no record in {counted(len(why), 'play')}: {why[0]}"
        if why := [told for row in scores for one in row for told in one.unanswered]:
            reviews = sum(len(one.unreviewed) for row in scores for one in row)
            yield f"{name} lacks {counted(len(why), 'answer')} of models ({counted(reviews, 'review')}): {why[0]}"
    for one in found.comparisons:
        named = f"panel − {one.rival}".ljust(RIVAL_CHARS)
        yield f"{named} {_told(one.difference)} at {one.times:.1f} x the tokens: {one.outcome}"
    for judged in found.judgements:
        counts = f"{judged.wins} better, {counted(judged.ties, 'tie')}, {judged.losses} worse"
        yield f"judge: panel beside {judged.rival}: {counts}, {_told(judged.preference)}"


def _without_sheets(found: Evaluation) -> list[str]:
    return [one.key for one in found.meetings if not one.has_sheets]


def _mean(scores: Scores, of: Callable[[Score], float]) -> float:
    values = [of(one) for row in scores for one in row]
    return sum(values) / len(values)


def _dollars(scores: Scores) -> str:
    prices = [one.spent.dollars for row in scores for one in row]
    known = [one for one in prices if one is not None]
    return f"{sum(known, Decimal(0)):.2f} $ for all plays" if len(known) == len(prices) else "price unknown"


def _told(found: Interval) -> str:
    return f"{found.mean:+.2f} ({found.low:+.2f} … {found.high:+.2f})"


def as_json(found: Evaluation) -> Mapping[str, Any]:
    return {
        "verdict": found.verdict.sentence,
        "code": int(found.verdict.code),
        "seed": found.seed,
        "repeats": found.repeats,
        "without_sheets": _without_sheets(found),
        "comparisons": [
            {
                "rival": one.rival,
                "outcome": one.outcome,
                "tokens": one.times,
                "difference": one.difference._asdict(),
            }
            for one in found.comparisons
        ],
        "judge": [{**one._asdict(), "preference": one.preference._asdict()} for one in found.judgements],
        "scores": [
            {"meeting": meeting.key, "contender": name, "repeat": repeat, **_fields(one)}
            for name, scores in found.scores.items()
            for meeting, row in zip(found.meetings, scores, strict=True)
            for repeat, one in enumerate(row, start=1)
        ],
    }


def _fields(one: Score) -> Mapping[str, Any]:
    spent = one.spent._asdict()
    spent["dollars"] = None if one.spent.dollars is None else str(one.spent.dollars)
    return {**one._asdict(), "net": one.net, "spent": spent}
