"""A trace for other programs and for people who look at a pull request."""

import json
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.values.markdown import blocks
from bot.integrations.trace import FindingLevel, Level, Rule, TracedEntry, TraceFinding
from bot.integrations.trace_reports import COMMENT, ROWS, actions_commands, comment, sarif, without_commands
from tests.command_line import Cli
from tests.integrations.published import published
from tests.integrations.traced import BEFORE, TESTS, LimitsMeeting, TracedCode

HOSTILE = "Fixes #1 @ada `x` <!-- --> [a](https://evil.example) **b** ``` <img src=x> closes acme/repo#2"
RECORD = "docs/requirements/{}/specification.json"
PATHS = ("src/a.py", "", "odd\nname ü %41.py", "a" * 5_000)


def finding(message: str = "limits has no FR-099.", path: str = "src/a.py", line: int = 3) -> TraceFinding:
    return TraceFinding(
        rule=Rule.UNKNOWN_ID,
        level=FindingLevel.ERROR,
        address="limits/FR-099",
        path=path,
        line=line,
        message=message,
    )


def test_sarif_has_the_place_and_the_rule_of_every_finding() -> None:
    """What stands nowhere is shown in the record, since GitHub shows nothing without a place."""
    run = sarif([finding(path=one) for one in PATHS], version="1.2", record=RECORD)["runs"][0]

    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]]
    assert places[1:3] == [RECORD.format("limits"), "odd%0Aname%20%C3%BC%20%2541.py"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[one["ruleIndex"]]["id"] for one in run["results"]] == [Rule.UNKNOWN_ID.value] * len(PATHS)


def test_sarif_is_as_the_standard_describes_it() -> None:
    """By the schema of SARIF 2.1.0, which a pinned package of npm has: other programs refuse everything else."""
    schema = published("@microsoft/jest-sarif@1.0.0-beta.0", "lib/schemas/sarif-2.1.0-rtm.5.json")
    odd = [finding(path=one) for one in PATHS]
    told = sarif([*odd, *(odd[0].but(rule=rule, line=0) for rule in Rule)], version="1.2", record=RECORD)

    jsonschema.validate(told, schema)
    told["runs"][0]["results"][0]["ours"] = 1
    with pytest.raises(jsonschema.ValidationError, match="'ours' was unexpected"):
        jsonschema.validate(told, schema)


def test_findings_are_annotations_in_github_actions() -> None:
    """No text of others can begin another command, or another property of one."""
    (row,) = actions_commands([finding("one\n::error::two 100%", "src/a,b:c.py")])

    assert row == (
        "::error file=src/a%2Cb%3Ac.py,line=3,title=Cites an entry that does not exist::one%0A::error::two 100%25"
    )


REGISTERED = ("error", "warning", "notice", "add-mask", "stop-commands", "set-env", "group")


def commands_in(output: str) -> list[str]:
    """What the runner of GitHub Actions (2.3) takes for a command: a new one first, and then an old one."""
    return list(filter(None, map(command_in, re.split(r"\r\n|\r|\n", output))))


def command_in(row: str) -> str:
    new = re.match(r"\s*::(\S*?)(?: .*?)?::", row)
    old = re.search(r"##\[([^\] ]*)[^\]]*\]", row)
    return next((one[1] for one in (new, old) if one and one[1] in REGISTERED), "")


BEGINS = st.sampled_from(("", " ", "\t", "\u3000", "\x85", "x", "##", ":", "::", "##[", "]", "\n", "\r"))


@given(
    st.lists(
        st.one_of(
            BEGINS, st.sampled_from([*REGISTERED, *(f"##[{one}]a" for one in REGISTERED), "::error::b"])
        )
    ).map("".join)
)
def test_no_text_of_others_is_a_command_of_github_actions(text: str) -> None:
    assert commands_in(without_commands(text)) == []
    assert json.loads(without_commands(json.dumps([text]))) == [text]


async def test_an_entry_and_a_path_are_no_commands_in_github_actions(code: TracedCode, cli: Cli) -> None:
    """Or they could mask what is logged, and stop annotations."""
    meeting = LimitsMeeting()
    meeting.say("Grace", "01-06", "requirement: ##[add-mask]requests")
    code.record(meeting)
    code.commit({"src/##[stop-commands]x.py": "# limits/FR-099\n", "a::add-mask::b.py": "# limits/FR-098\n"})
    names = ("src/##[stop-commands]x.py", "a::add-mask::b.py:1", "##[warning]x")
    runs: list[tuple[str, ...]] = [
        ("trace",),
        ("trace", "--check"),
        ("trace", "--json"),
        ("trace", "--items", names[2]),
    ]
    runs += [("why", one) for one in names]

    for words in runs:
        plain, ran = await cli(*words), await cli(*words, GITHUB_ACTIONS="true")
        assert ran.code == plain.code
        assert commands_in(ran.out) == []
        assert set(commands_in(ran.err)) <= {"error", "warning", "notice"}
        assert len(commands_in(ran.err)) == len(list(filter(None, ran.err.splitlines()))) or ran.code == 2
        if "--json" in words:
            assert ran.json == plain.json


def test_words_of_others_do_nothing_in_the_comment() -> None:
    """They are code there, in which GitHub reads no mention, link, closing word or HTML."""
    entry = TracedEntry(
        address="limits/FR-001",
        kind="requirement",
        text=HOSTILE,
        said=HOSTILE,
        link="https://acme.slack.com/archives/C1/p1",
        level=Level.CITED,
    )
    text = comment([entry], [finding(HOSTILE)])

    assert text.startswith(f"{COMMENT}\n")
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text.removeprefix(COMMENT))
    assert not re.search(r"[@#<>]|evil", outside)
    assert "([in Slack](https://acme.slack.com/archives/C1/p1))" in outside
    rows = [row for block in blocks(text) for row in block.rows]
    spans = [span.text for row in rows for span in row.spans if span.kind == "code"]
    assert sum("@ada" in span for span in spans) == 3
    odd = comment([entry.but(link="https://a.b/) [x](https://evil.example")], [])
    assert "in Slack" not in odd


def test_a_comment_has_twenty_rows_of_each_kind() -> None:
    entries = [
        TracedEntry(address=f"limits/FR-{number:03}", kind="requirement", text="x") for number in range(50)
    ]
    text = comment(entries, [finding()] * 30)

    assert text.count("\n- `limits/FR-") == ROWS
    assert text.count("\n- **error** ") == ROWS
    assert "- and 30 more" in text
    assert "- and 10 more" in text


async def test_the_comment_has_what_a_branch_touches_and_what_is_new(code: TracedCode, cli: Cli) -> None:
    """By changed files and by commits since the base; the old gaps are in the baseline."""
    code.record(LimitsMeeting())
    code.commit({"src/old.py": "# limits/DEC-001\n"}, "Begin\n\nRefs: limits/FR-002", at=BEFORE)
    await cli("trace", "--baseline-now")
    base = code.git("rev-parse", "HEAD").strip()
    code.commit({"tests/test_limit.py": TESTS, "src/new.py": "# limits/FR-099\n"})

    ran = await cli("trace", "--check", "--base", base, "--comment", "comment.md", GITHUB_ACTIONS="true")
    text = (code.git.root / "comment.md").read_text("utf-8")
    assert ran.code == 1
    assert re.findall(r"^- `([\w/-]+)` \(tested\)", text, re.MULTILINE) == [
        "limits/AC-001-01",
        "limits/AC-001-02",
    ]
    assert "- **error** `src/new.py:1: limits has no FR-099.`" in text
    assert "FR-002" not in text
    assert ran.err.startswith("::error file=src/new.py,line=1,title=")

    await cli("trace", "--check", "--base", "HEAD", "--comment", "comment.md", "--sarif", "trace.sarif")
    assert "Nothing that was agreed is cited here." in (code.git.root / "comment.md").read_text("utf-8")
    assert (code.git.root / "trace.sarif").read_text("utf-8").count('"ruleId"') == 1
