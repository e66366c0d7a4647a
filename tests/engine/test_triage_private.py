"""Reviews of items that are for their own channel alone, and the secrets that reviewers come upon."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from bot.domain.catalog.personas import Persona
from bot.domain.privacy.redaction import Redactor
from bot.domain.reviews.text import Finding, FindingSeverity, ReviewerOpinion
from bot.domain.values.places import NOWHERE
from slack_sandbox import Sandbox
from tests.engine.review_room import CHANNEL, PASSED, SLUG, Opening, item

TRIAGE = "#triage"
TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
MAYA = "business-analyst"
Keeping = Callable[..., None]


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox() as sandbox:
        sandbox.add_channel(TRIAGE.strip("#"))
        yield sandbox


@pytest.fixture
async def thread(slack: Sandbox) -> str:
    return await slack.person("ada").say(CHANNEL, "Offline sync")


@pytest.fixture
def keep_item(slack: Sandbox, thread: str, tmp_path: Path) -> Keeping:
    """The item of the thread, as the arguments say; nothing runs."""
    return partial(item, tmp_path, slack, thread)


@pytest.mark.parametrize("private", [True, None], ids=["private", "nobody knows"])
async def test_what_is_private_is_told_of_in_its_own_channel(
    open_room: Opening, keep_item: Keeping, slack: Sandbox, *, private: bool | None
) -> None:
    """The triage channel is everybody's, and its notices have a title, a verdict and a link."""
    keep_item(private=private)
    async with open_room(channel=TRIAGE) as here:
        await here.have_shown()
        await here.have_reviewed(MAYA)

    assert slack.messages(TRIAGE) == []
    (notice,) = here.messages()
    assert "review 2. Reviewed by Maya Chen" in notice.text
    assert len(here.details()) == 2


@pytest.mark.parametrize("private", [True, False])
async def test_reviewers_know_the_items_of_the_channel_that_reads_the_review(
    open_room: Opening, keep_item: Keeping, slack: Sandbox, *, private: bool
) -> None:
    """Of a private channel only in a review that stays there; another one may be read by everybody."""
    keep_item(private=private)
    async with open_room(channel=TRIAGE) as here:
        await here.have_reviewed(MAYA)
        (place,) = here.reviewers.places

    home = slack.channel(CHANNEL).id
    assert (place.channel if private else place) == (home if private else NOWHERE)


async def test_a_home_without_a_seal_gets_no_review(
    open_room: Opening, keep_item: Keeping, slack: Sandbox
) -> None:
    """Kept, and told of nowhere: neither in the thread that somebody wrote there, nor in a channel."""
    keep_item(sealed=False)
    async with open_room(channel=TRIAGE) as here:
        await here.have_shown()

        assert here.review(1)
        assert (slack.messages(TRIAGE), here.messages(), here.details()) == ([], [], [])


async def test_an_item_that_becomes_private_takes_its_notice_along(
    open_room: Opening, keep_item: Keeping, slack: Sandbox
) -> None:
    """With the next review; nothing of it is left where everybody reads."""
    keep_item()
    async with open_room(channel=TRIAGE) as here:
        await here.have_shown()
        (public,) = slack.messages(TRIAGE)
        keep_item(private=True)
        await here.have_shown(PASSED + b"2")
        await here.have_shown(PASSED + b"3")

    (left,) = slack.messages(TRIAGE)
    assert "Offline sync" in public.text
    assert left.text == "The reviews of this item are shown in its own channel now."
    (notice,) = here.messages()
    assert "review 3." in notice.text
    assert len(here.details()) == 3


async def test_a_secret_that_a_reviewer_quotes_is_hidden(
    open_room: Opening, keep_item: Keeping, slack: Sandbox
) -> None:
    """Nobody redacted the files of the workspace: somebody may have committed one with a key in it."""

    async def quotes(persona: Persona) -> ReviewerOpinion:
        found = Finding(
            severity=FindingSeverity.CRITICAL, file="quick-scan.md", text=f"There is {TOKEN} in it."
        )
        return ReviewerOpinion(by=persona.label, findings=(found,))

    keep_item()
    async with open_room(says={MAYA: quotes}, redact=lambda text: Redactor()(text).text) as here:
        await here.have_reviewed(MAYA)

        read = await here.triage.read(SLUG, "Offline sync", 1)

    shown = here.review(1) + read.text + str([call.args for call in slack.calls_of("chat.postMessage")])
    assert TOKEN not in shown.replace("\\", "")
    assert "There is [redacted:github-token] in it." in read.text.replace("\\", "")


async def test_a_secret_that_escapes_hide_is_not_shown(open_room: Opening, keep_item: Keeping) -> None:
    """Slack shows text without its escapes: what another program sent may hide a token in them."""
    keep_item()
    redact = Redactor()
    async with open_room(redact=lambda text: redact(text).text) as here:
        await here.have_shown(f"There is {TOKEN.replace('_', chr(92) + '_')} in it.".encode())
        read = await here.triage.read(SLUG, "Offline sync", 0)

    assert "There is [redacted:github-token] in it." in read.text
