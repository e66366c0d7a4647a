"""What other programs post may hold secrets: a review that quotes a log is kept like everything else."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.privacy.redaction import Redactor
from bot.engine.item_locator import ItemLocator
from bot.engine.ports import now
from bot.server.review_webhook import ReviewWebhook
from bot.storage.sqlite import SqliteStore
from slack_sandbox import Sandbox
from tests.engine.review_room import CHANNEL, PASSED, Room, item, room
from tests.test_posted import SECRET, request_body, signed

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
KEY = "the-key-we-were-given-7"


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[tuple[ReviewWebhook, Room]]:
    redactor = Redactor([KEY])
    async with Sandbox() as slack:
        thread = await slack.person("ada").say(CHANNEL, "Offline sync")
        item(tmp_path, slack, thread)
        async with room(slack, tmp_path, thread=thread) as here, SqliteStore(tmp_path / "store") as store:
            homes = ItemLocator(store, here.workspace)
            yield (
                ReviewWebhook(
                    secrets=[SECRET],
                    archive=here.workspace,
                    homes=homes,
                    triage=here.triage,
                    clock=now,
                    redact=lambda text: redactor(text).text,
                ),
                here,
            )


async def test_a_posted_review_is_kept_without_secrets(box: tuple[ReviewWebhook, Room]) -> None:
    """And nothing else of it is changed; it is the same review when it is sent again."""
    postbox, here = box
    body = request_body(f"{PASSED.decode()} log: {TOKEN} {KEY}\n")
    first = await postbox.post(signed(body), body)
    again = await postbox.post(signed(body), body)

    assert (first.status, again.status, again.text) == (201, 200, first.text)
    assert here.review(1) == f"{PASSED.decode()} log: [redacted:github-token] [redacted:configured]\n"


async def test_a_reviewers_name_is_text_like_any_other(box: tuple[ReviewWebhook, Room]) -> None:
    """Somebody's pipeline puts the wrong variable in the field."""
    postbox, here = box
    body = request_body(reviewer=f"lint {TOKEN}")
    await postbox.post(signed(body), body)
    await here.pay()

    (notice,) = here.messages()
    assert "Reviewed by lint [redacted:github-token]." in notice.text
