"""Outcomes of effects. Each names the effect that it completes, and has its key: the same one twice is one."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Literal

from bot.domain.catalog.agenda import QuickScan
from bot.domain.catalog.budget import Spent
from bot.domain.catalog.taxonomy import Trouble
from bot.domain.discussion.elaboration import Contribution, TurnKind
from bot.domain.item.artifacts import Edit
from bot.domain.item.item import TrackerIssue
from bot.domain.item.meta import Meta
from bot.domain.specification.claims import Quote
from bot.domain.specification.entries import Specification
from bot.domain.specification.exported import ExportEdit
from bot.domain.specification.fold import Patch
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.lines import BY_RULE
from bot.domain.transcript.seal import OldLines
from bot.domain.values.places import Belonging, Person
from bot.domain.values.value import Stored

# What every input is: something that happened, known by a key.


class Event(Stored):
    """`at` is when we heard of it, in the form of a transcript's `ts`."""

    key: str
    at: str


class Outcome(Event):
    """What came of an effect."""

    effect: str


def spent(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a call as a line carries them: there, a cost is a number (seed 004), not a decimal text."""
    cost = facts.get("cost")
    return {**facts, "cost": float(cost)} if isinstance(cost, str) else dict(facts)


class Attempted(Outcome):
    """
    Written down before an effect is performed, so that a successor knows to look first. `settled` is the number of the
    attempt that the writer of this has made before: that one has ended. Whether a later one, of another process, has
    ended is not known.
    """

    settled: int = 0


class Done(Outcome):
    """Nothing to tell but that it is done."""


class OpenedThread(Stored):
    """
    *private* is None when it is not known who can see the channel. *posted* is our message in the thread of someone
    else; empty where ours is the first one.
    """

    ts: str
    permalink: str
    private: bool | None = None
    posted: str = ""


class ThreadOpened(Outcome):
    thread: OpenedThread


class Posted(Outcome):
    ts: str


class Attachment(Stored):
    """A file that was shared with a message: its name and where it is. It is not downloaded."""

    id: str
    name: str
    type: str = ""
    permalink: str = ""
    by: str = ""


class ThreadMessage(Stored):
    """A message that stands in the thread. `about` is that of our message above it; empty where that is unknown."""

    person: Person
    text: str
    ts: str
    about: str = ""
    to_us: bool = False
    files: tuple[Attachment, ...] = ()

    def following(self, about: str, known: Iterable[str]) -> "ThreadMessage":
        """With no post of ours that was read above it, it belongs where the newest *known* message does."""
        is_next = not self.about and self.ts > max(known, default="")
        return self.but(about=about) if is_next else self


class ThreadRead(Outcome):
    """
    Oldest first. Not `complete`: there is more than could be read. `last_line` is what the newest post of
    ours in it says was committed. All else is the effect's.
    """

    heard: tuple[ThreadMessage, ...]
    recovering: bool = False
    quiet: bool = False
    missed: bool = False
    lost: tuple[str, ...] | None = None
    complete: bool = True
    last_line: LastLine = LastLine()


class ItemState(Stored):
    """
    What an item's folder says, read fresh.

    `last_round` and `last_ts` are the transcript's; `heard` are the Slack stamps of people's newest messages in it, in
    order, and `about` is the step in which the last of them was said; `said` answers the step that it ends in, if that
    is open, and is only told to who reads. `codebase` is the last commit outside the items folder and `commits_behind`
    how many came since the one the item was analysed at.
    `behind`: the folder is a clone's that has not heard yet of the last commit. `specification` and `written` are read
    only where nothing is known of the item, and are empty otherwise. `old_lines` wait to be taken over.
    `people` are the names in people.json, by id. `exported` are changes by hand that the record has not heard of.
    """

    meta: Meta
    scan: QuickScan = QuickScan()
    last_round: int = 0
    last_ts: str = ""
    heard: tuple[str, ...] = ()
    about: str = ""
    said: tuple[ThreadMessage, ...] = ()
    codebase: str = ""
    commits_behind: int = 0
    artifacts: tuple[str, ...] = ()
    behind: bool = False
    spent: Spent = Spent()
    specification: Specification = Specification()
    written: Mapping[str, str] = {}
    old_lines: OldLines = OldLines()
    people: Mapping[str, str] = {}
    exported: tuple[ExportEdit, ...] = ()


class LoadedItem(Stored):
    """
    `state` is None when there is no folder, or its meta.json is gone or cannot be read (ERR-META-001, ERR-META-002);
    then `restorable` says that history holds one that `restore` can bring back. `troubles` are what was corrected or
    lost while reading. `lost`: no clone has the last line that was committed.
    """

    state: ItemState | None = None
    troubles: tuple[Trouble, ...] = ()
    restorable: bool = False
    lost: bool = False


class ItemRead(Outcome):
    """`recovering`: there is a thread already, but the store lost it. `discussing` is the effect's."""

    item: LoadedItem
    recovering: bool = False
    discussing: Literal["", "step", "phase"] = ""


class DraftQuestion(Stored):
    """
    What the draft of a persona asks people on a step; on the card, `by` is that persona. `to` is the name that the
    model gave, and from then on the id of a person; empty for everybody. `recommended` is the persona's own answer,
    `why` says why that matters. A question about a gap of coverage is asked while there is that gap (its key).
    """

    text: str
    to: str = ""
    recommended: str = ""
    why: str = ""
    gap: str = ""
    by: str = ""
    step_id: str = ""

    @property
    def meta(self) -> dict[str, str]:
        """What its line says besides its text."""
        return {"asks": self.to, "recommended": self.recommended, "why": self.why}


class PersonaSpoke(Outcome):
    """
    What a persona makes of the answers to the open step. `facts` go into the line's `meta`: provider, tokens, seconds.
    `read` are the messages (by ts) that waited to be read. `by_rule`: no model was asked. `patches` are the entries
    that it proposes, None when it did not look for any; `questions` are for people, `next_questions` for the step after
    this one. `then` is the effect's.
    """

    persona: str
    text: str
    facts: Mapping[str, Any] = {}
    read: tuple[str, ...] = ()
    by_rule: bool = False
    patches: tuple[Patch, ...] | None = None
    questions: tuple[DraftQuestion, ...] = ()
    next_questions: tuple[DraftQuestion, ...] = ()
    then: tuple[str, ...] = ()

    @property
    def meta(self) -> dict[str, Any]:
        """What the line says besides its text; a field that says nothing is left out."""
        return {**spent(self.facts), **(BY_RULE if self.by_rule else {})}


class TurnTaken(Outcome):
    """What a voice says in a discussion for the *personas* that it was asked for. `facts` are those of the call."""

    turn: TurnKind
    personas: tuple[str, ...]
    contributions: tuple[Contribution, ...] = ()
    facts: Mapping[str, Any] = {}
    by_rule: bool = False


FILES_OF_A_PROJECT = 10
"""In a smaller code base a word may well stand in half of the files."""


class KeywordHits(Stored):
    """
    How often *keyword* stands in the code base, and in which files (the most hits first, a few of them). `file_count`
    is the number of all of them.
    """

    keyword: str
    count: int
    files: tuple[str, ...] = ()
    file_count: int = 0


class RelatedFile(Stored):
    """A file that may have to change, and why: it has the words, imports such a file, or often changed with one."""

    path: str
    why: str


class CodeSurvey(Stored):
    """
    What a search of the code base found. `tracked_files` is 0 when the workspace holds no code base;
    `complete` is False when the time for searching ran out. `withheld`: it was not searched, because of who reads
    along, or by a policy. `files_found` is the number of files with any of the words,
    `related` are the first ones to look at.
    """

    tracked_files: int = 0
    hits: tuple[KeywordHits, ...] = ()
    complete: bool = True
    files_found: int = 0
    related: tuple[RelatedFile, ...] = ()
    withheld: bool = False

    def is_everywhere(self, hits: KeywordHits) -> bool:
        """A word of the language, such as "the", or of the project: it says nothing about this item."""
        return self.tracked_files >= FILES_OF_A_PROJECT and hits.file_count * 2 > self.tracked_files


class Surveyed(Outcome):
    survey: CodeSurvey


class ClaimVerdict(Stored):
    """Of the value that the change `at` proposed for a field of the entry `id`: `why` it stays unchecked."""

    id: str
    field: str
    at: int
    why: str = ""


class ReviewObjection(Stored):
    """The strongest that *model* has, with the words of a person or of code that it rests on."""

    text: str
    quotes: tuple[Quote, ...]
    model: str = ""


class Contradiction(Stored):
    """`one` and `other` are ids of lines or entries."""

    one: str
    other: str
    because: str = ""


class DraftReview(Stored):
    """What another model says of what is proposed and recorded on a step. `missing` asks who was not heard."""

    step_id: str = ""
    verdicts: tuple[ClaimVerdict, ...] = ()
    objection: ReviewObjection | None = None
    contradictions: tuple[Contradiction, ...] = ()
    missing: DraftQuestion | None = None


class Reviewed(Outcome):
    review: DraftReview
    facts: Mapping[str, Any] = {}


def looks_until_stopped(facts: Mapping[str, Any]) -> int:
    """Of a call that was stopped because it looked too long; else 0."""
    return len(facts.get("looked_at") or ()) if facts.get("stopped_looking") else 0


class ChangedFile(Stored):
    """A file that a commit changed; `heading` is the section, if the change had one."""

    path: str
    heading: str = ""


class HandEdit(Stored):
    """
    A section, or our records of a data file, that a person changed since we wrote it; our edit was not applied.

    `found` is what stands there now, and `digest` its digest, for the next edit's `replaces`; `written` is what we
    wrote there last, empty if we never did, and None where no commit has it: then it is what the entries of the commit
    before gave; `replaces` is its digest. For data both are the whole file, and `heading` is empty. `commit` is short,
    or "uncommitted".
    """

    path: str
    heading: str = ""
    found: str
    digest: str
    written: str | None = ""
    replaces: str = ""
    author: str
    commit: str


class ExportFlaw(StrEnum):
    """Why the files of a format were not written."""

    GONE = "gone"
    """The folder that we wrote was archived or moved."""
    FOREIGN = "foreign"
    """A file that we did not write is in the way."""
    CHANGED = "changed"
    """In a file of ours stand words of others that are no entry."""
    BROKEN = "broken"
    """The plug-in that has the format is missing, or fails."""


class ExportNote(Stored):
    """`path` is the folder, or the file, that the `flaw` is about."""

    path: str
    flaw: ExportFlaw


class PutBack(Stored):
    """So many sealed `lines` were changed or removed in a commit of others, and are in the transcript again."""

    lines: int
    commit: str


class CommitResult(Stored):
    """
    `unwritten` are the edits of files that could not be written, which `troubles` tell of; `restored` names what had
    been deleted, and came back from git. `last_line` is the newest in git now. `put_back` says what others had done to
    our lines, `lost` is as in ItemRead. `hand_edits` are in place of edits that were not applied, `before` are the
    entries as of the commit before, if one of these needs them, and `exports` are about formats that were not written.
    """

    state: ItemState
    sha: str
    touched: tuple[ChangedFile, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    unwritten: tuple[Edit, ...] = ()
    restored: str = ""
    last_line: LastLine = LastLine()
    put_back: PutBack | None = None
    lost: bool = False
    hand_edits: tuple[HandEdit, ...] = ()
    before: Specification = Specification()
    exports: tuple[ExportNote, ...] = ()


class Committed(Outcome):
    """The lines are in the transcript, and all else that is not in the result as unwritten is saved."""

    result: CommitResult


class IssuePushed(Outcome):
    """*issue*, by its address, is that of *entry*, as *person* asked. `left_alone` is as in PushedIssue."""

    person: str
    entry: str
    issue: str
    left_alone: bool = False


class IssueReadAgain(Outcome):
    """What the issue that the item began with says now, as *person* asked."""

    person: str
    issue: TrackerIssue


class IssuesRead(Outcome):
    """The states of issues, by their addresses; `complete` as in IssueStates."""

    states: Mapping[str, str]
    complete: bool = True


class PersonMet(Outcome):
    """*offset* is that of their clock, in seconds east of UTC, if Slack says."""

    person: str
    name: str
    belongs: Belonging = Belonging.UNKNOWN
    offset: int | None = None


REMOVED = "not_in_channel"
"""The reason of a refusal after the bot was removed from the channel."""
CHANNEL_ARCHIVED = frozenset({"is_archived", "is_inactive"})
"""The same for an archived channel: of a post, and of an edit."""


class Failed(Outcome):
    """
    The effect cannot be paid: the outside world refused for good, or for too long.

    `reason` is a machine word (`not_in_channel`, `disk_full`, `timeout`), `sentence` what people may read. `facts` are
    what a model took whose answer could not be used.
    """

    reason: str
    sentence: str
    facts: Mapping[str, Any] = {}
