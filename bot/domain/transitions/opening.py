"""From "start" to the first phase: the thread, what was said in it, the item's folder."""

import hashlib
from collections.abc import Mapping
from typing import Any

from bot.domain import wording
from bot.domain.agenda import Playbook
from bot.domain.artifact import FileEdit
from bot.domain.effects import OpenThread, ReadItem, ReadThread
from bot.domain.inputs import Committed, ItemRead, Start, ThreadOpened, ThreadRead
from bot.domain.item import Item, draft
from bot.domain.message import Message
from bot.domain.meta import Change, SlackPlace
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable, Stage
from bot.domain.transcript import Part, Source
from bot.domain.transitions import pausing, phases
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import HEAD, owe_commit, refreshed, saved


def start(happened: Start, playbook: Playbook) -> Roundtable:
    """A new roundtable, nothing of which is in Slack or git yet; its version is 0."""
    rt = Roundtable(
        incarnation=hashlib.sha256(happened.key.encode()).hexdigest()[:8],
        slug=happened.item.slug,
        title=happened.item.title,
        source=happened.item.source,
        source_id=happened.item.source_id,
        place=happened.place,
        started_by=happened.person.id,
        now=happened.at,
    )
    return _open(rt.knowing(happened.key), happened, playbook)


def take_up(happened: Start, playbook: Playbook, *, thread_known: bool) -> Roundtable:
    """An item that has a folder already: in the thread that its folder names, or in a new one."""
    rt = start(happened, playbook)
    if not thread_known:
        return rt
    rt = rt.but(outbox=(), lines=()).recording(
        wording.resumed(rt.name_of(happened.person.id)), part=Part.CLARIFYING, user_id=happened.person.id
    )
    return rt.owing(ReadItem())


def start_again(rt: Roundtable, happened: Start, playbook: Playbook) -> Roundtable:
    """The thread could not be opened the first time; perhaps we were invited since, or it is another channel."""
    return _open(rt.but(place=happened.place, stage=Stage.OPENING, outbox=(), lines=()), happened, playbook)


def thread_opened(rt: Roundtable, happened: ThreadOpened, playbook: Playbook) -> Roundtable:
    adopting = bool(rt.place.thread)
    thread = rt.place.thread or happened.ts
    rt = rt.but(place=rt.place.but(thread=thread), permalink=happened.permalink)
    return rt.owing(ReadThread(), ReadItem()) if adopting else rt.owing(ReadItem())


def thread_read(rt: Roundtable, happened: ThreadRead, playbook: Playbook) -> Roundtable:
    """What people said before becomes the beginning of the transcript, with their names."""
    known = {line.message_id for line in rt.lines}
    for heard in happened.heard:
        rt = rt.meeting(heard.person)
        if f"{rt.place.channel}.{heard.ts}" not in known:
            rt = rt.heard(heard.person, heard.text, ts=heard.ts, part=Part.DRAFT)
    return rt.telling(Message(text=wording.adopted(len(happened.heard))), part=Part.DRAFT)


def item_read(rt: Roundtable, happened: ItemRead, playbook: Playbook) -> Roundtable:
    """A new item gets its folder; one that exists is taken up where its folder says it stands."""
    rt = report(rt, happened.troubles, part=Part.DRAFT)
    slack = SlackPlace(
        team_id=rt.place.team,
        channel_id=rt.place.channel,
        thread_ts=rt.place.thread,
        started_by=rt.started_by,
    )
    if happened.state is None:
        item = Item(slug=rt.slug, title=rt.title, source=rt.source, source_id=rt.source_id)
        said = [(_author(line.meta), line.content) for line in rt.lines if line.source is Source.USER]
        text = draft(item, started_by=rt.name_of(rt.started_by), at=rt.now, said=said)
        change = Change(created=_created(rt), slack=slack, codebase_hash=HEAD)
        return owe_commit(rt, "start", edits=[FileEdit(path="draft.md", text=text)], change=change)

    state = happened.state
    rt = refreshed(rt, state).but(title=state.meta.description or rt.title)
    return owe_commit(rt, "held in another thread", change=Change(slack=slack))


def committed(rt: Roundtable, happened: Committed, playbook: Playbook) -> Roundtable:
    rt = report(saved(rt, happened), happened.troubles, part=Part.DRAFT)
    if playbook.agenda.first_open(rt.phases_completed) is None:
        rt = phases.analysed(rt, playbook)
        return pausing.at_the_end(rt, happened.state.commits_behind)
    return phases.go_on(rt, playbook)


def _open(rt: Roundtable, happened: Start, playbook: Playbook) -> Roundtable:
    rt = rt.meeting(happened.person)
    text = wording.opening(rt.title, rt.slug, leads=_leads(playbook), agenda=playbook.agenda)
    started = wording.started(rt.name_of(happened.person.id), rt.title)
    rt = rt.recording(started, part=Part.DRAFT, user_id=happened.person.id)
    rt = rt.owing(OpenThread(message=Message(text=text, note=started), reply_url=happened.reply_url))
    rt = rt.said(text, rt.outbox[-1], part=Part.DRAFT)
    return report(rt, [one for one in playbook.troubles if one.code == "ERR-RT-002"][:1], part=Part.DRAFT)


def _leads(playbook: Playbook) -> tuple[Persona, ...]:
    leads = (playbook.roster.lead_of(phase.key)[0] for phase in playbook.agenda.phases)
    return tuple({lead.key: lead for lead in leads}.values())


def _created(rt: Roundtable) -> dict[str, str | None]:
    return {
        "description": rt.title,
        "source": rt.source,
        "source_id": rt.source_id,
        "slug": rt.slug,
        "created_at": rt.now,
    }


def _author(meta: Mapping[str, Any]) -> str:
    return str(meta.get("user_name") or meta.get("user_id") or "somebody")
