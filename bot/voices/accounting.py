"""What a persona's part took, for the line that keeps it: all calls of it together."""

from collections.abc import Iterable
from typing import Any

from bot.engine.voice_ports import Facts
from bot.voices.mind import Usage


def facts_of(usages: Iterable[Usage]) -> Facts:
    """Which model answered last, and what all calls took. A sum of which a part is unknown is unknown."""
    used = tuple(usages)
    if not used:
        return {}
    facts = {
        "provider": used[-1].provider,
        "model": used[-1].model,
        "tokens_in": _sum(one.tokens_in for one in used),
        "tokens_out": _sum(one.tokens_out for one in used),
        "tokens_cached": _sum(one.tokens_cached for one in used),
        "seconds": round(sum(one.seconds for one in used), 3),
        "cost": _sum(one.dollars for one in used),
    }
    facts["cost"] = None if facts["cost"] is None else str(facts["cost"])
    return {name: fact for name, fact in facts.items() if fact is not None}


def _sum(amounts: Iterable[Any]) -> Any:
    known = tuple(amounts)
    return None if None in known else sum(known)
