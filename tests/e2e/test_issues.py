"""A roundtable on an issue of GitHub, from the command to the files in git."""

from tests.e2e.meeting import CHANNEL, Meeting
from tests.integrations.strict_github import TOKEN, strict_github


async def test_an_issue_gives_its_title_and_its_text(meeting: Meeting) -> None:
    """A second start with another name of the same issue links to the thread that there is."""
    async with strict_github() as github:
        github.add("acme/api#42", "Rate limiting of the API", "We fall over.\n<!-- not a comment -->")
        meeting.more = {"ROUNDTABLE_GITHUB_KEY": TOKEN, "ROUNDTABLE_GITHUB_URL": github.url}
        async with meeting.bot():
            await meeting.start(f"{github.url}/acme/api/issues/42", slug="gh-acme_api-42")
            again = await meeting.slack.person("grace").slash(CHANNEL, "/roundtable start acme/api#42")

    assert len(github.asked) == 1
    assert "There is a roundtable on *Rate limiting of the API*" in again.response["text"]
    assert "Rate limiting of the API" in meeting.thread[0].text
    assert meeting.meta["description"] == "Rate limiting of the API"
    assert (meeting.meta["source"], meeting.meta["source_id"]) == ("github", "acme/api#42")
    draft = (meeting.folder / "draft.md").read_text()
    assert draft.startswith(
        f"# Rate limiting of the API\n\n- **Source**: github acme/api#42, <{github.url}/acme/"
    )
    assert "By octo-ada, open, as of 2026-11-24T09:30:00Z:\n\n> We fall over.\n> &lt;!-- not" in draft


async def test_without_a_key_one_sentence_says_so(meeting: Meeting) -> None:
    async with meeting.bot():
        told = await meeting.slack.person("ada").slash(CHANNEL, "/roundtable start acme/api#42")
        await meeting.until(lambda: meeting.slack.messages(CHANNEL))

    assert told.response["text"] == (
        "I have not read acme/api#42: no key for GitHub is set (ROUNDTABLE_GITHUB_KEY)."
    )
    assert "acme/api#42" in meeting.slack.messages(CHANNEL)[0].text
