"""`roundtable eval`: what it prints, and how it exits."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.evaluation.meetings import PAYOUTS

KEYS = {"OPENAI_API_KEY": "sk-none", "ANTHROPIC_API_KEY": "none"}
PRICED = {"ROUNDTABLE_MODEL": "openai:gpt-4o", **KEYS}
EARLIER = Path(__file__).parents[1] / "meetings" / "known"


async def test_a_scripted_panel_that_is_better_ends_with_that_sentence(
    loaded: CommandLine, tmp_path: Path
) -> None:
    ran = await loaded.run(tmp_path, "eval", "--scripted", "better")
    rows = ran.out.splitlines()

    assert (ran.code, ran.err) == (0, "")
    assert rows[0] == "12 meetings, 5 repeats, seed 7"
    assert [row[:18].strip() for row in rows[1:5]] == [
        "panel: better",
        "alone",
        "alone+checks",
        "alone x3 + critic",
    ]
    assert " net  0." in rows[1]
    assert rows[9].startswith("panel − alone              +0.")
    assert rows[9].endswith(" x the tokens: better")
    assert rows[-1] == "The panel is better than every rival."


async def test_scripts_read_every_score(loaded: CommandLine, tmp_path: Path) -> None:
    """Files of one's own are named; those in the earlier form are named as without sheets."""
    (tmp_path / "own.yaml").write_text(PAYOUTS, encoding="utf-8")
    earlier = str(EARLIER / "07-fabrications.yaml")
    ran = await loaded.run(tmp_path, "eval", "--scripted", "worse", "own.yaml", earlier, "--json")
    told = await loaded.run(tmp_path, "eval", "--scripted", "worse", "own.yaml", earlier)

    assert ran.code == told.code == ran.json["code"]
    assert ran.json["without_sheets"] == ["07-fabrications"]
    assert "Without sheets, so people answer nothing: 07-fabrications" in told.out
    assert len(ran.json["scores"]) == 2 * 4 * 5
    first = ran.json["scores"][0]
    assert (first["meeting"], first["contender"], first["repeat"]) == ("own", "panel: worse", 1)
    assert {"net", "surfaced", "recorded", "wrong", "dissents_lost", "spent"} <= first.keys()


async def test_two_repeats_give_no_verdict(loaded: CommandLine, tmp_path: Path) -> None:
    ran = await loaded.run(tmp_path, "eval", "--scripted", "better", "--repeats", "2")

    assert ran.code == 3
    assert ran.out.splitlines()[-1] == "No verdict: that takes at least 3 repeats (--repeats)."


@pytest.mark.parametrize(
    ("words", "env", "sentence"),
    [
        ([], {}, "No model is configured: set ROUNDTABLE_MODEL, or add --scripted better."),
        (["bad.yaml"], PRICED, "bad.yaml, line 1: title: field required."),
        (["none.yaml"], PRICED, "none.yaml cannot be read: "),
        (["--people", "gpt"], PRICED, "'gpt' is no model for --people or --judge, such as anthropic:NAME."),
        (["--judge", "offline"], PRICED, "'offline' is no model for --people or --judge"),
        (["--judge", "openai:o3"], PRICED, "--judge: openai:o3 is of the same family as openai:gpt-4o"),
        (["--most-dollars", "5"], {"ROUNDTABLE_MODEL": "vllm:x"}, "--most-dollars: the price of a model"),
        (["--most-dollars", "nan"], PRICED, ""),
        (["--scripted", "best"], {}, ""),
        (["--scripted", "same", "--judge", "openai:o3"], {}, ""),
    ],
)
async def test_what_cannot_be_played_ends_with_2_and_one_sentence(
    words: list[str], env: dict[str, str], sentence: str, loaded: CommandLine, tmp_path: Path
) -> None:
    """1 is a verdict."""
    (tmp_path / "bad.yaml").write_text("leader: Ada\n", encoding="utf-8")
    ran = await loaded.run(tmp_path, "eval", *words, **env)

    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith(sentence)
    assert not sentence or len(ran.err.splitlines()) == 1


async def test_the_cost_is_told_before_it_starts(loaded: CommandLine, tmp_path: Path) -> None:
    """Without a yes nothing is played. Without a known price it says how many tokens it would take."""
    priced = await loaded.run(tmp_path, "eval", "--people", "openai:gpt-4o-mini", **PRICED)
    unpriced = await loaded.run(tmp_path, "eval", "--repeats", "1", ROUNDTABLE_MODEL="vllm:x")

    assert priced.code == unpriced.code == 2
    assert priced.err.startswith("12 meetings × 5 repeats × 4 contenders: about ")
    assert " $ at your prices, " in priced.err
    assert "12 meetings × 1 repeat × 4 contenders: " in unpriced.err
    assert "price unknown" in unpriced.err
    assert priced.err.strip().endswith("Not played.")


async def test_models_that_cannot_be_reached_are_named_and_nothing_is_decided(
    loaded: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "own.yaml").write_text(PAYOUTS, encoding="utf-8")
    nowhere = {"ROUNDTABLE_MODEL": "vllm:x", "VLLM_BASE_URL": "http://127.0.0.1:1/v1"}
    ran = await loaded.run(tmp_path, "eval", "--yes", "--repeats", "1", "own.yaml", **nowhere)

    assert ran.code == 3
    assert "panel left no record in 1 play: " in ran.out
