"""
Everything that reads text of others takes time in proportion to it: messages of people, answers of models, files of
git, what is posted to our server, patterns of personas. Each is given texts that are made to be slow, at n and at 4n.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

from bot import log
from bot.cli import review as review_file
from bot.content import frontmatter
from bot.domain.actions.action import exit_wish
from bot.domain.actions.table import ACTIONS
from bot.domain.catalog import personas, policy, skip_if, steps
from bot.domain.catalog.agenda import read_quick_scan
from bot.domain.catalog.steps import owned_sections
from bot.domain.discussion import words as discussion_words
from bot.domain.discussion.elaboration import BoardOption, Elaboration, Stance, Turn
from bot.domain.item import artifacts, item, meta
from bot.domain.item.item_paths import safe_path
from bot.domain.messages import card_commands, start_form, step_wording
from bot.domain.messages.message import Message
from bot.domain.privacy.redaction import Redactor, own_rule
from bot.domain.reviews import review, reviewers
from bot.domain.reviews import text as review_text
from bot.domain.roundtable import words
from bot.domain.roundtable.effects import Post, PushIssue
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification import address, citations, claim_check, keywords, reader, snapshot
from bot.domain.specification.citations import CitingCommit, CitingRow
from bot.domain.specification.claim_check import ClaimCheck, Root
from bot.domain.specification.said_entries import Here
from bot.domain.specification.shown import ShownItem
from bot.domain.transcript import earlier, lines, scrubbing, verify
from bot.domain.transcript.fold import fold
from bot.domain.transcript.forgetting import Forgetting, Phrases, TypedNames, rename
from bot.domain.transcript.state import CHANGE
from bot.domain.values import json_files, markdown, places, text
from bot.domain.values.file_names import is_at
from bot.domain.values.markdown import inert_line
from bot.domain.values.text import content_words
from bot.engine.verbs import steering
from bot.engine.verbs.reviewing import reviewed
from bot.engine.verbs.table import VERBS
from bot.errors import BotError
from bot.integrations import exported_edits, exports, github, trace, trace_reports
from bot.integrations.source_files import read_issue_text
from bot.integrations.trace import CodeFacts, CodePlace, TracedEntry
from bot.record import text as record_text
from bot.record.brief import read_record
from bot.record.reading import Transcript
from bot.settings import Settings
from bot.slack import limits, parse
from bot.slack import markdown as mrkdwn
from bot.slack.app import CATCH_UP, DECIDED, HELLO
from bot.slack.render import parts
from bot.storage import serialization
from bot.storage.git import citing as citing_code
from bot.storage.git import survey, sync
from bot.storage.git.evidence import ranked
from bot.voices import answers, sources
from bot.voices.prompts import digest, fencing, shown_files
from roundtable_eval import people as simulated
from roundtable_eval.files import line_at
from tests.domain.table import Table, person, shipped
from tests.growth import SHAPES, afresh, grown, growth
from tests.integrations.test_source_files import read as source_files
from tests.slack.conftest import NOW, US, payload
from tests.specification.meeting import PLAYBOOK, SCHEMA, Meeting

SIZE = 2_000

Read = Callable[[str], object]

MAYA = PLAYBOOK.roster["business-analyst"]

# --- what they are given besides the text -----------------------------------------------------------------------------


def debate(said: str = "The bucket is simpler.") -> Elaboration:
    """With two options, and *said* as its last turn."""
    turns = (
        Turn(id="t01", by="U0ADA", name="Ada", text="We need a limit of 40 requests a minute.", human=True),
        Turn(
            id="t02",
            by=MAYA.key,
            name="Maya",
            text=said,
            stances=(Stance(issue="limit", position="a bucket in each gateway"),),
        ),
    )
    options = (
        BoardOption(letter="A", text="a bucket in each gateway", by="U0ADA"),
        BoardOption(letter="B", text="one counter in Redis", by="U0ADA"),
    )
    return Elaboration(
        step_id="01-01", lead=MAYA.key, topic="limits", max_turns=9, turns=turns, options=options
    )


def specification() -> Any:
    meeting = Meeting()
    for number in range(30):
        meeting.say(
            "ada",
            "01-06",
            f"FR: The service answers request {number} within {number + 40} ms; priority: must",
        )
    return meeting.specification


SPEC = specification()
CLAIMS = [(Root("Ada", one["text"]), one["text"]) for one in SPEC.entries.values() if one["text"]]
CHECK = ClaimCheck(SCHEMA.operators, ["Ada", "Grace"])
MAYAS = answers.SpeakerPrefixes(PLAYBOOK.roster, ["Ada", "Grace"])
SECRETS = Redactor(["a-secret-of-ours"], [own_rule("ticket = ACME-####"), own_rule("key = ab*yz")])
FILE = f"{markdown.__name__}\n\n## 1. Scope\n\nOld.\n\n## 2. Terms\n\nWords.\n"
LINE = json.loads(
    '{"ts": "2025-03-01T10:15:30.123Z", "round": 0, "actor": "User", "phase": "clarifying", "role": "planning",'
    ' "source": "user", "content": "", "meta": {"message_id": "m1"}}'
)


BEGUN = "-----BEGIN PRIVATE KEY-----"
OURS = github._Block(
    PushIssue(person="U1", entry="WRK-001", repository="a/b", title="x", text="x", asked_at=NOW),
    "T1/a/WRK-001",
    b"key",
)
TRACED = TracedEntry(address="limits/FR-001", kind="requirement", text="x")
AGREED = trace.AgreedFacts(
    [ShownItem(slug, SPEC, list, schema=SCHEMA) for slug in ("limits", "other")], ("limits", "other")
)


def event(said: str, **changes: Any) -> dict[str, Any]:
    return dict(payload("message_in_thread", text=said, **changes)["event"])


def told(read: Read) -> Read:
    """*read*, where it may refuse the text with one of our sentences."""

    def tried(given: str) -> object:
        with suppress(BotError, ValueError):
            return read(given)
        return None

    return tried


def listed(read: Callable[[str], Iterator[Any]]) -> Read:
    return lambda given: list(read(given))


def earlier_line(content: str, **meta: str) -> lines.Line:
    return lines.Line.model_validate({**LINE, "source": "model", "content": content, "meta": meta})


def transcript(said: str) -> bytes:
    rows = (json.dumps({**LINE, "content": row}) for row in said.split("\n"))
    return "\n".join(rows).encode()


def changes(said: str) -> bytes:
    """A transcript: each row of *said* finishes a step, and has the record of a discussion."""
    record = {"step_id": "01-01", "turn_count": 1, "personas_active": [], "synthesis_summary": ""}
    made = (
        {"steps": [str(number)], "elaborations": [{**record, "timestamp": f"{number} {row}"}]}
        for number, row in enumerate(said.split("\n"))
    )
    return "\n".join(json.dumps({**LINE, "meta": {CHANGE: one}}) for one in made).encode()


def filed(said: str) -> object:
    """A section, rewritten in a file of *said*, and with *said* as its text."""
    edit = artifacts.SectionEdit(path="a.md", heading="2. Terms", title="A", body="New.")
    insight = artifacts.InsightEdit(
        path="a.md", keywords=("scope",), marker="<!-- Elaboration: step 01-01, now -->", body=said
    )
    return (
        edit.apply(said),
        edit.but(body=said).apply(FILE),
        insight.apply(FILE),
        insight.but(body="x").apply(said),
    )


def decided(rt: Roundtable, before: str = "") -> Read:
    """All that a message makes of *rt*, and what is posted then. It begins with *before*."""

    def read(said: str) -> object:
        heard = Say(
            key="C1.1767999999.000100",
            at=NOW,
            person=person("ada"),
            text=before + said,
            ts="1767999999.000100",
        )
        with suppress(BotError):
            return [
                parts(one.message) for one in decide(rt, heard, shipped()).outbox if isinstance(one, Post)
            ]
        return None

    return read


# --- the doors --------------------------------------------------------------------------------------------------------

PEOPLE: Mapping[str, Read] = {
    "a message": lambda said: parse.message(event(said), US, at=NOW),
    "a mention": told(lambda said: parse.mention(event(f"<@{US.user}> {said}"), US, at=NOW)),
    "a mention with a position": told(
        lambda said: parse.mention(event(f"<@{US.user}> position {said}"), US, at=NOW)
    ),
    "a slash command": told(lambda said: parse.command(payload("slash_command", text=said), US, at=NOW)),
    "the name of a file": lambda said: parse.message(
        event("", files=[{"id": "F1", "name": said}]), US, at=NOW
    ),
    "markup of Slack": mrkdwn.readable,
    "people called": lambda said: (mrkdwn.called(said), mrkdwn.named_with(f"Limits with {said}")),
    "verbs": lambda said: (
        VERBS.read_mention(said),
        VERBS.read_command(said),
        VERBS.read_direct(f"position {said}"),
    ),
    "a lens": lambda said: reviewed(f"offline by {said}"),
    "small talk": lambda said: [one.fullmatch(said) for one in (HELLO, DECIDED, CATCH_UP)],
    "a title to catch up on": lambda said: CATCH_UP.fullmatch(f"catch me up on x{said}"),
    "wishes": lambda said: (
        [*ACTIONS.read_words(said)],
        words.is_aside(said),
        exit_wish(said),
        words.answers(said),
    ),
    "an end of a discussion": lambda said: exit_wish(f"i think we're {said}"),
    "calls to personas": lambda said: (
        words.addresses_no_one(said, PLAYBOOK.roster),
        PLAYBOOK.roster.addressed(said, lead=MAYA.key),
        personas.asks_all(said),
        PLAYBOOK.roster.addressed(f"Maya {said}", lead=MAYA.key),
    ),
    "everyone asked": lambda said: personas.asks_all(f"everyone, {said}"),
    "a statement": lambda said: reader.read(
        said,
        Here(schema=SCHEMA, specification=SPEC, step_id="01-06", person="U1", questions=("Who?", "Why?")),
    ),
    "a statement about an entry": lambda said: reader.read(
        f"FR-001: {said}", Here(schema=SCHEMA, specification=SPEC, step_id="01-06", person="U1")
    ),
    "a story": lambda said: reader.read(
        f"As a user I want {said}", Here(schema=SCHEMA, specification=SPEC, step_id="01-08", person="U1")
    ),
    "numbers of questions": reader.numbers_in,
    "a verdict": lambda said: reader.read(
        f"Test Planner: {said}", Here(schema=SCHEMA, specification=SPEC, step_id="05-01", person="U1")
    ),
    "a position": lambda said: (
        discussion_words.position_in(debate().options, said, SCHEMA),
        discussion_words.position_in(debate().options, f"for A, {said}", SCHEMA),
        discussion_words.position_in(debate().options, f"A works for me. {said}", SCHEMA),
    ),
    "options": lambda said: discussion_words.decided_option(debate().options, said),
    "decisions and objections": lambda said: (
        discussion_words.decides(said),
        discussion_words.decides(f"decision: {said}"),
        discussion_words.unmarked(said, ["option"]),
    ),
    "a sealed position": told(
        lambda said: (discussion_words.typed_position(said), steering.read_position(said))
    ),
    "words of a position": lambda said: (
        discussion_words.meant(debate().options, said),
        discussion_words.key(said),
        discussion_words.name(said),
    ),
    "a title": lambda said: (item.item_from(said), item.generate_slug(said), item.path_in(said)),
    "an item": lambda said: item.resolve(
        said, [item.KnownItem(slug="offline-sync", title="Offline sync")], f"- {said}"
    ),
    "a backlog": lambda said: item.backlog_title("1.2", said),
    "a source of an item": told(
        lambda said: (start_form.source_of(said), start_form.thread_of(said), places.read_permalink(said))
    ),
    "commands on a card": lambda said: card_commands.may_be_typed(said, shipped().schema),
    "a title of a thread": lambda said: step_wording.title_of_root(f"**Roundtable: {said}"),
    "reviewers": reviewers._WORD.findall,
    "secrets": SECRETS,
    "words to search for": lambda said: keywords.words_in(said, frozenset({"the"})),
}

THREADS: Mapping[str, Read] = {
    "a step": decided(Table().start().rt),
    "a step with answers": decided(Table().start().say("We need it for field work without a network.").rt),
    "a menu": decided(Table().start().do_step().rt),
    "a discussion": decided(Table().start().elaborate().rt),
    "a discussion with a position": decided(Table().start().elaborate().rt, "for A, "),
    "a plan": decided(Table().start().plan().rt),
}

SHOWN: Mapping[str, Read] = {
    "a message of ours": lambda said: parts(Message(text=said)),
    "mrkdwn": mrkdwn.mrkdwn,
    "a line of rich text": mrkdwn.runs,
    "one line": lambda said: (text.one_line(said), mrkdwn.one_line(said), text.one_line(said, len(said) - 1)),
    "parts of a message": lambda said: (
        list(limits.split(said, 300)),
        limits.sections(mrkdwn.pieces(said)),
        limits.shortened(said, 900),
        limits.abridged(said, 2_000),
    ),
    "Markdown": lambda said: (
        markdown.outline(said),
        list(markdown.blocks(said)),
        markdown.body(said),
        markdown.bullet(said),
        markdown.quoted(said),
        markdown.escaped(said),
        markdown.body(said, fences=False),
    ),
    "the log": log.redacted,
    "a row of a file": inert_line,
}

MODELS: Mapping[str, Read] = {
    "an answer": answers.read_draft,
    "a turn": lambda said: answers.spoken_in(said, turns={"t01"}),
    "entries": answers.whole_entries_in,
    "its own words": lambda said: (MAYAS.own(said, MAYA), MAYAS.blends(said, MAYA)),
    "its text": lambda said: (
        answers.tidied(said),
        answers.declines(said),
        answers.shortened(said),
    ),
    "a long text": lambda said: answers.shortened(said, len(said) - 1),
    "a claim and its quote": lambda said: CHECK.flaws(said, [(Root("Ada", said), said)]),
    "a claim": lambda said: CHECK.flaws(said, CLAIMS),
    "a quote": lambda said: CHECK.flaws(
        "Ada said no to 40 requests a minute on 3 May 2026.", [(Root("Ada", said), said[:900])]
    ),
    "prose": lambda said: sources.with_marks(said, CLAIMS[:1], CHECK),
    "prose about a person": lambda said: CHECK.why_unchecked(f"Ada {said}", CLAIMS[:1]),
    "words of a claim": lambda said: (
        content_words(said),
        claim_check.stands_in(said, said[::-1]),
        claim_check.is_clause(said[::2], said),
        claim_check.is_whole(said[::2], said),
        claim_check.is_code(said[::2], said),
        claim_check.is_changed(said[:500], said, f"{said}."),
    ),
    "a passage": lambda said: sources.passage(said, said),
    "a citation": lambda said: (
        citations.cited_text(said, {"src/a.py:1@1a2b3c4": said}),
        citations.CodeCitation.read(said),
    ),
    "objects": lambda said: list(json_files.objects_in(said)),
    "what it is shown": lambda said: (
        fencing.sanitized(said),
        fencing.row(said, len(said) // 5),
        fencing.quoted(said),
        fencing.fenced("a", said),
    ),
    "markers": lambda said: fencing.marker_for("a", [said]),
    "turns": lambda said: digest.told(digest.told_in_turns(debate(said).turns), digest.TALKING),
    "files": lambda said: shown_files.shown(
        {"a.md": said, "docs/common/nfr-matrix.md": said}, slug="a", room=20_000
    ),
    "a shared file": lambda said: shown_files.own_turns("docs/common/nfr-matrix.md", said, slug="a"),
    "a sentence": text.sentences_in,
}

FILES: Mapping[str, Read] = {
    "meta.json": lambda said: meta.read(json.dumps({"description": said, "slug": said}).encode(), now=NOW),
    "any JSON": told(json_files.parse),
    "JSON with numbers": told(lambda said: json_files.pretty(json_files.parse_kept(json.dumps({"a": said})))),
    "a row of JSON": lambda said: (
        json_files.decoded(said.encode()),
        json_files.cut_off(b"{" + said.encode()),
    ),
    "a transcript": lambda said: lines.read(transcript(said)),
    "a transcript of changes": lambda said: fold(enumerate(lines.read(changes(said)), 1)),
    "a broken transcript": lambda said: lines.read(said.encode()),
    "a person's phrases": lambda said: Phrases([said]).hide(said),
    "a person's name": lambda said: rename(said, [said[:200]], ""),
    "a name that people type": lambda said: TypedNames(
        Forgetting("p-aaaaaaaaaa", (said[:200],), "2026-03-01")
    ).replace(said, ""),
    "a scrubbed transcript": lambda said: scrubbing.transcript(transcript(said), SECRETS),
    "lines of earlier versions": lambda said: earlier.upcast(
        [earlier_line(f"{earlier.SYNTHESIS}00-01)\n#### Decisions Made\n- {said}", decision=said)]
    ),
    "sections compared": lambda said: list(verify.sections_compared("a.md", said, {}, foreign=False)),
    "markers of sections": lambda said: list(
        verify.sections_compared(
            "a.md", f"<!-- Elaboration: step 01-01, now -->\n{said}\n" * 3, {}, foreign=True
        )
    ),
    "specification.json": told(snapshot.read),
    "a section": filed,
    "the digest of a section": artifacts.digest_of,
    "a name of a file": lambda said: (artifacts.original(said), safe_path(said)),
    "quick-scan.md": read_quick_scan,
    "a review": lambda said: (review.parse(said), review.without_block(said), review.without_marker(said)),
    "a review with a block": lambda said: review.without_block(f"{review.MARKER}\n{said}"),
    "a finding": lambda said: (
        review_text.Finding(severity=review_text.FindingSeverity.MAJOR, file="a.md", text=said).markdown
    ),
    "a review in a file": lambda said: review_file.redacted_content(
        said.encode(), lambda one: SECRETS(one).text
    ),
    "live state": told(lambda said: serialization.parsed(Roundtable, "a", said, what="roundtable")),
    "files found": survey._counts,
    "code that is searched": lambda said: ranked(
        [survey.CodeLine(said[:90], number, row) for number, row in enumerate(said.splitlines())],
        said.split()[:8],
    ),
    "lines that git found": lambda said: list(survey._lines(said, said[:4], {said[4:9]: 1})),
    "commits": lambda said: list(survey._commits(said)),
    "rows of code": lambda said: (list(citing_code._rows(said)), list(citing_code._rows(f"a\0001\0{said}"))),
    "code that cites": lambda said: trace.gathered(
        AGREED, CodeFacts([CitingRow(said, 1, said)], [CitingCommit("a", 0, said)], ())
    ),
    "a message that cites": lambda said: trace.message_findings(AGREED, said),
    "a place in code": lambda said: trace.why(
        AGREED, CodeFacts([], [CitingCommit("a", 0, said)], ()), CodePlace("a"), blamed={"a"}
    ),
    "the comment of a trace": lambda said: trace_reports.comment(
        [TRACED.but(text=said, said=said, link=said)], []
    ),
    "the file of a trace": told(lambda said: trace.read_trace_file(f'{{"items": ["{said}"]}}'.encode())),
    "what git says": lambda said: [
        one.search(said) for one in (sync.DENIED, sync.OVERTAKEN, sync.DECLINED, sync.SAID_BY_SSH)
    ],
    "an exported file": exported_edits.read_back,
    "rows between entries": lambda said: exported_edits.other_rows(said, exported_edits.SECTIONS),
    "files that an item begins with": lambda said: source_files(
        "x", {"x/spec.md": f"{said}\n## Decisions\n- {said}", "x/tasks.md": said}
    ),
    "the text of an issue that an item begins with": lambda said: read_issue_text(
        item.TrackerIssue(
            url=f"https://github.com/{said[:90]}", title=said, text=said, by="a", state="open", updated="now"
        ),
        SCHEMA,
    ),
    "the address of an issue": lambda said: [
        item.detect_source(one) for one in (said, f"https://{said}/issues/1")
    ],
    "a key of GitHub": told(
        lambda said: Settings.from_env({"ROUNDTABLE_GITHUB_KEY": f"{BEGUN} {said} {BEGUN}"})
    ),
    "what is ours in an issue": lambda said: (
        OURS.renewed(said),
        OURS.renewed(f"{OURS.begin}{said}"),
        OURS.renewed(OURS.text.replace("kept by", said)),
    ),
    "words in an exported file": lambda said: (
        exports.plain(said),
        exports.unplain(said),
        exports.Clauses.of(said),
    ),
    "addresses": lambda said: (
        address.CITED.findall(said),
        told(lambda one: address.read_address(one, ["a"]))(said),
    ),
    "a record": lambda said: "".join(
        record_text.as_markdown(read_record(Transcript(transcript(said))), title="A")
    ),
}

CONTENT: Mapping[str, Read] = {
    "front matter": told(frontmatter.split),
    "lines of values": told(lambda said: frontmatter.parse(said) and line_at(said, ("a", "b", 0))),
    "questions to simulated people": simulated.questions_in,
    "simulated people who are asked": lambda said: simulated.addressed(said, {"Ada", "Grace"}),
    "sections": frontmatter.sections,
    "lists": lambda said: (steps.items(said, steps.BULLET), steps.items(said, steps.NUMBERED)),
    "owned sections": lambda said: owned_sections(said, "a.md", outputs=("a.md",)),
    "conditions": told(skip_if.parse),
    "quiet hours": told(policy.quiet_hours),
    "a glob of a persona": lambda said: is_at(said, "**/*a*a*b"),
    "globs": lambda said: is_at("src/" + "a" * 300, said),
}

DOORS = {**PEOPLE, **THREADS, **SHOWN, **MODELS, **FILES, **CONTENT}


@pytest.mark.parametrize("door", DOORS)
def test_a_parser_takes_time_in_proportion_to_the_text(door: str) -> None:
    """For each of the shapes, which also stand for texts that nearly fit."""
    size = SIZE // 2 if door in THREADS else SIZE  # a whole decision takes 50 ms for each of them
    slow = {
        name: said
        for name, piece in SHAPES.items()
        if (said := growth(afresh(DOORS[door]), lambda size: grown(piece, size, "x"), size=size))  # noqa: B023
    }
    assert not slow, f"{door}: {slow}"
