"""Issues of GitHub are read by its REST interface, and every refusal is one sentence."""

import pytest

from bot.errors import EffectError
from bot.integrations import github
from tests.integrations.strict_github import TOKEN, StrictGitHub, strict_github


async def refused(stand_in: StrictGitHub, reference: str, *, key: str = TOKEN) -> str:
    async with github.opened(key, url=stand_in.url) as tracker:
        with pytest.raises(EffectError) as error:
            await tracker.read_issue(reference)
    return str(error.value)


async def test_title_text_author_and_state_are_read() -> None:
    async with strict_github() as stand_in, github.opened(TOKEN, url=stand_in.url) as tracker:
        stand_in.add("acme/api#42", "Rate limits", "We fall over.\n\nrequirement: 429 after 100")
        issue = await tracker.read_issue("acme/api#42")
        assert await tracker.read_issue(f"{stand_in.url}/acme/api/issues/42#issuecomment-1") == issue

    assert (issue.title, issue.by, issue.state) == ("Rate limits", "octo-ada", "open")
    assert issue.text == "We fall over.\n\nrequirement: 429 after 100"
    assert issue.url == "https://github.com/acme/api/issues/42"
    assert stand_in.asked == ["GET /repos/acme/api/issues/42"] * 2


async def test_an_empty_text_and_a_deleted_author_are_no_fault() -> None:
    async with strict_github() as stand_in, github.opened(TOKEN, url=stand_in.url) as tracker:
        stand_in.add("acme/api#42", "Rate limits", None, user=None)
        issue = await tracker.read_issue("acme/api#42")

    assert (issue.text, issue.by) == ("", "a deleted account")


async def test_a_long_text_is_cut() -> None:
    async with strict_github() as stand_in, github.opened(TOKEN, url=stand_in.url) as tracker:
        stand_in.add("acme/api#42", "Rate limits", "a" * 65_536)
        assert len((await tracker.read_issue("acme/api#42")).text) == github.TEXT_CHARS


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (403, "GitHub does not allow it with the key that is set, or asks to wait."),
        (404, "there is no such issue, or the key that is set may not see it."),
        (410, "the issue was deleted."),
        (429, "GitHub asks to wait."),
        (503, "GitHub refused it (503)."),
    ],
)
async def test_each_refusal_is_one_sentence(status: int, sentence: str) -> None:
    async with strict_github() as stand_in:
        stand_in.next_status = status
        assert await refused(stand_in, "acme/api#42") == f"I have not read acme/api#42: {sentence}"


async def test_a_wrong_key_is_not_shown() -> None:
    async with strict_github() as stand_in:
        told = await refused(stand_in, "acme/api#42", key="ghs_wrong")

    assert told == "I have not read acme/api#42: GitHub does not accept the key that is set."


async def test_a_pull_request_is_no_issue() -> None:
    async with strict_github() as stand_in:
        stand_in.add("acme/api#7", "A change", "x", pull=True)
        told = await refused(stand_in, "acme/api#7")

    assert told == "I have not read acme/api#7: it is a pull request, not an issue."


async def test_another_host_is_never_asked() -> None:
    """The same path there is another issue."""
    async with strict_github() as stand_in:
        told = await refused(stand_in, "https://codeberg.org/acme/api/issues/42")
        assert stand_in.asked == []

    assert told.endswith(f"I read issues of {stand_in.url.removeprefix('http://')} only.")


async def test_a_github_that_is_away_is_one_sentence() -> None:
    async with strict_github() as stand_in:
        pass
    assert await refused(stand_in, "acme/api#42") == (
        "I have not read acme/api#42: GitHub gave no usable answer in time."
    )


async def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(github, "ANSWER_BYTES", 10_000)
    async with strict_github() as stand_in:
        stand_in.add("acme/api#42", "Rate limits", "a" * 65_536)
        assert "no usable answer" in await refused(stand_in, "acme/api#42")
