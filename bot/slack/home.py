"""The Home tab and the daily message as Block Kit. Everything in them but our own words is escaped."""

from collections.abc import Iterable, Iterator

from bot.domain.messages import home_page as wording
from bot.domain.messages import menus
from bot.domain.messages.home_page import (
    AT,
    CHANGE,
    NO_REMINDERS,
    NOT_THIS_WEEK,
    NOT_TODAY,
    OTHER_TIME,
    RESUME,
    DailyMessage,
    DecidedRow,
    HeldRow,
    HomePage,
    ReminderSettings,
    WaitingRow,
)
from bot.domain.messages.message import Link
from bot.domain.privacy.redaction import Redact
from bot.slack.limits import LABEL_CHARS, shortened
from bot.slack.markdown import escape
from bot.slack.render import (
    PREFIX,
    Block,
    RenderedMessage,
    action_id,
    actions_blocks,
    button_elements,
    context_blocks,
    markup,
    plain_text,
    section_block,
)

CALLBACK = f"{PREFIX}home"
OPEN = f"{PREFIX}open"
ROW_CHARS = 1_000
BAR = 10


def home_view(page: HomePage, redact: Redact) -> Block:
    page = page._replace(
        waiting=tuple(_redacted(row, redact) for row in page.waiting),
        held=tuple(row._replace(title=redact(row.title), state=redact(row.state)) for row in page.held),
        decided=tuple(row._replace(text=redact(row.text)) for row in page.decided),
    )
    blocks = [*_page(page)] if page.waiting or page.held else [*_empty(page)]
    return {"type": "home", "callback_id": CALLBACK, "blocks": blocks}


def daily(message: DailyMessage, redact: Redact) -> RenderedMessage:
    message = message._replace(waiting=tuple(_redacted(row, redact) for row in message.waiting))
    lines = [f"{escape(message.greeting)} {message.how_many}"]
    lines += [f"{escape(row.title)}: {escape(row.text)}" for row in message.waiting]
    choices = (NOT_TODAY, OTHER_TIME, NO_REMINDERS)
    labels = (*dict.fromkeys(row.label for row in message.waiting), *(one.label for one in choices))
    lines.append(" ".join(f"[{label}]" for label in labels))
    blocks = [
        section_block(f"{escape(message.greeting)} *{message.how_many}*"),
        *map(_waiting, message.waiting),
        *actions_blocks(_other_time(button_elements(choices, ""))),
    ]
    return RenderedMessage("\n".join(lines), blocks)


def _redacted(row: WaitingRow, redact: Redact) -> WaitingRow:
    return row._replace(title=redact(row.title), text=redact(row.text))


def _other_time(choices: Iterable[Block]) -> list[Block]:
    """A clock instead of a button: it opens no form, so nothing can come too late."""
    clock = {
        "type": "timepicker",
        "action_id": action_id(OTHER_TIME.action),
        "placeholder": plain_text(OTHER_TIME.label, LABEL_CHARS),
    }
    return [clock if one["text"]["text"] == OTHER_TIME.label else one for one in choices]


def _page(page: HomePage) -> Iterator[Block]:
    yield from _begin(page)
    yield _header("Waiting for you")
    yield from map(_waiting, page.waiting)
    if not page.waiting:
        yield section_block(wording.NOTHING_WAITS)
    yield _header("Your roundtables")
    yield from map(_held, page.held)
    if page.decided:
        yield _header("Recently decided")
        yield from map(_decided, page.decided)
    yield from _reminders(page.settings, page.today)
    yield from context_blocks([wording.WHICH])


def _begin(page: HomePage) -> Iterator[Block]:
    yield from actions_blocks([*button_elements((menus.START,), "")])
    if page.notice:
        yield section_block(escape(page.notice))


def _empty(page: HomePage) -> Iterator[Block]:
    yield section_block(f"*{wording.NOTHING_WAITS}*\n{wording.ABOUT}")
    yield from _begin(page)
    yield from context_blocks([wording.OR_TYPE])
    yield from _reminders(page.settings, page.today)


def _reminders(settings: ReminderSettings, today: str) -> Iterator[Block]:
    yield _header("Reminders")
    picker = {
        "type": "timepicker",
        "action_id": action_id(AT.action),
        "initial_time": settings.time,
        "placeholder": plain_text(AT.label, LABEL_CHARS),
    }
    is_snoozed = today < settings.not_before
    told = wording.NO_MORE if settings.off else wording.ONE_A_DAY
    if is_snoozed and not settings.off:
        told = f"{told}\nNot before {settings.not_before}."
    yield {**section_block(told), "accessory": picker}
    if not settings.off:
        choices = (NO_REMINDERS,) if is_snoozed else (NOT_TODAY, NOT_THIS_WEEK, NO_REMINDERS)
        yield from actions_blocks([*button_elements(choices, "")])


def _waiting(row: WaitingRow) -> Block:
    return _row(f"*{escape(row.title)}*\n{escape(row.text)}", row.label, row.url)


def _decided(row: DecidedRow) -> Block:
    [button] = button_elements((CHANGE.but(value=row.subject),), "")
    text = f"{escape(row.text)} – {_linked(row.by, row.url)}"
    return {**section_block(shortened(text, ROW_CHARS)), "accessory": button}


def _held(row: HeldRow) -> Block:
    full = BAR * row.done // row.steps if row.steps else 0
    progress = " · ".join(filter(None, (f"{row.done} of {row.steps}", escape(row.where))))
    lines = (
        f"*{escape(row.title)}*  ·  <#{row.channel}>",
        f"{'▰' * full}{'▱' * (BAR - full)}  {progress}",
        escape(row.state),
    )
    text = "\n".join(filter(None, lines))
    if not row.paused:
        return _row(text, "Open", row.url)
    [button] = button_elements((RESUME.but(value=row.paused),), "")
    return {**section_block(shortened(text, ROW_CHARS)), "accessory": button}


def _row(text: str, label: str, url: str) -> Block:
    button = {"type": "button", "action_id": OPEN, "text": plain_text(label, LABEL_CHARS), "url": url}
    accessory = {"accessory": button} if url else {}
    return {**section_block(shortened(text, ROW_CHARS)), **accessory}


def _linked(label: str, url: str) -> str:
    return markup(Link(label=label, url=url)) if url else escape(label)


def _header(text: str) -> Block:
    return {"type": "header", "text": plain_text(text, LABEL_CHARS)}
