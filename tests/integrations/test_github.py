"""Issues of GitHub are read, created and renewed by its REST interface, and every refusal is one sentence."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.domain.roundtable.effects import PushIssue
from bot.engine.performers import Performers
from bot.engine.source_ports import IssueStates, PushedIssue, SourceReaders
from bot.errors import EffectError, Postponed
from bot.integrations import github
from bot.integrations.github import GitHub
from tests.domain.table import Table
from tests.integrations.strict_github import (
    APP,
    CREATE,
    INSTALLED,
    LIST,
    NEW_TOKEN,
    OF_APP,
    SEEN,
    TOKEN,
    Exchange,
    Failure,
    StrictGitHub,
    app_key,
    described,
    now,
    pem,
    strict_github,
)  # fmt: skip
from tests.specification.meeting import PLAYBOOK

NAMED = "T1/rate-limiting/WRK-001"
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
DAYS_AGO = "2026-11-20T12:00:00Z"


@pytest.fixture
async def stand_in() -> AsyncIterator[StrictGitHub]:
    async with strict_github() as github:
        yield github


@pytest.fixture
async def tracker(stand_in: StrictGitHub) -> AsyncIterator[GitHub]:
    async with github.opened(TOKEN, url=stand_in.url) as tracker:
        yield tracker


@pytest.fixture
async def as_app(stand_in: StrictGitHub) -> AsyncIterator[GitHub]:
    async with github.opened(pem(app_key()), url=stand_in.url, app=APP) as tracker:
        yield tracker


def wanted(**other: str) -> PushIssue:
    fields = {
        "person": "U1", "entry": "WRK-001", "repository": "acme/api", "title": "Count the calls",
        "text": "WRK-001, a piece of work.\n\n- [ ] AC-001-01: 429 after 100", "asked_at": f"{now()[:19]}.000Z",
    }  # fmt: skip
    return PushIssue(**{**fields, **other})


async def refused(
    stand_in: StrictGitHub,
    reference: str,
    *,
    key: str = TOKEN,
    public_only: bool = False,
    in_a_hurry: bool = False,
) -> str:
    async with github.opened(key, url=stand_in.url) as tracker:
        with pytest.raises(EffectError) as error:
            await tracker.read_issue(reference, public_only=public_only, in_a_hurry=in_a_hurry)
    return str(error.value)


async def not_pushed(tracker: GitHub, effect: PushIssue) -> EffectError:
    with pytest.raises(EffectError) as error:
        await tracker.push(effect, named=NAMED)
    return error.value


# --- the stand-in ---------------------------------------------------------------------------------------------------


async def test_what_github_does_not_describe_is_a_breach() -> None:
    """On either side: each test holds to it all that is asked and answered."""
    description = described()
    if isinstance(description, str):
        pytest.skip(description)
    stand_in = StrictGitHub()
    path = {"owner": "acme", "repo": "api"}
    issue = stand_in.add("acme/api#1", "A", None)
    body = {"title": "A", "body": "B"}
    fine = Exchange(CREATE, path, {}, body, 201, issue)
    listed = Exchange(LIST, path, {"since": now(), "per_page": "30"}, None, 200, [issue])
    short = {name: value for name, value in issue.items() if name != "state"}

    assert [*description.faults(fine), *description.faults(listed)] == []
    wrong = [
        fine._replace(path={"owner": "acme"} | {"name": "api"}),
        fine._replace(query={"per_page": "30"}),
        fine._replace(body={}),
        fine._replace(body={**body, "text": "C"}),
        fine._replace(body={**body, "labels": "C"}),
        fine._replace(status=418),
        fine._replace(answer=short),
        fine._replace(answer={**issue, "number": "1"}),
        listed._replace(query={"since": "yesterday"}),
        listed._replace(query={"since": now()[:19]}),
        listed._replace(query={"per_page": "x"}),
        listed._replace(query={"state": "half"}),
        listed._replace(answer=[issue, short]),
    ]
    assert [one for one in wrong if len([*description.faults(one)]) != 1] == []


# --- reading ----------------------------------------------------------------------------------------------------------


async def test_title_text_author_and_state_are_read(stand_in: StrictGitHub, tracker: GitHub) -> None:
    labels = [{"name": "bug"}, "api"]
    stand_in.add("acme/api#42", "Rate limits", "We fall over.\n\nrequirement: 429 after 100", labels=labels)
    stand_in.comment("It was worse on Monday.")
    issue = await tracker.read_issue("acme/api#42", public_only=False)
    address = f"{stand_in.url}/acme/api/issues/42#issuecomment-1"
    assert await tracker.read_issue(address, public_only=True) == issue

    assert (issue.title, issue.by, issue.state) == ("Rate limits", "octo-ada", "open")
    assert issue.text == "We fall over.\n\nrequirement: 429 after 100"
    assert issue.url == "https://github.com/acme/api/issues/42"
    assert issue.labels == ("bug", "api")
    (comment,) = issue.comments
    assert (comment.by, comment.text) == ("a deleted account", "It was worse on Monday.")
    assert comment.url == f"{issue.url}#issuecomment-7"
    first = "GET /repos/acme/api/issues/42"
    asked = [*[first, f"{first}/comments?per_page=30"] * 2, "GET /repos/acme/api"]
    assert sorted(stand_in.asked) == sorted(asked)


async def test_an_empty_text_a_deleted_author_and_a_long_text_are_no_fault(
    stand_in: StrictGitHub, tracker: GitHub
) -> None:
    stand_in.add("acme/api#42", "Rate limits", None, user=None)
    stand_in.add("acme/api#43", "Rate limits", "a" * 65_536)
    empty, long = [await tracker.read_issue(f"acme/api#{one}", public_only=False) for one in (42, 43)]

    assert (empty.text, empty.by, len(long.text)) == ("", "a deleted account", github.TEXT_CHARS)


@pytest.mark.parametrize(
    ("failure", "sentence", "seconds"),
    [
        (Failure(301, {"Location": "https://evil.example/"}), "it was moved. Use its new address.", None),
        (Failure(401), "GitHub does not accept the key that is set.", None),
        (Failure(403), "GitHub does not allow it with the key that is set.", None),
        (Failure(403, {"Retry-After": "999999999"}), "GitHub asks to wait.", 900),
        (Failure(403, {"X-RateLimit-Remaining": "0"}), "GitHub asks to wait.", 900),
        (Failure(403, message=SECONDARY), "GitHub asks to wait.", 60),
        (Failure(403, {"Retry-After": "7"}, message=SECONDARY), "GitHub asks to wait.", 7),
        (
            Failure(403, message="Forbidden. " * 10_000),
            "GitHub does not allow it with the key that is set.",
            None,
        ),
        (Failure(404), "it does not exist, or the key that is set may not see it.", None),
        (Failure(410), "it was deleted, or the repository has no issues.", None),
        (Failure(422, on=LIST), "GitHub refused it (422).", None),
        (Failure(429, {"Retry-After": "7"}), "GitHub asks to wait.", 7),
        (Failure(503), "GitHub refused it (503).", 0),
    ],
)
async def test_each_refusal_is_one_sentence_and_says_when_to_try_again(
    stand_in: StrictGitHub, tracker: GitHub, failure: Failure, sentence: str, seconds: float | None
) -> None:
    stand_in.failures = [failure]
    if not failure.on:
        assert await refused(stand_in, "acme/api#42") == f"I have not read acme/api#42: {sentence}"
        stand_in.failures = [failure]
    error = await not_pushed(tracker, wanted())

    assert str(error) == f"I have no issue for WRK-001 in acme/api: {sentence}"
    assert (error.after_seconds if error.again else None) == seconds


async def test_no_other_host_gets_the_key() -> None:
    """A redirect is not followed, also where it stays on the host."""
    async with strict_github() as stand_in, strict_github() as other:
        stand_in.failures = [Failure(301, {"Location": f"{other.url}/repos/acme/api/issues/42"})]
        assert "it was moved" in await refused(stand_in, "acme/api#42")
        assert (bool(stand_in.asked), other.asked) == (True, [])


@pytest.mark.parametrize(
    ("reference", "given", "why"),
    [
        ("acme/api#7", {"key": "ghs_wrong"}, "GitHub does not accept the key that is set."),
        ("acme/api#7", {}, "it is a pull request, not an issue."),
        ("acme/web#1", {"public_only": True}, "its repository is private, and guests may read along here."),
    ],
)
async def test_what_is_not_read_is_told_without_the_key(
    stand_in: StrictGitHub, reference: str, given: dict[str, Any], why: str
) -> None:
    stand_in.add("acme/api#7", "A change", "x", pull=True)
    stand_in.add("acme/web#1", "Rate limits", "We fall over.")
    stand_in.private.add("acme/web")

    assert await refused(stand_in, reference, **given) == f"I have not read {reference}: {why}"


async def test_whether_the_key_will_do_is_seen_without_creating_anything() -> None:
    async with strict_github() as stand_in, github.opened(TOKEN, url=stand_in.url) as tracker:
        assert (await tracker.refusal("acme/api"), await tracker.refusal("")) == ("", "")
        stand_in.failures = [Failure(404)]
        assert await tracker.refusal("acme/api") == (
            "Issues of acme/api cannot be read: it does not exist, or the key that is set may not see it."
        )
        stand_in.failures = [Failure(403, on=CREATE)]
        assert await tracker.refusal("acme/api") == (
            "No issue can be created in acme/api: GitHub does not allow it with the key that is set."
        )
        assert stand_in.issues == {}
    async with strict_github() as stand_in, github.opened("ghs_wrong", url=stand_in.url) as tracker:
        assert await tracker.refusal("") == (
            "Issues cannot be read: GitHub does not accept the key that is set."
        )


async def test_another_host_is_never_asked(stand_in: StrictGitHub) -> None:
    """The same path there is another issue."""
    told = await refused(stand_in, "https://codeberg.org/acme/api/issues/42")

    assert told.endswith(f"I read issues of {stand_in.url.removeprefix('http://')} only.")
    assert stand_in.asked == []


@pytest.mark.parametrize(("limit", "in_a_hurry"), [("CALL_SECONDS", False), ("READ_SECONDS", True)])
async def test_a_github_that_is_slow_is_one_sentence(
    stand_in: StrictGitHub, monkeypatch: pytest.MonkeyPatch, limit: str, *, in_a_hurry: bool
) -> None:
    monkeypatch.setattr(github, limit, 0.05)
    stand_in.slow = asyncio.Event()
    assert await refused(stand_in, "acme/api#42", in_a_hurry=in_a_hurry) == (
        "I have not read acme/api#42: GitHub gave no usable answer in time."
    )


async def test_an_answer_without_end_is_not_read_to_its_end(
    stand_in: StrictGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github, "ANSWER_BYTES", 10_000)
    stand_in.add("acme/api#42", "Rate limits", "a" * 65_536)
    assert "no usable answer" in await refused(stand_in, "acme/api#42")


# --- as a GitHub App -------------------------------------------------------------------------------------------------


async def test_an_app_has_a_token_for_each_repository(stand_in: StrictGitHub, as_app: GitHub) -> None:
    """GitHub is asked for it once, and for no more than that repository; issues are marked with the App's own key."""
    stand_in.add("acme/api#42", "Rate limits", "We fall over.")
    made = [await as_app.push(wanted(), named=NAMED) for _ in range(2)]
    issue = await as_app.read_issue("acme/api#42", public_only=True)
    assert (await as_app.refusal("acme/api"), await as_app.refusal("")) == ("", "")
    asked = [(one.operation, one.body) for one in stand_in.said if one.operation in OF_APP]

    assert issue.title == "Rate limits"
    assert made == [PushedIssue("https://github.com/acme/api/issues/43")] * 2
    assert asked == [(INSTALLED, None), (NEW_TOKEN, {"repositories": ["api"]}), (SEEN, None)]


@pytest.mark.parametrize(("lasts", "tokens"), [(3_600, 1), (github.SKEW_SECONDS - 1, 2)])
async def test_a_token_is_renewed_before_it_expires(
    stand_in: StrictGitHub, as_app: GitHub, lasts: int, tokens: int
) -> None:
    stand_in.lasts = lasts
    stand_in.add("acme/api#42", "Rate limits", "")
    for _ in range(2):
        await as_app.states(["https://github.com/acme/api/issues/42"], since="2026-11-24T09:30:00.000Z")

    assert len(stand_in.tokens - {TOKEN}) == tokens


async def test_after_a_token_was_revoked_there_is_another_one(stand_in: StrictGitHub, as_app: GitHub) -> None:
    for _ in range(2):
        assert (await as_app.push(wanted(), named=NAMED)).issue
        stand_in.tokens.clear()

    assert len(stand_in.of("acme/api")) == 1


@pytest.mark.parametrize(
    ("app", "failure", "sentence"),
    [
        (APP, Failure(404, on=INSTALLED), "the App that is set is not installed there."),
        (APP, Failure(403, on=NEW_TOKEN), "GitHub does not let the App in: it may be suspended there."),
        (APP, Failure(429, on=NEW_TOKEN), "GitHub asks to wait."),
        (APP, Failure(503, on=INSTALLED), "GitHub refused it (503)."),
        (APP, Failure(403, on=LIST), "GitHub does not allow it with the key that is set."),
        ("4712", None, "GitHub does not accept the private key of the App that is set."),
    ],
)
async def test_what_keeps_an_app_out_is_one_sentence(
    app: str, failure: Failure | None, sentence: str
) -> None:
    async with (
        strict_github() as stand_in,
        github.opened(pem(app_key()), url=stand_in.url, app=app) as tracker,
    ):
        stand_in.failures = [failure] if failure else []
        assert await tracker.refusal("acme/api") == f"Issues of acme/api cannot be read: {sentence}"
        assert stand_in.failures == []


@pytest.mark.parametrize(
    "key", ["-----BEGIN PRIVATE KEY-----\nc2VzYW1l\n-----END PRIVATE KEY-----", "c2VzYW1l"]
)
async def test_what_is_no_private_key_is_not_shown(key: str) -> None:
    async with github.opened(key, url="http://127.0.0.1:1", app=APP) as tracker:
        assert await tracker.refusal("acme/api") == (
            "Issues of acme/api cannot be read: what is set is no private key of an App (RSA, without a passphrase)."
        )


@pytest.mark.parametrize(
    "answer", ['{"token": "sesame"', '{"token": "sesame", "expires_at": "sesame"}', "sesame"]
)
def test_a_token_that_cannot_be_read_is_not_shown(answer: str) -> None:
    with pytest.raises(ValueError, match="validation error") as error:
        github._APP_TOKEN.validate_json(answer)
    assert "sesame" not in str(error.value)


async def test_without_the_extra_one_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gidgethub.apps", None)
    async with github.opened(pem(app_key()), url="http://127.0.0.1:1", app=APP) as tracker:
        assert await tracker.refusal("") == (
            "Issues cannot be read: this installation lacks the extra `github` (docs/operating.md#extras)."
        )


# --- creating ---------------------------------------------------------------------------------------------------------


async def test_an_issue_is_created_once(stand_in: StrictGitHub, tracker: GitHub) -> None:
    """Our part stands between two marks. Another item, or another team, has an issue of its own."""
    stand_in.add("acme/api#1", "Something else", "<!-- roundtable rate-limiting/WRK-001 0123456789abcdef ")
    made = [await tracker.push(wanted(), named=NAMED) for _ in range(2)]
    other = await tracker.push(wanted(), named="T2/rate-limiting/WRK-001")
    _, issue, _ = stand_in.of("acme/api")

    assert made == [PushedIssue("https://github.com/acme/api/issues/2")] * 2
    assert other == PushedIssue("https://github.com/acme/api/issues/3")
    assert issue["title"] == "Count the calls"
    begin, *text, end = issue["body"].split("\n")
    assert begin.startswith("<!-- roundtable rate-limiting/WRK-001 ")
    assert begin.endswith(": kept by the bot -->")
    assert text == wanted().text.split("\n")
    assert end == "<!-- roundtable rate-limiting/WRK-001 end -->"
    assert TOKEN not in issue["body"]


async def test_a_new_issue_has_the_labels_that_were_typed(stand_in: StrictGitHub, tracker: GitHub) -> None:
    """What people make of them afterwards stays."""
    labelled = wanted().but(labels=("api", "good first issue"))
    issue = (await tracker.push(labelled, named=NAMED)).issue
    (held,) = stand_in.of("acme/api")
    assert held["labels"] == [{"name": "api"}, {"name": "good first issue"}]
    held["labels"] = []
    await tracker.push(labelled.but(issue=issue, text="Now."), named=NAMED)

    assert held["labels"] == []


@pytest.mark.parametrize("others", [0, 230])
async def test_an_issue_whose_answer_was_lost_is_found_again(
    stand_in: StrictGitHub, tracker: GitHub, others: int
) -> None:
    """Also behind pages of issues that others created meanwhile, and when a person asks for it again days later."""
    stand_in.drops_answer = True
    error = await not_pushed(tracker, wanted())
    (made,) = stand_in.of("acme/api")
    made |= dict.fromkeys(("created_at", "updated_at"), DAYS_AGO)
    for number in range(2, 2 + others):
        stand_in.add(f"acme/api#{number}", "Noise", "", created_at=now(), updated_at=now())
    pushed = await tracker.push(wanted(since=DAYS_AGO), named=NAMED)

    assert len(stand_in.of("acme/api")) == 1 + others
    assert error.again
    assert str(error) == "I have no issue for WRK-001 in acme/api: GitHub gave no usable answer in time."
    assert pushed == PushedIssue("https://github.com/acme/api/issues/1")


async def test_where_it_cannot_be_known_none_is_created(
    stand_in: StrictGitHub, tracker: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github, "ON_A_PAGE", 30)
    monkeypatch.setattr(github, "MOST_SEARCHED", 2)
    for number in range(1, 100):
        stand_in.add(f"acme/api#{number}", "Noise", "", created_at=now(), updated_at=now())
    error = await not_pushed(tracker, wanted())
    assert len(stand_in.of("acme/api")) == 99

    assert "I cannot tell whether this one was" in str(error)
    assert "write `WRK-001 issue: ADDRESS`" in str(error)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_our_part_is_renewed_and_words_around_it_stay(
    stand_in: StrictGitHub, tracker: GitHub, end: str
) -> None:
    """Also after a browser has changed the ends of all lines."""
    issue = (await tracker.push(wanted(), named=NAMED)).issue
    (held,) = stand_in.of("acme/api")
    held["body"] = f"Above.\n\n{held['body']}\n\nBelow.".replace("\n", end)
    renewed = [await tracker.push(wanted(issue=issue, text="Now."), named=NAMED) for _ in range(2)]

    assert renewed == [PushedIssue(issue)] * 2
    assert held["body"].startswith("Above.")
    assert held["body"].endswith("Below.")
    assert "\nNow.\n" in held["body"]
    assert "AC-001-01" not in held["body"]
    assert [one for one in stand_in.asked if one.startswith("PATCH")] == ["PATCH /repos/acme/api/issues/1"]


@pytest.mark.parametrize("change", [("429", "503"), (": kept by the bot -->", ""), ("WRK-001 end", "")])
async def test_a_part_that_people_changed_or_removed_is_left_alone(
    stand_in: StrictGitHub, tracker: GitHub, change: tuple[str, str]
) -> None:
    issue = (await tracker.push(wanted(), named=NAMED)).issue
    (held,) = stand_in.of("acme/api")
    held["body"] = changed = held["body"].replace(*change)
    assert await tracker.push(wanted(issue=issue, text="Now."), named=NAMED) == PushedIssue(
        issue, left_alone=True
    )
    assert held["body"] == changed


@pytest.mark.parametrize(
    ("failure", "waits"),
    [
        (Failure(503), [30, 60, 120, 240, 480]),
        (Failure(403, message=SECONDARY), [60, 60, 120, 240, 480]),
        (Failure(429, {"Retry-After": "90"}), [90, 90, 120, 240, 480]),
    ],
)
async def test_it_is_tried_again_at_intervals_that_double(
    stand_in: StrictGitHub, tracker: GitHub, failure: Failure, waits: list[int]
) -> None:
    """Never before the time that GitHub names; six times in all."""
    rt, found = Table(PLAYBOOK).start().rt, list[float]()
    rt = rt.but(manners=rt.manners.but(private=False))
    stand_in.failures = [failure] * 6
    no: Any = None
    ports = Performers(no, no, no, no, now, no, no, sources=SourceReaders(tracker=tracker))
    for attempts in range(1, 6):
        with pytest.raises(Postponed) as later:
            await ports.perform(wanted().but(id="e1", attempts=attempts), rt)
        found.append(later.value.after_seconds)
    with pytest.raises(EffectError) as error:
        await ports.perform(wanted().but(id="e1", attempts=6), rt)

    assert found == waits
    assert not isinstance(error.value, Postponed)


# --- states -----------------------------------------------------------------------------------------------------------


async def test_the_states_of_what_changed_are_read_with_one_call(
    stand_in: StrictGitHub, tracker: GitHub
) -> None:
    issues = []
    for number in (1, 2, 3):
        entry = f"T1/rate-limiting/WRK-00{number}"
        issues.append((await tracker.push(wanted(), named=entry)).issue)
    stand_in.issues["acme/api#3"]["updated_at"] = "2026-01-01T00:00:00Z"
    stand_in.close("acme/api#2")
    stand_in.asked.clear()
    states = await tracker.states(issues, since=f"{now()[:19]}.000Z")

    assert states == IssueStates({issues[0]: "open", issues[1]: "closed"})
    assert len(stand_in.asked) == 1


def busy(stand_in: StrictGitHub, others: int) -> list[str]:
    """Two issues, of which the older one is closed, and what others changed since."""
    for number in range(1, 3 + others):
        stand_in.add(f"acme/api#{number}", "Ours" if number < 3 else "Noise", "", updated_at=now())
    stand_in.issues["acme/api#1"] |= {"state": "closed", "updated_at": DAYS_AGO}
    return [f"https://github.com/acme/api/issues/{number}" for number in (1, 2)]


async def test_an_issue_behind_hundreds_that_changed_later_is_read(
    stand_in: StrictGitHub, tracker: GitHub
) -> None:
    issues = busy(stand_in, 330)

    assert await tracker.states(issues, since=DAYS_AGO) == IssueStates(
        {issues[0]: "closed", issues[1]: "open"}
    )
    assert len(stand_in.asked) == 4


async def test_where_too_much_changed_our_issues_are_read_alone(
    stand_in: StrictGitHub, tracker: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was deleted keeps its state. The address may be written in another way."""
    monkeypatch.setattr(github, "ON_A_PAGE", 5)
    monkeypatch.setattr(github, "MOST_PAGES", 2)
    first, second = busy(stand_in, 20)
    first, deleted = first.replace("acme/api", "Acme/API"), second.replace("/2", "/99")
    states = await tracker.states([first, second, deleted], since=DAYS_AGO)

    assert states == IssueStates({first: "closed", second: "open"})
    assert len(stand_in.asked) == 2 + 3


async def test_a_repository_that_refuses_keeps_no_other_one_back(
    stand_in: StrictGitHub, tracker: GitHub
) -> None:
    """Then not all is known. Where none answers, or GitHub asks to wait, nothing is."""
    issues = busy(stand_in, 0)
    other = stand_in.add("acme/web#1", "Ours", "")["html_url"]
    stand_in.failures = [Failure(404)]
    assert await tracker.states([*issues, other], since=DAYS_AGO) == IssueStates(
        {other: "open"}, complete=False
    )
    for failure in (Failure(404), Failure(429)):
        stand_in.failures = [failure] * 2
        with pytest.raises(EffectError):
            await tracker.states([*issues, other], since=DAYS_AGO)
