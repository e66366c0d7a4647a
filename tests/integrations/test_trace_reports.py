"""A trace for other programs and for people who look at a pull request."""

import re

import jsonschema
import pytest

from bot.domain.values.markdown import blocks
from bot.integrations.trace import FindingLevel, Level, Rule, TracedEntry, TraceFinding
from bot.integrations.trace_reports import COMMENT, ROWS, actions_commands, comment, sarif
from tests.integrations.published import published
from tests.integrations.traced import BEFORE, TESTS, LimitsMeeting, Trace, TracedCode

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


async def test_the_comment_has_what_a_branch_touches_and_what_is_new(code: TracedCode, cli: Trace) -> None:
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
