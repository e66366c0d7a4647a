"""What a server of tools said is in no commit: the passage that is cited is kept with the line, and shown."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.catalog.personas import server_area
from bot.domain.messages.attribution_wording import UNCHECKED_MARK
from bot.domain.transcript.lines import UNCHECKED
from bot.engine.evidence_ports import Passage
from bot.engine.ports import Facts, VoiceContext
from bot.record.brief import read_record
from bot.record.page import as_html
from bot.record.reading import Transcript
from bot.record.text import as_json, as_markdown
from bot.voices.model import ServerReport, Tool
from bot.voices.offline import OfflineVoices
from bot.voices.reviewing import PersonaReviewers
from bot.voices.sources import QUOTED_CHARS, passage, quoted
from bot.voices.thinking import ModelVoices
from bot.voices.tools.looking import Looker, LookSubject
from tests.sights import MEMBERS
from tests.specification.meeting import PLAYBOOK, SCHEMA
from tests.voices.minds import cue, debating, drafted, take_turn
from tests.voices.minds import record as answered
from tests.voices.people import ADA, ALEX, FEATURES, MAYA, roundtable
from tests.voices.prompts.kept import SHIPPED
from tests.voices.test_judges_look import CITED, ITEM, HeldShelf, found, markdown
from tests.voices.test_looking import FRAMED, ToolUse, calling

TICKET = "mcp:tracker/find_tickets#1a2b3c4"
OTHER = "mcp:tracker/find_tickets#7654321"
SAID = "T-42: exports time out after 90 s; password=hunter2hunter2"
SHOWN = "T-42: exports time out after 90 s; [redacted:password]"
FIND: ToolUse = ("tracker__find", {"words": "exports"})
CODE: ToolUse = ("search_code", {"words": "retry"})


class Tracker:
    """A server with one ticket."""

    tools = (Tool("tracker__find", "Tickets", {"type": "object"}, server_area("tracker")),)

    async def settled(self) -> tuple[ServerReport, ...]:
        return ()

    async def ask(self, _name: str, _given: object, /) -> Passage:
        return Passage(TICKET, SAID)


def looker(subject: LookSubject, *_: object) -> Looker:
    return Looker(
        HeldShelf(),
        subject,
        SCHEMA,
        PLAYBOOK.roster[MAYA],
        redact=lambda text: text.replace("password=hunter2hunter2", "[redacted:password]"),
        foreign=Tracker(),
    )


def voices(then: str) -> ModelVoices:
    mind = calling(FIND, CODE, then=then, others="tracker")
    return ModelVoices(
        lambda _: mind, OfflineVoices(), looker_of=lambda subject, *_: looker(subject._replace(sight=MEMBERS))
    )


async def proposing() -> Facts:
    """Two proposals that rest on the same ticket, one of them on the code as well."""
    text = {
        "kind": "requirement",
        "fields": {"title": "Exports take at most 90 s"},
        "quotes": [{"field": "title", "line": line, "words": "90 s"} for line in (TICKET, CITED)],
    }
    quotes = [{"field": "title", "line": TICKET, "words": "time out"}]
    other = {"kind": "requirement", "fields": {"title": "Exports do not time out"}, "quotes": quotes}
    rt = roundtable(FEATURES, (ADA, "Exports have to come through."))
    return (await voices(drafted(text, other)).draft(VoiceContext(rt, PLAYBOOK, MAYA))).facts


async def speaking() -> Facts:
    said = voices(answered(f"They time out after 90 s ({TICKET}), and {CITED} waits 60 s."))
    return (await take_turn(said, cue(debating(FRAMED), ALEX))).facts


MADE_UP = "src/never.py:3@1a2b3c4"


async def test_words_with_a_source_that_nobody_was_shown_are_unchecked() -> None:
    said = voices(answered(f"{MADE_UP} waits for it."))
    speech = await take_turn(said, cue(debating(FRAMED), ALEX))

    assert speech.text == f"{MADE_UP} waits for it. {UNCHECKED_MARK}"
    assert [one["why"] for one in speech.facts[UNCHECKED]] == ["no line says this"]


@pytest.mark.parametrize("speaks", [proposing, speaking])
async def test_a_line_keeps_the_passage_that_it_cites(speaks: Any) -> None:
    """Of the server alone: code is in git. Once for each source, and redacted."""
    facts = await speaks()

    assert facts["quoted"] == {TICKET: SHOWN}
    assert [one["ids"] for one in facts["looked_at"]] == [[TICKET], [CITED]]


async def test_what_was_seen_and_is_not_cited_is_not_kept() -> None:
    """A record of all that was looked at would be a copy of the server."""
    said = await take_turn(voices(answered(f"It waits 60 s, see {CITED}.")), cue(debating(FRAMED), ALEX))

    assert "quoted" not in said.facts
    assert len(said.facts["looked_at"]) == 2


async def test_a_review_keeps_the_passages_that_it_cites() -> None:
    """In its own file: a review has no line."""
    then = found("Exports time out after 90 s.", TICKET, words="time out after 90 s")
    mind = calling(FIND, CODE, then=then, others="tracker")
    reviewers = PersonaReviewers(lambda _: mind, looker_of=looker)
    opinion = await reviewers.opinion(ITEM, SHIPPED.roster[MAYA])
    text = await markdown(opinion)

    assert opinion.quoted == {TICKET: SHOWN}
    assert f"`{TICKET}` said: T-42: exports time out after 90 s;" in text
    assert "hunter2" not in text


def test_of_a_long_text_the_passage_that_the_claim_is_about_is_kept() -> None:
    """It says where it is cut."""
    text = "a row of the tracker\n" * 100 + SHOWN + "\n" + "another row\n" * 100
    kept = passage(text, "Exports time out after 90 s")

    assert SHOWN in kept
    assert kept.startswith("…")
    assert kept.endswith("…")
    assert passage(f"{SHOWN}\n{text}", "nothing of it").startswith(SHOWN)


@given(text=st.text(max_size=3_000), claim=st.text(max_size=200))
def test_a_passage_is_bounded(text: str, claim: str) -> None:
    """And is a part of the text."""
    kept = passage(text, claim)

    assert len(kept) <= QUOTED_CHARS
    assert kept.removeprefix("… ").removesuffix(" …").strip() in text


def test_only_ids_of_servers_that_were_shown_are_quoted() -> None:
    """Neither code nor what was made up."""
    texts = {TICKET: SHOWN, CITED: "retry(60)"}

    assert quoted((TICKET, OTHER, CITED, TICKET), texts, "x") == {TICKET: SHOWN}


# --- the record -------------------------------------------------------------------------------------------------------

LINE = {
    "ts": "2026-03-01T10:15:30.123Z", "round": 1, "actor": "BusinessAnalyst", "phase": "workshop", "role": "assistant",
    "source": "model", "content": f"They time out after 90 s ({TICKET}).",
}  # fmt: skip


def shown(meta: object) -> dict[str, str]:
    record = Transcript(json.dumps({**LINE, "meta": meta}).encode() + b"\n")
    known = read_record(record)
    assert known.state.flaws == ()
    return {
        "markdown": "\n".join(as_markdown(known, title="Exports")),
        "page": "".join(as_html(known, title="Exports")),
        "json": "".join(as_json(known, slug="exports")),
    }


def test_a_reader_of_the_record_sees_what_the_server_said() -> None:
    """In every form of the replay, below the line that cites it; it cannot end or begin anything there."""
    forms = shown({"quoted": {TICKET: f"{SAID}\n# heading <script>alert(1)</script>"}})

    assert all(TICKET in text and "exports time out after 90 s" in text for text in forms.values())
    assert f"{TICKET} said: T-42" in forms["markdown"].replace("\\", "")
    assert "<script>alert" not in forms["page"] + forms["markdown"]
    assert "\n# heading" not in forms["markdown"]


@pytest.mark.parametrize("quoted", [None, "x", 3, [TICKET], {TICKET: 3}, {TICKET: None}, {}])
def test_lines_without_passages_are_read_as_before(quoted: object) -> None:
    """Those of earlier versions have none, those of others may have anything."""
    without = shown({})

    assert shown({"quoted": quoted}) == without
    assert "said:" not in without["markdown"]
