"""The quality card as people read it: one line of small print below a synthesis."""

from bot.domain.quality import Card
from bot.domain.text import counted
from bot.domain.wording import listed


def line(card: Card) -> str:
    return " · ".join(
        part for part in (*_measured(card), *(_recorded(card) if card.recorded else ())) if part
    )


def _measured(card: Card) -> tuple[str, ...]:
    turns = ", ".join(f"{name} {count}" for name, count in card.speakers.items())
    silent = f"{listed(card.silent)} silent" if card.silent else ""
    return (
        f"{counted(card.turns, 'turn')} ({turns})",
        silent,
        f"{card.sourced} of {counted(card.insights, 'insight')} with a source" if card.insights else "",
    )


def _recorded(card: Card) -> tuple[str, ...]:
    moved = counted(card.flips, "change of position", "changes of position")
    return (
        f"{card.facts_kept} of {card.facts} facts kept" if card.facts else "",
        f"{card.objections_kept} of {card.objections} objections kept" if card.objections else "",
        f"{moved}, {card.unbacked or 'none'} without anything new" if card.flips else "",
        f"agreed too easily on {listed(card.collapsed)}" if card.collapsed else "",
    )
