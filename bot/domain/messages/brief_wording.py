"""The words of the brief: its headings, and a sentence for each entry that it lists."""

from collections.abc import Sequence

from bot.domain.catalog.schema import Kind
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.specification.claims import Entry, StaleCause
from bot.domain.values.text import counted

PROBLEM, WHO, DECISIONS = "Problem", "Who", "Decisions"
REQUIREMENTS, LIMITS, RISKS, NEXT = "Requirements", "Limits and qualities", "Risks", "Next"
OTHER_FILES = "In the other files"
BETTER_WHEN, WHY_NOW, OUT, ASSUMED = "Better when", "Why now", "Out", "Assumed"
NO_CRITERION = "no acceptance criterion yet"
NO_ANSWER = "no answer yet"
NO_PERSON = "nobody yet"
AS_IT_STANDS = "The brief, as it stands. It changes while you talk."


def file_title(title: str) -> str:
    return f"{title}: brief"


def counts(requirements: int, decisions: int, not_settled: int) -> str:
    """`5 requirements, 1 decision, 6 points not settled.`"""
    points = "nothing" if not not_settled else counted(not_settled, "point")
    return f"{counted(requirements, 'requirement')}, {counted(decisions, 'decision')}, {points} not settled."


def more(count: int, file: str = "") -> str:
    return f"and {count} more{f': {file}' if file else ''}"


def with_aside(text: str, aside: str) -> str:
    """Who said it, its priority, why it is doubtful: what is known is in brackets behind it."""
    return f"{text} ({aside})" if aside else text


def doubt(entry: Entry) -> str:
    """Why the entry does not simply hold; empty if it does."""
    if not entry.stale:
        return ""
    claims = (entry.claim(field) for field in entry.stale)
    causes = [one.stale for one in claims if one and one.stale]
    source = next((one.source for one in causes if one.cause is StaleCause.CONTRADICTED and one.source), "")
    return f"contradicted by {source}" if source else "to be confirmed again"


def metric(text: str, before: str, target: str) -> str:
    change = " ".join(filter(None, (f"from {before}" if before else "", f"to {target}" if target else "")))
    return f"{text}, {change}" if change else text


def decision(text: str, by: str, *, options: Sequence[str], reason: str, changes: Sequence[str]) -> str:
    """`words. Option: …. Decided by Ada, Grace and Linus, recorded by Linus. Because: …. Changes AC-002-02.`"""
    decided = by if by.startswith("decided by ") else f"decided by {by}"
    parts = (
        text,
        f"Option: {'; '.join(options)}" if options else "",
        f"{decided[:1].upper()}{decided[1:]}" if by else "",
        f"Because: {reason}" if reason else "",
        f"Changes {', '.join(changes)}" if changes else "",
    )
    return " ".join(_sentence(one) for one in parts if one)


def answered(text: str, answer: str) -> str:
    return f"{text} Answer: {answer}"


def objection(entry: Entry, text: str, answer: str) -> str:
    """One that something has become of."""
    outcome = f"{entry['outcome']}{f': {answer}' if answer else ''}"
    return f"Objection: {text} ({attribution_of(entry, 'text')}); {outcome}"


def quality(text: str, threshold: str) -> str:
    return f"{text}: {threshold}" if threshold else text


def risk(text: str, answer: str, owner: str) -> str:
    return f"{text} -> {answer or NO_ANSWER} ({owner or NO_PERSON})"


def task(text: str, owner: str, *, by_when: str, after: Sequence[str], issue: str = "") -> str:
    """`outbox behind a flag -> Linus, by 12 March, after WRK-001, acme/api#57`"""
    facts = (
        owner or NO_PERSON,
        f"by {by_when}" if by_when else "",
        f"after {', '.join(after)}" if after else "",
        issue,
    )
    return f"{text} -> {', '.join(filter(None, facts))}"


def other_entries(count: int, kind: Kind, file: str) -> str:
    """`3 options: architecture-overview.md`"""
    entries = counted(count, kind.name.lower(), kind.plural.lower())
    return f"{entries}: {file}" if file else entries


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
