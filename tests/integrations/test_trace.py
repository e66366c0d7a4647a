"""What the code shows of what was agreed, as `roundtable trace` and `roundtable why` say it in a clone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.specification.citations import CitingRow
from bot.domain.transcript.seal import OF_SEALING
from bot.integrations.exports import FORMATS, exported
from bot.integrations.trace import AgreedFacts, CodeFacts, gathered, is_test, items_named
from tests.command_line import Cli, CommandLine, Ran
from tests.growth import grows_no_faster
from tests.integrations.test_exports import item
from tests.integrations.traced import AFTER, BEFORE, TESTS, LimitsMeeting, TracedCode
from tests.specification.meeting import make_entry


def found_in(ran: Ran) -> set[tuple[str, str, str, str]]:
    """Rule, level, address and place of each finding of `trace --json`."""
    return {
        (one["rule"], one["level"], one["address"], f"{one['path']}:{one['line']}")
        for one in ran.json["findings"]
    }


def rules_in(ran: Ran) -> set[tuple[str, str]]:
    return {(rule, address) for rule, _, address, _ in found_in(ran)}


def levels_in(ran: Ran) -> dict[str, str]:
    return {one["address"].partition("/")[2]: one["level"] for one in ran.json["entries"]}


def file_of(code: TracedCode) -> Any:
    return json.loads((code.git.root / "roundtable-trace.json").read_text("utf-8"))


# --- evidence -------------------------------------------------------------------------------------------------------


async def test_a_project_begins_without_any_mark(code: TracedCode, cli: Cli) -> None:
    """The code that people looked at is evidence; a baseline takes the gaps of today, and only new ones fail."""
    sha = code.commit({"src/limit.py": "LIMIT = 100\n", "src/gone.py": ""}, at=BEFORE)
    meeting = LimitsMeeting()
    meeting.change("Grace", "FR-001", f"src/limit.py:1@{sha[:7]}", detail="as today")
    meeting.change("Grace", "FR-002", f"src/other.py:1@{sha[:7]}", detail="as today")
    code.record(meeting)

    first = await cli("trace", "--json")
    assert (first.code, first.err) == (0, "")
    assert levels_in(first)["FR-001"] == "sourced"
    assert levels_in(first)["FR-002"] == "silent"
    assert found_in(first) == {
        ("untested", "error", "limits/FR-001", "src/limit.py:1"),
        ("untested", "warning", "limits/FR-002", ":0"),
    }
    assert (await cli("trace", "--check")).code == 1

    assert (await cli("trace", "--baseline-now")).code == 0
    again = await cli("trace", "--check")
    assert again.code == 0
    assert "0 findings, 2 older ones in the baseline." in again.out


async def test_tests_commits_and_other_files_are_told_apart(code: TracedCode, cli: Cli) -> None:
    """The strongest counts, and what names a criterion counts for its requirement."""
    code.record(LimitsMeeting())
    code.commit({"tests/test_limit.py": TESTS, "src/limit.py": "# limits/DEC-001\n"})
    code.commit({}, "Raise a limit\n\nImplements: limits/FR-002")

    ran = await cli("trace", "--json")
    assert levels_in(ran) == {
        "FR-001": "tested", "AC-001-01": "tested", "AC-001-02": "tested", "FR-002": "cited", "DEC-001": "cited",
    }  # fmt: skip
    assert rules_in(ran) == {("untested", "limits/FR-002")}
    assert "limits/FR-002" in ran.out
    assert "no test names it (cited)." in ran.out


async def test_a_criterion_without_a_test_is_told_with_its_requirement(code: TracedCode, cli: Cli) -> None:
    """A test that names the requirement says nothing about its criteria."""
    code.record(LimitsMeeting())
    code.commit({"tests/test_limit.py": "# limits/FR-001, limits/AC-001-01\n# limits/FR-002\n"})

    ran = await cli("trace")
    row, gap, *_, finding, _, count = ran.out.splitlines()
    assert row == "tested   limits/FR-001 Each tenant gets at most 100 requests a second"
    assert gap.split() == ["no", "test", "names", "AC-001-02"]
    assert "no test names AC-001-02. [untested]" in finding
    assert "said by Grace, https://acme.slack.com/archives/" in finding
    assert count == "1 finding."


async def test_the_record_and_its_copies_are_no_evidence(code: TracedCode, cli: Cli) -> None:
    """Nor is what no person wrote: long rows, binary files, and files that git does not know."""
    code.record(LimitsMeeting())
    code.commit(
        {
            "specs/001/spec.md": "limits/FR-001\n",
            "openspec/specs/limits/spec.md": "limits/FR-001\n",
            ".kiro/specs/limits/requirements.md": "limits/FR-001\n",
            "docs/specs/limits.md": "limits/FR-002\n\n**FR-001** <!-- limits/FR-001 0123abcd: said by Grace -->\n",
            "dist/bundle.js": f"{'x' * 2_000} limits/FR-001\n",
        }
    )
    code.git.write("tests/test_new.py", "# limits/FR-001\n")

    assert set(levels_in(await cli("trace", "--json")).values()) == {"silent"}


async def test_what_stands_with_an_export_is_no_evidence(code: TracedCode, cli: Cli) -> None:
    """Task lists and plans have no mark of their own. At the top of a repository, only the file itself is a copy."""
    mark = "**FR-001** <!-- limits/FR-001 0123abcd: said by Grace -->\n"
    code.record(LimitsMeeting())
    code.commit(
        {
            "docs/specs/limits/spec.md": mark,
            "docs/specs/limits/tasks.md": "- [ ] 1.1 limits/FR-001\n",
            "docs/specs/limits/contracts/api.yaml": "# limits/AC-001-01\n",
            "docs/specs/limits.txt": "limits/FR-002\n",
            "AGREED.md": mark,
            "src/limit.py": "# limits/DEC-001\n",
            "tests/marks.py": mark,
            "tests/test_limit.py": "# limits/AC-001-02\n",
        }
    )

    assert levels_in(await cli("trace", "--json")) == {
        "FR-001": "tested", "AC-001-01": "silent", "AC-001-02": "tested", "FR-002": "tested", "DEC-001": "cited",
    }  # fmt: skip


async def test_a_task_list_of_a_custom_folder_tests_nothing(code: TracedCode, cli: Cli) -> None:
    """Below `specs` it would count as a test."""
    code.record(LimitsMeeting())
    limits = item(LimitsMeeting(), slug="limits")
    for target in FORMATS:
        code.commit(exported(limits, target, f"docs/specs/{target}/{{slug}}"))

    assert set(levels_in(await cli("trace", "--json")).values()) == {"silent"}


NAMES = st.lists(st.text("ab-./", min_size=1, max_size=6), max_size=5)


@given(folders=NAMES, paths=NAMES)
def test_what_stands_in_a_marked_folder_is_no_evidence(folders: list[str], paths: list[str]) -> None:
    """However the names of folders begin."""
    marked = [
        CitingRow(f"{one}/spec.md", 1, "<!-- limits/FR-001 0123abcd: said by Grace -->") for one in folders
    ]
    rows = [CitingRow(f"{one}.py", 1, "limits/FR-001") for one in paths]
    found = gathered(AgreedFacts([], ("limits", "other")), CodeFacts([*marked, *rows], (), ()))

    outside = [one for one in rows if not any(one.path.startswith(f"{folder}/") for folder in folders)]
    assert [one.path for one in found.findings] == [one.path for one in outside]


def test_many_marked_folders_are_looked_through_once() -> None:
    def copies(number: int) -> list[CitingRow]:
        mark = "<!-- limits/FR-001 0123abcd: said by Grace -->"
        marked = [CitingRow(f"a{one}/spec.md", 1, mark) for one in range(number)]
        return [*marked, *(CitingRow(f"b{one}.py", 1, "limitz/FR-001") for one in range(number))]

    facts = AgreedFacts([], tuple(f"limits-{one}" for one in range(500)))
    grows_no_faster(lambda rows: gathered(facts, CodeFacts(rows, (), ())), copies, 4_000)


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("tests/limits.py", True),
        ("src/__tests__/limit.js", True),
        ("pkg/limit_test.go", True),
        ("src/limit.test.ts", True),
        ("src/main/LimitTest.java", True),
        ("e2e/limit.feature", True),
        ("spec/limit_spec.rb", True),
        ("src/limit.py", False),
        ("src/contest.py", False),
        ("docs/testing.md", False),
        ("proofs/limit.v", True),
    ],
)
def test_tests_are_known_by_the_names_of_many_languages(path: str, *, is_one: bool) -> None:
    assert is_test(path, ["proofs/**"]) is is_one


# --- findings -------------------------------------------------------------------------------------------------------


async def test_a_changed_entry_is_stale_until_the_code_is_read_again(code: TracedCode, cli: Cli) -> None:
    """Whether a file or a commit cites it; a new change makes it stale once more."""
    code.commit({"src/limit.py": "# limits/FR-002\n"}, "Begin\n\nImplements: limits/DEC-001", at=BEFORE)
    meeting = LimitsMeeting()
    meeting.change("Ada", "DEC-001", text="A leaky bucket in the gateway")
    meeting.change("Linus", "FR-002", title="Operators can raise a limit within a minute")
    code.record(meeting)

    ran = await cli("trace", "--json")
    stale = {one for one in found_in(ran) if one[0] == "stale"}
    assert stale == {
        ("stale", "error", "limits/DEC-001", ":0"),
        ("stale", "warning", "limits/FR-002", "src/limit.py:1"),
    }
    assert (
        "limits/DEC-001 changed 2026-11-22, after the newest work that cites it (said by Ada, https://"
        in ran.out
    )
    assert "Read it again, then roundtable trace accept limits/DEC-001" in ran.out

    accepted = await cli("trace", "accept", "limits/DEC-001", "limits/FR-002")
    assert accepted.code == 0
    assert "stale" not in (await cli("trace")).out
    meeting.change("Ada", "DEC-001", text="A fixed window")
    code.record(meeting)
    assert ("stale", "limits/DEC-001") in rules_in(await cli("trace", "--json"))
    assert ("stale", "limits/FR-002") not in rules_in(await cli("trace", "--json"))


async def test_what_an_edited_message_says_is_another_text(code: TracedCode, cli: Cli) -> None:
    meeting = LimitsMeeting()
    line = meeting.say("Grace", "01-06", "requirement: Limits survive a restart")
    code.commit({"tests/test_limit.py": "# limits/FR-003\n"}, at=BEFORE)
    code.record(meeting)
    assert ("stale", "limits/FR-003") not in rules_in(await cli("trace", "--json"))

    meeting.say("Grace", "01-06", "requirement: Limits survive a failover", amends=line)
    code.record(meeting)
    assert ("stale", "limits/FR-003") in rules_in(await cli("trace", "--json"))


async def test_an_entry_with_its_first_words_is_never_stale(code: TracedCode, cli: Cli) -> None:
    """A new reason, rank or detail is nothing that code has to follow; nor is a change that later work cites."""
    code.commit({"src/limit.py": "# limits/FR-001 limits/DEC-001\n"}, at=BEFORE)
    meeting = LimitsMeeting()
    meeting.change("Grace", "FR-001", priority="should", reason="one tenant slows all", detail="by tenant")
    meeting.change("Linus", "FR-002", title="Operators can raise a limit within a minute")
    code.record(meeting)
    code.commit({}, "Raise limits\n\nImplements: limits/FR-002", at=AFTER)

    assert {rule for rule, _ in rules_in(await cli("trace", "--json"))} == {"untested"}


async def test_what_people_have_to_confirm_again_is_stale(code: TracedCode, cli: Cli) -> None:
    meeting = LimitsMeeting()
    meeting.new("Ada", "DEC-002", text="No limits for now", changes=["FR-001"])
    code.record(meeting)
    code.commit({"tests/test_limit.py": TESTS})

    ran = await cli("trace", "--json")
    assert ("stale", "limits/FR-001") in rules_in(ran)
    assert "limits/FR-001 has to be confirmed again by people, and work cites it" in ran.out


async def test_what_was_taken_back_is_no_longer_to_be_cited(code: TracedCode, cli: Cli) -> None:
    """By files; it says who took it back, or what is in its place. A message of a commit was right then."""
    files = {"src/limit.py": "# limits/FR-001\n\n# limits/DEC-001 limits/AC-001-01\n"}
    code.commit(files, "Begin\n\nRefs: limits/FR-001", at=BEFORE)
    meeting = LimitsMeeting()
    meeting.new("Ada", "DEC-002", text="A leaky bucket", replaces=["DEC-001"])
    meeting.press("Linus", {"id": "FR-001", "state": "withdrawn"})
    code.record(meeting)

    ran = await cli("trace", "--json", "--check")
    assert ran.code == 1
    assert {one for one in found_in(ran) if one[0] != "untested"} == {
        ("withdrawn-cited", "error", "limits/FR-001", "src/limit.py:1"),
        ("withdrawn-cited", "error", "limits/DEC-001", "src/limit.py:3"),
        ("withdrawn-cited", "error", "limits/AC-001-01", "src/limit.py:3"),
    }
    assert "limits/FR-001 was withdrawn by Linus, https://acme.slack.com/" in ran.out
    assert "limits/DEC-001 was replaced by DEC-002 (said by Ada, https://acme.slack.com/" in ran.out
    assert "limits/AC-001-01 was part of FR-001, which is gone." in ran.out


async def test_an_id_that_does_not_exist_is_found_where_it_stands(code: TracedCode, cli: Cli) -> None:
    """Also with an item that is misspelt. Other things are written in the same way, and mean no entry."""
    code.record(LimitsMeeting())
    files = {
        "src/limit.py": "# limits/FR-099\n# limts/FR-001\n# RFC-7231, iso/ABC-123, docs/FR-001, FR-098\n"
    }
    code.commit(files, "Work\n\nRefs: limits/FR-097")

    ran = await cli("trace", "--json")
    assert {one for one in found_in(ran) if one[0] != "untested"} == {
        ("unknown-id", "error", "limits/FR-099", "src/limit.py:1"),
        ("unknown-id", "error", "limts/FR-001", "src/limit.py:2"),
        ("unknown-id", "error", "limits/FR-097", ":0"),
    }
    assert "There is no item 'limts'. Did you mean limits/FR-001?" in ran.out


async def test_an_id_alone_counts_while_there_is_one_item(code: TracedCode, cli: Cli) -> None:
    """With more, each file is told once, which fails nothing; `--items` chooses one of them."""
    code.record(LimitsMeeting())
    code.commit({"tests/test_limit.py": "# FR-002\n# FR-001 RFC-7231\n", "notes.md": "RFC-7231 and FR-999\n"})
    assert levels_in(await cli("trace", "--json"))["FR-002"] == "tested"

    code.record(LimitsMeeting(), "other-limits")
    ran = await cli("trace", "--json")
    assert {one for one in found_in(ran) if one[0] == "bare-id"} == {
        ("bare-id", "note", "", "tests/test_limit.py:0")
    }
    assert "FR-002, FR-001 could be in 2 items: write ITEM/FR-002." in ran.out
    chosen = await cli("trace", "--json", "--items", "limits")
    assert levels_in(chosen)["FR-002"] == "tested"
    assert ("untested", "other-limits/FR-001") not in rules_in(chosen)


async def test_what_nobody_accepted_is_counted_and_not_traced(code: TracedCode, cli: Cli) -> None:
    """Lines that somebody else pushed only propose. What will not be done needs no test either."""
    meeting = LimitsMeeting()
    meeting.change("Linus", "FR-002", priority="won't")
    meeting.propose(make_entry("FR-003", {"title": "Log refusals"}))
    meeting.say("Ada", "01-06", "requirement: Anybody can raise a limit")
    code.record(meeting, pushed=1)

    ran = await cli("trace")
    assert "FR-001" in ran.out
    assert not [id for id in ("FR-002", "FR-003", "FR-004") if id in ran.out]
    assert ran.out.endswith("2 entries are proposed and were not traced.\n")


# --- the baseline ---------------------------------------------------------------------------------------------------


async def test_of_a_record_without_any_seal_it_is_said(code: TracedCode, cli: Cli, tmp_path: Path) -> None:
    """Somebody who takes all of them out can write that Grace said it; without keys nothing shows that."""
    code.record(LimitsMeeting())
    path = "docs/requirements/limits/planning/meeting.jsonl"
    rows = [json.loads(row) for row in (code.git.root / path).read_text("utf-8").splitlines()]
    assert (await cli("trace", "--json")).json["unsealed"] == 0
    for row in rows:
        row["meta"] = {name: fact for name, fact in row["meta"].items() if name not in OF_SEALING}
    code.commit({path: "".join(f"{json.dumps(row)}\n" for row in rows).replace("at most 100", "at most 900")})
    sentence = f"{len(rows)} lines of the record have no seal: nothing proves who said what."

    comment = tmp_path / "comment"
    ran = await cli("trace", "--comment", str(comment))
    assert "at most 900" in ran.out
    assert ran.out.splitlines()[-1].startswith(sentence)
    assert sentence in comment.read_text("utf-8")
    assert (await cli("trace", "--json")).json["unsealed"] == len(rows)
    shown = await cli("show", "limits/FR-001", "--json", ROUNDTABLE_WORKSPACE=str(code.git.root))
    assert "at most 900" in shown.json["text"]
    assert shown.err.startswith(sentence)


async def test_the_baseline_forgets_what_was_mended_when_it_is_written_again(
    code: TracedCode, cli: Cli
) -> None:
    """And keeps what is known of items that were not looked at. Everything else in the file stays."""
    code.record(LimitsMeeting())
    code.record(LimitsMeeting(), "other-limits")
    code.commit({"roundtable-trace.json": '{"tests": ["proofs/**"]}'})
    await cli("trace", "--baseline-now")
    assert {(one["rule"], one["address"]) for one in file_of(code)["baseline"]} == {
        ("untested", f"{item}/{id}") for item in ("limits", "other-limits") for id in ("FR-001", "FR-002")
    }

    code.commit({"proofs/limit.v": "limits/FR-002\n"})
    ran = await cli("trace", "--check")
    assert (
        "1 finding of the baseline was mended. roundtable trace --baseline-now drops what is gone." in ran.out
    )
    await cli("trace", "--baseline-now", "--items", "limits")
    assert file_of(code)["tests"] == ["proofs/**"]
    assert {one["address"] for one in file_of(code)["baseline"]} == {
        "limits/FR-001", "other-limits/FR-001", "other-limits/FR-002",
    }  # fmt: skip


async def test_only_what_is_agreed_can_be_accepted(code: TracedCode, cli: Cli) -> None:
    meeting = LimitsMeeting()
    meeting.press("Linus", {"id": "FR-002", "state": "withdrawn"})
    code.record(meeting)

    for address, sentence in (
        ("limits/FR-099", "limits has no FR-099."),
        ("limts/FR-001", "There is no item 'limts'. Did you mean limits?"),
        ("limits", "limits is an item. Name an entry of it: limits/ID."),
        ("limits/FR-002", "limits/FR-002 is withdrawn: only what is agreed can be accepted."),
    ):
        ran = await cli("trace", "accept", address)
        assert (ran.code, ran.err.strip()) == (2, sentence)
    assert not (code.git.root / "roundtable-trace.json").exists()


# --- wrong usage ----------------------------------------------------------------------------------------------------


async def test_wrong_usage_is_one_sentence(code: TracedCode, cli: Cli) -> None:
    code.commit({"README.md": "Limits\n"})
    code.record(LimitsMeeting())

    for words, sentence in {
        ("trace", "--items", "limts"): "There is no item 'limts'. Did you mean limits?",
        ("trace", "--base", "nowhere"): "There is no commit 'nowhere' in this clone.",
        ("trace", "--record", "nowhere"): "There is no folder ",
        ("trace", "--message", "nowhere"): "nowhere cannot be read: No such file or directory.",
        ("trace", "--sarif", "no/such"): "no/such cannot be written: No such file or directory.",
        ("why", "src/none.py"): "Git does not track src/none.py.",
        ("why", "README.md:9"): "file README.md has only 1 line",
    }.items():
        ran = await cli(*words)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(sentence)
        assert len(ran.err.splitlines()) == 1


async def test_a_file_that_cannot_be_read_stops_with_a_sentence(code: TracedCode, cli: Cli) -> None:
    code.record(LimitsMeeting())

    for content, sentence in {
        "{": "roundtable-trace.json is no JSON: ",
        '{"version": 2}': "roundtable-trace.json is of version 2; this Roundtable reads 1. Update it.",
        '{"itmes": []}': "roundtable-trace.json cannot be used: itmes: ",
        "[]": "roundtable-trace.json cannot be used: all of it: ",
        '{"items": ["limts"]}': "There is no item 'limts'. Did you mean limits?",
    }.items():
        code.commit({"roundtable-trace.json": content})
        ran = await cli("trace")
        assert ran.code == 2
        assert ran.err.startswith(sentence)


async def test_without_repository_record_or_history_there_is_no_trace(
    code: TracedCode, cli: Cli, loaded: CommandLine, tmp_path: Path
) -> None:
    code.commit({"README.md": "Limits\n"})
    empty = await cli("trace")
    assert empty.code == 2
    assert empty.err.startswith("There is no item in the record at ")

    outside = await loaded.run(tmp_path, "trace")
    assert outside.code == 2
    assert outside.err.startswith("There is no git repository with files at ")

    code.record(LimitsMeeting())
    code.git("clone", "--quiet", "--depth", "1", f"file://{code.git.root}", str(tmp_path / "shallow"))
    for words in (("trace",), ("why", "README.md")):
        shallow = await loaded.run(tmp_path / "shallow", *words)
        assert shallow.code == 2
        assert "set fetch-depth: 0 on actions/checkout." in shallow.err


# --- other commands ---------------------------------------------------------------------------------------------------


async def test_the_record_may_be_in_another_repository(code: TracedCode, cli: Cli, tmp_path: Path) -> None:
    """Named on the command line, or in the file of the code."""
    record = TracedCode(tmp_path / "record")
    record.record(LimitsMeeting())
    code.commit({"tests/test_limit.py": TESTS})

    assert levels_in(await cli("trace", "--json", "--record", "../record"))["FR-001"] == "tested"
    code.commit({"roundtable-trace.json": '{"record": "../record"}'})
    assert levels_in(await cli("trace", "--json"))["FR-001"] == "tested"


async def test_private_items_of_another_repository_are_shown_when_they_are_named(
    code: TracedCode, cli: Cli, tmp_path: Path
) -> None:
    """Who reads the code may not see the channel. In one repository, who reads one reads both."""
    record = TracedCode(tmp_path / "record")
    record.record(LimitsMeeting())
    record.record(LimitsMeeting(), "secret", private=True, channel_id="C1", thread_ts="1.000001")
    code.commit({"tests/test_limit.py": "# secret/FR-001, secret/FR-099\n"})

    ran = await cli("trace", "--record", "../record")
    assert "secret" not in ran.out
    assert "1 item is private and was not traced" in ran.out
    named = await cli("trace", "--json", "--record", "../record", "--items", "secret")
    assert ("unknown-id", "secret/FR-099") in rules_in(named)
    assert named.json["private"] == 0


def test_of_the_record_only_what_a_message_names_is_read() -> None:
    """By its name, or by almost its name; an id alone means the only item."""
    known = ("limits", "limit", "quotas")
    assert items_named("Refs: limits/FR-001", known) == {"limits"}
    assert items_named("Refs: quota/FR-001", known) == {"quotas"}
    assert items_named("Refs: FR-001", known) == frozenset()
    assert items_named("Refs: FR-001", ("limits",)) == items_named("FR-001", known, ("limits",)) == {"limits"}


async def test_a_message_of_a_commit_is_checked_before_it_is_made(code: TracedCode, cli: Cli) -> None:
    """Only its addresses, and only what git keeps of it."""
    meeting = LimitsMeeting()
    meeting.press("Linus", {"id": "FR-002", "state": "withdrawn"})
    code.record(meeting)
    code.git.write("good", "Refuse\n\nImplements: limits/FR-001\n# limits/FR-099\n")
    cut = "# ------------------------ >8 ------------------------"
    code.git.write("cut", f"Refuse\n\nRefs: limits/DEC-001\n{cut}\n+ limits/FR-098\n")
    code.git.write("bad", "Refuse\n\nRefs: limits/FR-099, limits/FR-002\n")

    for name in ("good", "cut"):
        ran = await cli("trace", "--message", name)
        assert (ran.code, ran.out, ran.err) == (0, "", "")
    ran = await cli("trace", "--message", "bad")
    assert ran.code == 1
    unknown, withdrawn = ran.out.splitlines()
    assert unknown == "error: limits has no FR-099. [unknown-id]"
    assert withdrawn.startswith("error: limits/FR-002 was withdrawn by Linus, https://")


async def test_a_line_of_code_leads_back_to_who_said_it(code: TracedCode, cli: Cli) -> None:
    """By the commit that wrote it, by what stands there, and by what people looked at. Gone entries are shown, too."""
    sha = code.commit({"src/limit.py": "".join(f"line {number}\n" for number in range(1, 41))}, at=BEFORE)
    meeting = LimitsMeeting()
    meeting.change("Grace", "FR-001", f"src/limit.py:30@{sha[:7]}", detail="as today")
    meeting.press("Linus", {"id": "FR-002", "state": "withdrawn"})
    code.record(meeting)
    rows = (code.git.root / "src/limit.py").read_text("utf-8").replace("line 2\n", "two  # limits/FR-002\n")
    cited = code.commit({"src/limit.py": rows}, "Use buckets\n\nRefs: limits/DEC-001")

    def hows(ran: Ran) -> dict[str, str]:
        return {one["entry"]["address"]: one["how"] for one in ran.json}

    assert hows(await cli("why", "--json", "src/limit.py:2")) == {
        "limits/DEC-001": f"commit {cited[:9]} cites it",
        "limits/FR-002": "line 2 names it",
    }
    near = await cli("why", "src/limit.py:40")
    assert near.code == 0
    shown = await cli("show", "limits/FR-001", ROUNDTABLE_WORKSPACE=str(code.git.root))
    assert near.out == f"Because people looked at src/limit.py:30 when they agreed:\n{shown.out}"
    assert "Said by Grace" in near.out
    assert set(hows(await cli("why", "--json", "src/limit.py"))) == {
        "limits/DEC-001", "limits/FR-002", "limits/FR-001",
    }  # fmt: skip
    nothing = await cli("why", "src/limit.py:10")
    assert (nothing.code, nothing.out) == (1, "Nobody cited an entry for src/limit.py:10.\n")


async def test_a_path_is_read_as_it_looks_from_here(code: TracedCode, cli: Cli, loaded: CommandLine) -> None:
    """Or from the top of the clone; a colon may belong to a name."""
    code.record(LimitsMeeting())
    code.commit({"src/limit.py": "# limits/FR-001\n", "src/odd:1": "# limits/FR-002\n"})

    for name in ("limit.py:1", "src/limit.py:1"):
        ran = await loaded.run(code.git.root / "src", "why", "--json", name)
        assert [one["entry"]["address"] for one in ran.json] == ["limits/FR-001"]
    ran = await cli("why", "--json", "src/odd:1")
    assert [one["entry"]["address"] for one in ran.json] == ["limits/FR-002"]
