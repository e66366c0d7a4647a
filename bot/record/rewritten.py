"""
The files of an item after a person was forgotten: lines first, and every other file from them once more.

A file, or a part of one, that is not ours keeps what stands there, but for words that have to go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.schema import PLAN_PAGE, FieldType, Schema
from bot.domain.catalog.steps import SHARED as SHARED_FILES
from bot.domain.item.artifacts import SectionEdit
from bot.domain.item.item_paths import META, SHARED, SPECIFICATION, TRANSCRIPT
from bot.domain.item.meta import Corrupt
from bot.domain.item.meta import read as read_meta
from bot.domain.planning.plan_review import plan_edits
from bot.domain.privacy.redaction import Redacted
from bot.domain.specification import files
from bot.domain.specification.brief import brief
from bot.domain.specification.snapshot import (
    HASH,
    SECTIONS,
    Snapshot,
    folded_content,
    hash_of,
    read_known,
    text_of,
)
from bot.domain.transcript import lines as transcripts
from bot.domain.transcript import scrubbing
from bot.domain.transcript.fold import fold
from bot.domain.transcript.forgetting import Eraser, Forgetting, ForgottenFiles, IsText, note, rename
from bot.domain.transcript.lines import Line, Source
from bot.domain.transcript.people import Names, with_names
from bot.domain.transcript.seal import Sealer, TrustedKeys, foreign_ids
from bot.domain.transcript.state import Concluded
from bot.domain.transcript.verify import section_forms
from bot.domain.values.places import NOWHERE, Place
from bot.record.projected import committed, is_projected, item_files, plan_files

_WORDS = frozenset({FieldType.LINE, FieldType.TEXT, FieldType.CODE, FieldType.PATH})


def is_text_in(schema: Schema) -> IsText:
    kinds = {kind.prefix: kind for kind in schema.kinds.values()}

    def is_text(id: str, field: str) -> bool:
        kind = kinds.get(id.partition("-")[0])
        known = kind.fields.get(field) if kind else None
        return known is None or known.type in _WORDS

    return is_text


class _Version:
    """The lines of a transcript, with what people are called at its time."""

    def __init__(self, content: bytes, names: Names, trusted: TrustedKeys) -> None:
        self.content = content
        self.lines = tuple(with_names(line, names) for line in transcripts.read(content))
        self._trusted = trusted

    @cached_property
    def concluded(self) -> tuple[Concluded, ...]:
        return fold(enumerate(self.lines, start=1)).concluded

    def committed(self, damage: tuple[str, ...]) -> Snapshot:
        return committed(self.lines, foreign=foreign_ids(self.content, self._trusted), damage=damage)


class Rewriting:
    """
    Of one item with the files *found*. *before* and *after* are what people are called, *live* the lines that are in
    no commit. Nothing is read or written.
    """

    def __init__(
        self,
        slug: str,
        found: Mapping[str, bytes],
        whom: Forgetting,
        *,
        before: Names,
        after: Names,
        playbook: Playbook,
        sealer: Sealer,
        live: Iterable[Line] = (),
    ) -> None:
        self._found, self._whom, self._playbook, self._sealer = found, whom, playbook, sealer
        self._before, self._after = before, after
        self._old = _Version(found.get(TRANSCRIPT, b""), before, sealer.trusted)
        self._facts = files.ItemFacts(title_of(found) or slug, slug)
        lines = (*self._old.lines, *live)
        self.eraser = Eraser(whom, lines, is_text_in(playbook.schema), title=self._facts.title)

    @property
    def is_meant(self) -> bool:
        """Whether the person has a part in the item."""
        person = self._whom.person.encode()
        user = f'"{self._whom.user}"'.encode() if self._whom.user else person
        return any(person in content or user in content for content in self._found.values())

    def run(self, *, now: str) -> ForgottenFiles:
        scrubbed = scrubbing.transcript(self._old.content, self.eraser.text, self.eraser.change)
        typed = tuple(self._typed())
        if not self.is_meant and not scrubbed.lines:
            return ForgottenFiles({}, typed=typed)
        if not scrubbed.lines and self._before == self._after:
            return ForgottenFiles({}, typed=typed, hide=self.hide)
        known = read_known(self._found.get(SPECIFICATION))
        told = note(self._whom, scrubbed.lines, last=next(reversed(self._old.lines), None), now=now)
        after = self._sealer.append(scrubbed.content, [told])
        texts, hand = dict[str, str](), tuple[str, ...]()
        if known:
            told = told.but(meta={**told.meta, HASH: "", SECTIONS: {}})
            after = self._sealer.append(scrubbed.content, [told])
            damage = known.specification.damage
            snapshot = _Version(after, self._after, self._sealer.trusted).committed(damage)
            sections = self._digests(snapshot)
            snapshot = snapshot._replace(written={**snapshot.written, **sections})
            text = text_of(snapshot.specification, snapshot.written)
            told = told.but(meta={**told.meta, HASH: hash_of(text), SECTIONS: sections})
            after = self._sealer.append(scrubbed.content, [told])
            texts, hand = self._projected(after, snapshot, self._old.committed(damage))
            texts[SPECIFICATION] = text
        made = {name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()}
        made |= dict(self._others(texts))
        made[TRANSCRIPT] = after
        changed = {name: content for name, content in made.items() if content != self._found.get(name)}
        return ForgottenFiles(changed, len(scrubbed.lines), typed, hand, self.hide)

    def record(self, made: ForgottenFiles) -> Snapshot | None:
        """What the live roundtable is on top of. None where git has nothing of it."""
        content = made.files.get(TRANSCRIPT, self._old.content)
        return folded_content(content, self._sealer.trusted, self._after) if content else None

    # --- what follows from the entries --------------------------------------------------------------------------------

    def _projected(
        self, content: bytes, snapshot: Snapshot, before: Snapshot
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        """A file that is not what the lines say was edited by hand: then only words are replaced in it."""
        found = {name: self._text(name) for name in self._found if name == SHARED or is_projected(name)}
        facts, playbook = self._facts, self._playbook
        now = _Version(content, self._after, self._sealer.trusted)
        old = item_files(before, self._old.concluded, facts, found, playbook)
        texts = {name: self._with_sections(text, now) for name, text in found.items()}
        texts = {name: self.eraser.text(text).text for name, text in texts.items()}
        new = item_files(snapshot, now.concluded, facts, texts, playbook)
        plan_before = plan_files(before, facts, playbook)
        by_hand = tuple(name for name, text in old.items() if name in found and found[name] != text)
        kept = {name: text for name, text in new.items() if name not in by_hand}
        plan = plan_files(snapshot, facts, playbook)
        kept |= {name: text for name, text in plan.items() if self._text(name) == plan_before.get(name)}
        return {**texts, **kept}, by_hand

    def _text(self, name: str) -> str:
        return self._found.get(name, b"").decode("utf-8", "surrogateescape")

    def _digests(self, snapshot: Snapshot) -> dict[str, str]:
        """Of what is written now: else the next commit takes it for an edit by hand."""
        found, written = snapshot.specification, snapshot.written
        digests = {
            key: edit.digest for key, edit in files.sections(self._playbook, found, self._facts, written)
        }
        digests |= {key: edits[0].digest for key, edits in files.follow_ups(self._playbook, found)}
        summary = files.brief_edit(brief(self._playbook.schema, found), self._facts)
        digests[summary.path] = summary.digest
        step = self._playbook.agenda.plan.step_id
        digests[f"{PLAN_PAGE}#{step}"] = plan_edits(self._facts, step, self._playbook.schema, found)[0].digest
        return {key: digest for key, digest in digests.items() if key in written and written[key] != digest}

    # --- what does not ------------------------------------------------------------------------------------------------

    def _with_sections(self, text: str, now: _Version) -> str:
        """With the blocks of discussions as the lines have them now."""
        for one, two in zip(self._old.concluded, now.concluded, strict=True):
            if one.marker and one.text != two.text:
                for eol in ("\n", "\r\n"):
                    forms = (section_forms(one.marker, each.text, eol) for each in (one, two))
                    for was, is_now in zip(*forms, strict=True):
                        text = text.replace(was, is_now)
        return text

    def _others(self, known: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
        """Reviews, older versions of a plan, copies of damaged files: the name there was put in by code."""
        for name, content in self._found.items():
            if name in known or name == TRANSCRIPT:
                continue
            is_ours = name.partition("/")[0] in {"planning", "reviews"} or ".corrupt-" in name
            hide = self.hide if is_ours and self._before != self._after else self.eraser.text
            yield name, scrubbing.file(content, hide, name=name).content

    def hide(self, text: str) -> Redacted:
        """Also where code wrote the name."""
        text, kinds = self.eraser.text(text)
        text, more = rename(text, self._whom.names, self._after.get(self._whom.person, ""))
        return Redacted(text, (*kinds, *more))

    def _typed(self) -> Iterator[int]:
        """By people and models; our own sentences have ids."""
        for at, row in enumerate(self._old.content.split(b"\n"), start=1):
            line = transcripts.line_in(row)
            if line and line.source is not Source.SYSTEM and self.eraser.typed_in(line):
                yield at


def without_item(found: Mapping[str, bytes], slug: str, playbook: Playbook) -> Callable[[str], str]:
    """Takes what the item *slug*, with the files *found*, has in the file that items share out of it."""
    title = title_of(found) or slug

    def change(text: str) -> str:
        for view in playbook.schema.views:
            if SHARED_FILES.get(view.file) == SHARED:
                heading = files.heading_of(view, title, slug)
                text = SectionEdit(path=SHARED, heading=heading, title="", body="").apply(text)
        return text

    return change


def title_of(found: Mapping[str, bytes]) -> str:
    """What its meta.json says; empty where that cannot be read."""
    with suppress(Corrupt):
        return read_meta(found.get(META, b""), now="").meta.description
    return ""


def place_of(found: Mapping[str, bytes]) -> Place:
    """The thread in its meta.json."""
    home = None
    with suppress(Corrupt):
        home = read_meta(found.get(META, b""), now="").meta.slack
    return Place(team=home.team_id, channel=home.channel_id, thread=home.thread_ts) if home else NOWHERE
