"""Reviews of items that are for their own channel alone, and the secrets that reviewers come upon."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.catalog.personas import Persona
from bot.domain.privacy.redaction import Redactor
from bot.domain.reviews.text import Finding, FindingSeverity, ReviewerOpinion
from bot.domain.values.places import NOWHERE
from slack_sandbox import Sandbox
from tests.engine.review_room import CHANNEL, PASSED, SLUG, item, room

TRIAGE = "#triage"
TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
MAYA = "business-analyst"


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox() as sandbox:
        sandbox.add_channel(TRIAGE.strip("#"))
        yield sandbox


@pytest.mark.parametrize("private", [True, None], ids=["private", "nobody knows"])
async def test_what_is_private_is_told_of_in_its_own_channel(
    slack: Sandbox,
    tmp_path: Path,
    private: bool | None,  # noqa: FBT001
) -> None:
    """The triage channel is everybody's, and its notices have a title, a verdict and a link."""
    thread = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, thread, private=private)
    async with room(slack, tmp_path, thread=thread, channel=TRIAGE) as here:
        await here.have_shown()
        await here.have_reviewed(MAYA)

    assert slack.messages(TRIAGE) == []
    (notice,) = here.messages()
    assert "review 2. Reviewed by Maya Chen" in notice.text
    assert len(here.details()) == 2


@pytest.mark.parametrize("private", [True, False])
async def test_reviewers_know_the_items_of_the_channel_that_reads_the_review(
    slack: Sandbox,
    tmp_path: Path,
    private: bool,  # noqa: FBT001
) -> None:
    """Of a private channel only in a review that stays there; another one may be read by everybody."""
    thread = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, thread, private=private)
    async with room(slack, tmp_path, thread=thread, channel=TRIAGE) as here:
        await here.have_reviewed(MAYA)
        (place,) = here.reviewers.places

    home = slack.channel(CHANNEL).id
    assert (place.channel if private else place) == (home if private else NOWHERE)


async def test_a_home_without_a_seal_gets_no_review(slack: Sandbox, tmp_path: Path) -> None:
    """Kept, and told of nowhere: neither in the thread that somebody wrote there, nor in a channel."""
    thread = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, thread, sealed=False)
    async with room(slack, tmp_path, thread=thread, channel=TRIAGE) as here:
        await here.have_shown()

        assert here.review(1)
        assert (slack.messages(TRIAGE), here.messages(), here.details()) == ([], [], [])


async def test_an_item_that_becomes_private_takes_its_notice_along(slack: Sandbox, tmp_path: Path) -> None:
    """With the next review; nothing of it is left where everybody reads."""
    thread = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, thread)
    async with room(slack, tmp_path, thread=thread, channel=TRIAGE) as here:
        await here.have_shown()
        (public,) = slack.messages(TRIAGE)
        item(tmp_path, slack, thread, private=True)
        await here.have_shown(PASSED + b"2")
        await here.have_shown(PASSED + b"3")

    (left,) = slack.messages(TRIAGE)
    assert "Offline sync" in public.text
    assert left.text == "The reviews of this item are shown in its own channel now."
    (notice,) = here.messages()
    assert "review 3." in notice.text
    assert len(here.details()) == 3


async def test_a_secret_that_a_reviewer_quotes_is_hidden(slack: Sandbox, tmp_path: Path) -> None:
    """Nobody redacted the files of the workspace: somebody may have committed one with a key in it."""

    async def quotes(persona: Persona) -> ReviewerOpinion:
        found = Finding(
            severity=FindingSeverity.CRITICAL, file="quick-scan.md", text=f"There is {TOKEN} in it."
        )
        return ReviewerOpinion(by=persona.label, findings=(found,))

    thread = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, thread)
    async with room(
        slack, tmp_path, thread=thread, says={MAYA: quotes}, redact=lambda text: Redactor()(text).text
    ) as here:
        await here.have_reviewed(MAYA)

        read = await here.triage.read(SLUG, "Offline sync", 1)

    shown = here.review(1) + read.text + str([call.args for call in slack.calls_of("chat.postMessage")])
    assert TOKEN not in shown.replace("\\", "")
    assert "There is [redacted:github-token] in it." in read.text.replace("\\", "")


async def test_a_secret_that_escapes_hide_is_not_shown(slack: Sandbox, tmp_path: Path) -> None:
    """Slack shows text without its escapes: what another program sent may hide a token in them."""
    thread = await slack.person("ada").say(CHANNEL, "Offline sync")
    item(tmp_path, slack, thread)
    redact = Redactor()
    async with room(slack, tmp_path, thread=thread, redact=lambda text: redact(text).text) as here:
        await here.have_shown(f"There is {TOKEN.replace('_', chr(92) + '_')} in it.".encode())
        read = await here.triage.read(SLUG, "Offline sync", 0)

    assert "There is [redacted:github-token] in it." in read.text
