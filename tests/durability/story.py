"""What happened, for whoever has to find out why."""

from collections.abc import Iterable
from pathlib import Path

from slack_sandbox import SandboxMessage
from tests.durability.checks import Item, git
from tests.durability.plan import Verdict
from tests.durability.team import Team

LOG_LINES = 25


def told(verdict: Verdict, teams: list[Team], workspace: Path, logs: list[Path]) -> str:
    parts = [
        "\n".join(("WRONG", *verdict.wrong)),
        "\n".join(
            (
                "KILLS",
                *(
                    f"{n}. {one.how} ({one.code}) after {one.seconds:.2f} s"
                    for n, one in enumerate(verdict.killed, 1)
                ),
            )
        ),
        *(f"{team.slug.upper()}: {team.doing}\n" + _thread(team.thread) for team in teams),
        *(f"TRANSCRIPT of {team.slug}\n" + _transcript(Item(workspace, team.slug)) for team in teams),
        "COMMITS\n" + git(workspace, "log", "--format=%h %an %s %(trailers:key=Roundtable-Effect)").stdout,
        *(f"{log.name}\n" + "\n".join(log.read_text().splitlines()[-LOG_LINES:]) for log in logs[-3:]),
    ]
    return "\n\n".join(parts)


def _thread(messages: Iterable[SandboxMessage]) -> str:
    return "\n".join(
        f"  {one.ts} {one.username or one.user}: {one.text[:90]!r} {_key(one)} {' '.join(one.actions)}"
        for one in messages
    )


def _key(message: SandboxMessage) -> str:
    return str(message.metadata.get("event_payload", {}).get("key", ""))


def _transcript(item: Item) -> str:
    try:
        lines = item.transcript.lines
    except FileNotFoundError:
        return "  there is none"
    return "\n".join(
        f"  {one.round} {one.actor}: {one.content[:80]!r} {one.message_id} {one.meta.get('message_ts', '')}"
        for one in lines
    )
