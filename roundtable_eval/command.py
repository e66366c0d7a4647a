"""What `roundtable eval` does: reads meetings, says what playing them would cost, and plays them."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from bot.content.playbook import load
from bot.domain.catalog.agenda import Playbook
from bot.domain.privacy.redaction import Redact
from bot.domain.values.text import counted
from bot.errors import ConfigError
from bot.settings import Settings
from bot.shipped import meetings_dir, personas_dir, steps_dir
from roundtable_eval.contenders import opened_players, rehearsing_players
from roundtable_eval.evaluation import AT_ONCE, Evaluation, Rules, evaluated
from roundtable_eval.files import meetings_in
from roundtable_eval.meeting import Meeting
from roundtable_eval.people import ScriptedPeople
from roundtable_eval.planted import PlantedPanel, planted_contenders

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
    def further(self) -> dict[str, str]:
        """Models that the settings do not name."""
        return {"people": self.people, "judge": self.judge}

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
    async with opened_players(settings, playbook, redact, **wanted.further) as players:
        if not may_start(cost):
            return None
        rules = wanted.rules._replace(judge=players.judge, spent_beside=lambda: players.cost_beside().dollars)
        return await evaluated(meetings, players.contenders, players.people, rules)


async def _cost(meetings: Sequence[Meeting], wanted: Wanted, settings: Settings, playbook: Playbook) -> str:
    """By the prompts of the first meeting. Raises ConfigError where a limit is given and a price is not known."""
    players = rehearsing_players(settings, playbook, meetings[0], **wanted.further)
    rules = Rules(repeats=1, draws=1, judge=players.judge)
    tried = await evaluated(meetings[:1], players.contenders, players.people, rules)
    once = [*(rows[0][0].spent for rows in tried.scores.values()), players.cost_beside()]
    priced = [one.dollars for one in once if one.dollars is not None]
    if wanted.most_dollars is not None and len(priced) < len(once):
        raise ConfigError(
            "--most-dollars: the price of a model is not known, so the limit could not be kept."
        )
    times = len(meetings) * wanted.repeats
    calls = times * sum(one.calls for one in once)
    tokens_in = times * sum(one.tokens_in for one in once) / 1e6
    tokens_out = times * sum(one.tokens_out for one in once) / 1e6
    price = f"{sum(priced) * times:.0f} $ at your prices" if len(priced) == len(once) else "price unknown"
    return (
        f"{counted(len(meetings), 'meeting')} × {counted(wanted.repeats, 'repeat')} ×"
        f" {counted(len(players.contenders), 'contender')}: about {calls:,} calls, {tokens_in:.1f} M tokens in,"
        f" {tokens_out:.1f} M out, {price}, {calls * SECONDS_A_CALL / AT_ONCE / 60:.0f} minutes at {AT_ONCE} calls"
        " at once."
    )
