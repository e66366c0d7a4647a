"""
Issues of a tracker for pieces of work. Only people create them, by a form. Whether an issue is open is shown, and
decides nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.item.artifacts import InsightEdit, digest_of
from bot.domain.item.item import DRAFT, issue_in_draft, repository_of
from bot.domain.messages import tracker_wording as wording
from bot.domain.messages import trouble_wording
from bot.domain.messages.form import InputForm, Submission
from bot.domain.roundtable import root, timers
from bot.domain.roundtable.effects import PushIssue, ReadIssue, ReadIssues
from bot.domain.roundtable.inputs import CreateIssues, IssueChanged, Press, TimeCame
from bot.domain.roundtable.outcomes import IssuePushed, IssueReadAgain, IssuesRead
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.roundtable.transitions import exporting, pausing
from bot.domain.roundtable.transitions.saving import queue_commit
from bot.domain.specification.brief import ISSUE, BriefRows, issue_of, text
from bot.domain.specification.claims import Entry, How
from bot.domain.specification.fold import HOW, Patch
from bot.domain.specification.not_settled import WORK
from bot.domain.transcript.lines import ENTRIES
from bot.domain.values.text import one_line, values
from bot.domain.values.timestamps import after
from bot.errors import NotNow

READ_SECONDS, LONGEST_SECONDS = 900, 86_400
"""Between two looks at the states: twice as long after each that found nothing new."""
TITLE_CHARS = 200


# --- the form -----------------------------------------------------------------------------------------------------


def form(rt: Roundtable, playbook: Playbook) -> InputForm:
    """Raises NotNow."""
    work = _work(rt, playbook)
    shown = [wording.IssueShown(one.id, *_as_issue(rt, one, playbook), issue_of(one)) for one in work]
    began_in = repository_of(rt.issue.url)[1] if rt.issue else ""
    return wording.form(shown, rt.slug, repositories=playbook.repositories, chosen=began_in)


def flaws(submission: Submission) -> Mapping[str, str]:
    chosen = submission.values.get(wording.WORK, ())
    if not chosen:
        return {wording.WORK: wording.CHOOSE}
    labels = _labels(submission)
    if len(labels) > wording.MOST_LABELS or any(len(one) > wording.LONGEST_LABEL for one in labels):
        return {wording.LABELS: wording.WRONG_LABELS}
    return {wording.WORK: wording.TOO_MANY_CHOSEN} if len(chosen) > wording.MOST_AT_ONCE else {}


def entered(submission: Submission) -> CreateIssues:
    chosen = submission.values.get(wording.WORK, ())
    return CreateIssues(
        **submission.sent,
        entries=chosen if isinstance(chosen, tuple) else (),
        repository=submission.text(wording.REPOSITORY),
        labels=_labels(submission),
    )


def _labels(submission: Submission) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(str.strip, submission.text(wording.LABELS).split(",")))))


# --- what it does -------------------------------------------------------------------------------------------------


def asked(rt: Roundtable, event: CreateIssues, playbook: Playbook) -> Roundtable:
    """What is under way is not asked for again."""
    repository = event.repository or next(iter(playbook.repositories), "")
    under_way = {one.entry for one in rt.outbox if isinstance(one, PushIssue)}
    wanted = [
        one
        for one in _work(rt, playbook)
        if one.id in event.entries
        and one.id not in under_way
        and (not issue_of(one) or _is_set(issue_of(one), playbook))
    ][: wording.MOST_AT_ONCE]
    if not wanted or repository not in playbook.repositories:
        raise NotNow(wording.NOTHING_TO_CREATE)
    effects = []
    for one in wanted:
        title, body = _as_issue(rt, one, playbook)
        about = {"entry": one.id, "repository": repository, "issue": issue_of(one), "labels": event.labels}
        when = {"asked_at": rt.now, "since": rt.issues.asked.get(one.id, rt.now)}
        effects.append(PushIssue(person=event.person.id, title=title, text=body, **when, **about))
    ids = [one.id for one in wanted]
    rt = _may_have(rt, (one.id for one in wanted if not issue_of(one)), since=rt.now)
    sentence = wording.asked(rt.name_of(event.person.id), ids, repository, event.labels)
    rt = rt.recording(sentence, by=event.person.id, message_id=event.key)
    return rt.queueing(*effects)


def pushed(rt: Roundtable, event: IssuePushed, playbook: Playbook) -> Roundtable:
    """The entry has the issue by who pressed."""
    entry, person = rt.specification.entries.get(event.entry), event.person
    asked = {id: since for id, since in rt.issues.asked.items() if id != event.entry}
    rt = rt.but(issues=rt.issues.but(asked=asked))
    if entry and issue_of(entry) != event.issue:
        told = wording.created(rt.name_of(person), event.entry, event.issue)
        facts: dict[str, Any] = {
            HOW: How.FORM.value,
            ENTRIES: [Patch(id=event.entry, set={ISSUE: event.issue})],
        }
        rt = rt.recording(told, by=person, message_id=event.effect, **facts)
        states = {**rt.issues.states, event.issue: "open"}
        made = (*rt.issues.made, event.entry)
        rt = rt.but(issues=rt.issues.but(states=states, made=made, read_at=rt.issues.read_at or rt.now))
    if event.left_alone:
        rt = rt.whispering(person, wording.left_alone(event.entry, event.issue))
    return _ended(rt, person) if not rt.has_pending(PushIssue) else rt


def not_pushed(rt: Roundtable, effect: PushIssue, sentence: str) -> Roundtable:
    """What stops one stops the others that were asked for with it."""
    for one in rt.outbox:
        if isinstance(one, PushIssue) and (one.person, one.asked_at) == (effect.person, effect.asked_at):
            rt = rt.completing(one.id)
    rt = rt.whispering(effect.person, wording.stopped(sentence))
    return rt if rt.has_pending(PushIssue) else _ended(rt, effect.person)


def _ended(rt: Roundtable, person: str) -> Roundtable:
    """All of them are said in one message, and saved together."""
    if made := rt.issues.made:
        issues = {id: issue_of(rt.specification.entries[id]) for id in made}
        rt = rt.telling(wording.all_created(rt.name_of(person), issues), part=rt.part, person=person)
        rt = pausing.entries_saved(rt.but(issues=rt.issues.but(made=())))
    return _watching(rt, READ_SECONDS)


# --- the issue that the item began with -------------------------------------------------------------------------


def read_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """What is under way is not asked for again."""
    must_be_read(rt)
    if not (issue := root.began_with(rt)):
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    if rt.has_pending(ReadIssue):
        raise NotNow(wording.IS_READ)
    person = event.person.id
    rt = rt.recording(wording.asked_to_read(rt.name_of(person), issue), by=person, message_id=event.key)
    return rt.queueing(ReadIssue(person=person, reference=issue))


def read_again(rt: Roundtable, event: IssueReadAgain, playbook: Playbook) -> Roundtable:
    """Below what stands in draft.md, where it changed, and as proposals. Nothing that people wrote becomes other."""
    issue, is_new = event.issue, rt.issue is None or rt.issue.updated != event.issue.updated
    name, edits = rt.source_id or issue.url, issue.edits
    rt = rt.but(issue=issue.but(edits=()))
    after = exporting.begun_with(rt, name, issue.updated, edits, is_new=is_new, playbook=playbook)
    if after is rt:
        return rt.whispering(event.person, wording.nothing_new(name, issue.updated))
    text = issue_in_draft(issue)
    mark = f"<!-- Issue: {digest_of(text)} -->"
    told = InsightEdit(path=DRAFT, keywords=("issue",), marker=mark, body=text, title=rt.title)
    return queue_commit(after, "issue read again", edits=(told,) if is_new else ())


# --- what became of them ------------------------------------------------------------------------------------------


def read_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    """Not once all are closed, or where no tracker is set up any more."""
    issues = [one for one in _issues(rt, playbook) if rt.issues.states.get(one) != "closed"]
    if not issues:
        return rt
    since = rt.issues.read_at or rt.created_at or rt.now
    rt = rt.queueing(ReadIssues(issues=tuple(issues), since=since))
    return _watching(rt, min(max(READ_SECONDS, rt.issues.seconds * 2), LONGEST_SECONDS))


def note_states(rt: Roundtable, event: IssuesRead, playbook: Playbook) -> Roundtable:
    known = rt.issues.states
    read_at = rt.now if event.complete else rt.issues.read_at
    rt = rt.but(issues=rt.issues.but(states={**known, **event.states}, read_at=read_at))
    return rt if rt.issues.states == known else _watching(rt, READ_SECONDS)


def changed(rt: Roundtable, event: IssueChanged, playbook: Playbook) -> Roundtable:
    """It is read at once. One that was closed is looked at again."""
    if event.issue not in _issues(rt, playbook):
        return rt
    states = {
        one: state for one, state in rt.issues.states.items() if one != event.issue or state != "closed"
    }
    return timers.set_timer(rt.but(issues=rt.issues.but(states=states)), TimerName.ISSUES, rt.now)


def known_again(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    Of an item that was taken up from git: the states are read anew, and an issue may have been created that was not
    saved.
    """
    without = (one.id for one in rt.specification.active(WORK) if not issue_of(one))
    rt = _may_have(rt, without, since=rt.created_at or rt.now)
    return timers.set_timer(rt, TimerName.ISSUES, rt.now) if any(_issues(rt, playbook)) else rt


def _may_have(rt: Roundtable, ids: Iterable[str], *, since: str) -> Roundtable:
    """The first time that it was asked for counts: until an answer comes, each attempt may have created the issue."""
    return rt.but(issues=rt.issues.but(asked={**dict.fromkeys(ids, since), **rt.issues.asked}))


def _watching(rt: Roundtable, seconds: int) -> Roundtable:
    rt = rt.but(issues=rt.issues.but(seconds=seconds))
    return timers.set_timer(rt, TimerName.ISSUES, after(rt.now, seconds))


def _issues(rt: Roundtable, playbook: Playbook) -> Iterator[str]:
    """Of the repositories that are set: people may have typed another address."""
    found = map(issue_of, rt.specification.active(WORK))
    return (one for one in found if one and _is_set(one, playbook))


def _is_set(issue: str, playbook: Playbook) -> bool:
    repository = repository_of(issue)[1].casefold()
    return repository in {one.casefold() for one in playbook.repositories}


# --- what an issue says -------------------------------------------------------------------------------------------


def _work(rt: Roundtable, playbook: Playbook) -> list[Entry]:
    """That people accepted. Raises NotNow where no issue is created."""
    if rt.hidden:
        raise NotNow(wording.PRIVATE)
    must_be_read(rt)
    if not playbook.repositories:
        raise NotNow(wording.NO_REPOSITORY)
    if not (found := root.accepted_work(rt, playbook)):
        raise NotNow(wording.NO_WORK)
    return found


def must_be_read(rt: Roundtable) -> None:
    """Raises NotNow while the item's files are not known yet."""
    if rt.is_unread:
        raise NotNow(trouble_wording.SAVING)


def _as_issue(rt: Roundtable, entry: Entry, playbook: Playbook) -> tuple[str, str]:
    """Title and text: what people accepted, without their names, which no tracker would forget."""
    spec, rows = rt.specification, BriefRows(playbook.schema, rt.specification)
    waits = [(id, issue_of(spec.entries[id])) for id in values(entry["waits"]) if id in spec.entries]
    named = values(entry["traces"])
    served = [
        (_row(one, rows), [_row(part, rows) for part in rows.criteria(one)])
        for one in rows.ranked()
        if one.id in named
    ]
    body = wording.issue_text(
        _row(entry, rows),
        item=rt.title,
        thread=rt.permalink,
        said=root.said_at(rt, entry, playbook.schema.kinds[WORK].text),
        by_when=text(entry, "by_when"),
        waits=waits,
        served=served,
    )
    return one_line(rows.words(entry), TITLE_CHARS), body


def _row(entry: Entry, rows: BriefRows) -> wording.IssueRow:
    return wording.IssueRow(entry.id, rows.words(entry))
