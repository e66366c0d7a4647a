"""What `roundtable eval` does: reads meetings, says what playing them would cost, and plays them."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from bot.content import load
from bot.domain.catalog.agenda import Playbook
from bot.domain.privacy.redaction import Redact
from bot.domain.values.text import counted
from bot.errors import ConfigError
from bot.settings import Settings
from bot.shipped import meetings_dir, personas_dir, steps_dir
from roundtable_eval.contenders import ExtraModels, opened_players, rehearsing_players
from roundtable_eval.evaluation import AT_ONCE, Evaluation, Rules, evaluated
from roundtable_eval.files import meetings_in
from roundtable_eval.meeting import Meeting
from roundtable_eval.people import ScriptedPeople
from roundtable_eval.planted import PlantedPanel, planted_contenders
from roundtable_eval.scoring import PlayCost

SECONDS_A_CALL = 8
"""An estimate."""


class Wanted(NamedTuple):
    """*planted* names a planted panel, and no model is called; empty for the configured models."""

    paths: Sequence[Path]
    planted: str = ""
    repeats: int = 5
    seed: int = 7
    people: str = ""
    judge: str = ""
    most_dollars: float | None = None

    @property
    def extra(self) -> ExtraModels:
        return ExtraModels(self.people, self.judge)

    @property
    def rules(self) -> Rules:
        most = None if self.most_dollars is None else Decimal(str(self.most_dollars))
        return Rules(self.repeats, self.seed, most_dollars=most)


async def evaluate(
    wanted: Wanted, settings: Settings, redact: Redact, may_start: Callable[[str], bool]
) -> Evaluation | None:
    """
    None when *may_start*, which is told the cost, says no. Raises ContentError for a bad file, ConfigError for a wrong
    setting, and UnequalEvidence.
    """
    playbook = load(settings.personas or personas_dir(), settings.steps or steps_dir())
    meetings = meetings_in(wanted.paths or [meetings_dir()], playbook.roster)
    if wanted.planted:
        contenders = planted_contenders(PlantedPanel(wanted.planted), meetings)
        return await evaluated(meetings, contenders, ScriptedPeople(), wanted.rules)
    cost = await _cost(meetings, wanted, settings, playbook)
    async with opened_players(settings, playbook, redact, wanted.extra) as players:
        if not may_start(cost):
            return None
        rules = wanted.rules._replace(
            judge=players.judge, spent_beside=lambda: players.spent_beside().dollars
        )
        return await evaluated(meetings, players.contenders, players.people, rules)


async def _cost(meetings: Sequence[Meeting], wanted: Wanted, settings: Settings, playbook: Playbook) -> str:
    """By the prompts of the first meeting. Raises ConfigError where a limit is given and a price is not known."""
    players = rehearsing_players(settings, playbook, meetings[0], wanted.extra)
    rules = Rules(repeats=1, draws=1, judge=players.judge)
    tried = await evaluated(meetings[:1], players.contenders, players.people, rules)
    once = [rows[0][0].spent for rows in tried.scores.values()]
    if beside := players.spent_beside().calls:
        once.append(players.spent_beside())
    is_priced = all(one.dollars is not None for one in once)
    if wanted.most_dollars is not None and not is_priced:
        raise ConfigError(
            "--most-dollars: the price of a model is not known, so the limit could not be kept."
        )
    return _told(
        once, len(meetings), wanted.repeats, is_priced=is_priced, contenders=len(once) - bool(beside)
    )


def _told(once: Sequence[PlayCost], meetings: int, repeats: int, *, is_priced: bool, contenders: int) -> str:
    times = meetings * repeats
    calls = sum(one.calls for one in once) * times
    tokens_in, tokens_out = (
        sum(one.tokens_in for one in once) * times / 1e6,
        sum(one.tokens_out for one in once) * times / 1e6,
    )
    dollars = sum((one.dollars or Decimal(0) for one in once), Decimal(0)) * times
    price = f"{dollars:.0f} $ at your prices" if is_priced else "price unknown"
    minutes = calls * SECONDS_A_CALL / AT_ONCE / 60
    return (
        f"{counted(meetings, 'meeting')} × {counted(repeats, 'repeat')} × {counted(contenders, 'contender')}: about"
        f" {calls:,} calls, {tokens_in:.1f} M tokens in, {tokens_out:.1f} M out, {price}, {minutes:.0f} minutes at"
        f" {AT_ONCE} calls at once."
    )
