"""
A record as one HTML page that contains everything and fetches nothing. Only our own short script runs in it.

What people and models wrote is always escaped text. The content security policy allows our style and our script by
their digests, so that nothing else could run even if escaping failed.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape
from itertools import pairwise
from pathlib import Path

from bot.domain.transcript.state import Speaker, State
from bot.domain.values.markdown import Block, Span, blocks
from bot.domain.values.text import clean, counted, one_line
from bot.record.brief import (
    BriefPoint,
    Holder,
    Issue,
    Labels,
    PositionMove,
    ReadRecord,
    RecordResults,
)
from bot.record.reading import RecordEntry, SharedFile
from bot.record.text import amounts, lists, standing

# The timeline of a discussion: who spoke when, and where decisions were made and positions changed.
#
# It has at most COLUMNS columns, so the timeline of a million lines is as large as that of a thousand.


WIDTH, LEFT, RIGHT, TOP, LANE = 1000, 150, 12, 26, 24
COLUMNS = 700
WIDEST = 14
LANES = 12
NAME_CHARS = 20
COLOURS = 8


class Timeline:
    def __init__(self, state: State, brief: RecordResults, lines: Iterable[RecordEntry]) -> None:
        self._state = state
        self._decided = [one.line for one in brief.decisions if one.line]
        self._open = [one.line for one in brief.questions if one.line]
        self._moves = [(move.line, move.by) for issue in brief.issues for move in issue.moves]
        ours = sorted(
            state.speakers, key=lambda one: (one.kind != "persona", one.kind != "person", one.first)
        )
        self.speakers: Sequence[Speaker] = ours[:LANES]
        self._lane = {(one.kind, one.key): lane for lane, one in enumerate(self.speakers)}
        self._spoken: list[set[int]] = [set() for _ in self.speakers]
        self._turns: list[set[int]] = [set() for _ in self.speakers]
        self._phases: list[tuple[int, str]] = []
        for entry in lines:
            self._take(entry)

    def _take(self, entry: RecordEntry) -> None:
        lane = self._lane.get((entry.kind, entry.who))
        if lane is not None:
            (self._turns if entry.turn else self._spoken)[lane].add(self._column(entry.number))
        phase = entry.phase_key or entry.part.replace("_", " ")
        if phase and (not self._phases or self._phases[-1][1] != phase):
            self._phases.append((entry.number, phase))

    def svg(self) -> Iterator[str]:
        height = TOP + LANE * (len(self.speakers) + 1) + 10
        yield f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="pt" aria-describedby="pd">'
        yield f'<title id="pt">Timeline of {counted(self._state.lines, "line")}</title>'
        yield f'<desc id="pd">{escape(self.told())}</desc>'
        yield from self._bands(height)
        for lane, speaker in enumerate(self.speakers):
            yield from self._row(lane, speaker)
        yield from self._marks()
        yield "</svg>"

    def told(self) -> str:
        """The timeline as text, for screen readers."""
        state = self._state
        spoke = ", ".join(f"{one.name} {one.lines}" for one in self.speakers)
        sentences = [
            f"{counted(state.lines, 'line')} in {counted(state.round, 'round')}. Lines by speaker: {spoke}."
        ]
        for what, lines in (
            ("decision", self._decided),
            ("open question", self._open),
            ("change of position", [line for line, _ in self._moves]),
        ):
            if lines:
                sentences.append(f"{counted(len(lines), what)} at {_at(lines)}.")
        return one_line(" ".join(sentences), 2_000)

    def _row(self, lane: int, speaker: Speaker) -> Iterator[str]:
        top = TOP + LANE * lane
        name = escape(one_line(speaker.name, NAME_CHARS))
        yield f'<text class="name" x="{LEFT - 10}" y="{top + 15}" text-anchor="end">{name}</text>'
        yield f'<path class="rail" d="M{LEFT} {top + 11}H{WIDTH - RIGHT}"/>'
        colour = self._state.speakers.index(speaker) % COLOURS
        yield f'<path class="said k{colour}" d="{self._path(self._spoken[lane], top + 7, 8)}"/>'
        yield f'<path class="turn k{colour}" d="{self._path(self._turns[lane], top + 2, 18)}"/>'

    def _path(self, columns: Iterable[int], top: int, height: int) -> str:
        wide = min(max(self._wide - 0.6, 1.2), WIDEST)
        return "".join(f"M{self._x(at):.1f} {top}h{wide:.1f}v{height}h-{wide:.1f}z" for at in sorted(columns))

    def _bands(self, height: int) -> Iterator[str]:
        """The phases, every other one shaded, each named where there is room."""
        over = (self._state.line + 1, "")
        for number, ((start, phase), (end, _)) in enumerate(pairwise([*self._phases, over])):
            x, after = self._x(self._column(start)), self._x(self._column(end))
            shade = " even" if number % 2 else ""
            yield f'<rect class="band{shade}" x="{x:.1f}" y="0" width="{max(after - x, 1):.1f}" height="{height}"/>'
            if after - x > 7 * len(phase):
                yield f'<text class="phase" x="{x + 6:.1f}" y="15">{escape(phase)}</text>'

    def _marks(self) -> Iterator[str]:
        """Decisions are diamonds and questions rings on a lane of their own, new positions triangles on a speaker's."""
        lane = TOP + LANE * len(self.speakers) + 12
        if self._decided or self._open:
            yield f'<text class="name" x="{LEFT - 10}" y="{lane + 4}" text-anchor="end">decided, open</text>'
        for question in self._open:
            yield f'<circle class="question" cx="{self._middle(question)}" cy="{lane}" r="4"/>'
        for decision in self._decided:
            yield f'<path class="decision" d="M{self._middle(decision)} {lane - 7}l6 7l-6 7l-6 -7z"/>'
        lanes = {one.name: number for number, one in enumerate(self.speakers)}
        for line, by in self._moves:
            if by in lanes:
                yield f'<path class="move" d="M{self._middle(line)} {TOP + LANE * lanes[by]}l5 9h-10z"/>'

    def _middle(self, line: int) -> str:
        return f"{self._x(self._column(line)) + min(self._wide, WIDEST) / 2:.1f}"

    @property
    def _columns(self) -> int:
        return max(min(self._state.line, COLUMNS), 1)

    @property
    def _wide(self) -> float:
        return (WIDTH - LEFT - RIGHT) / self._columns

    def _column(self, number: int) -> int:
        return (number - 1) * self._columns // max(self._state.line, 1)

    def _x(self, column: int) -> float:
        return LEFT + column * self._wide


def _at(found: Sequence[int]) -> str:
    shown = ", ".join(map(str, found[:20]))
    return f"line{'s' if len(found) > 1 else ''} {shown}{' and others' if len(found) > 20 else ''}"


STATIC = Path(__file__).parent / "static"
POINTS_SHOWN = 200
ISSUES_SHOWN, POSITIONS_SHOWN, HOLDERS_SHOWN, MOVES_SHOWN = 24, 8, 16, 12
MOST_PRINTED, PRINTED, PRINTED_MAPS = 24, 12, 4
"""As many decisions, points of another list, and maps are printed (page.css), so that the brief has few pages."""
CAPTION = "Tall: turns of a discussion. ◆ decision, ○ open question, ▲ change of position."
MAP_CAPTION = "Round: people. Square: personas. Dashed: held this position before."
NOT_YET = "Nothing recorded yet."

_TAGS = {"em": "i", "strong": "b", "s": "s"}


def as_html(record: ReadRecord, *, title: str) -> Iterator[str]:
    """What the roundtable came to stands first, and the transcript is folded behind it."""
    brief, lines, labels = record.brief, record.lines, record.labels
    named = (
        one if one.kind == "person" else one.but(name=labels.name(one.name)) for one in record.state.speakers
    )
    state = record.state.but(speakers=tuple(named))
    style, script = ((STATIC / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    yield from _head(title, style, script)
    yield f'<header class="top"><h1 dir="auto">{_shown(title)}</h1><p>{_shown(standing(state))}</p></header>\n<main>'
    yield from _brief(brief)
    yield '<details id="transcript"><summary><h2>The whole transcript '
    yield f"<small>{counted(state.lines, 'line')}</small></h2></summary>"
    yield '<figure class="picture" tabindex="0" aria-label="Timeline">'
    yield from Timeline(state, brief, lines).svg()
    yield f"<figcaption>{CAPTION}</figcaption></figure>"
    yield from _summary(state, labels)
    yield from _filters(state)
    yield '<div id="record">'
    yield from _record(lines, state, labels)
    yield f"</div></details></main>\n<script>{script}</script>\n</body></html>\n"


# --- the page -----------------------------------------------------------------------------------------------------


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _head(title: str, style: str, script: str) -> Iterator[str]:
    ours = f"style-src {_digest(style)}; script-src {_digest(script)}"
    policy = f"default-src 'none'; {ours}; base-uri 'none'; form-action 'none'"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{_shown(title)} – record</title><style>{style}</style></head>\n<body>"
    yield '<a class="skip" href="#transcript">Skip to what was said</a>'


def _filters(state: State) -> Iterator[str]:
    yield '<form id="filters" aria-label="Filter" hidden><fieldset><legend>Who</legend>'
    for number, one in enumerate(state.speakers):
        yield f'<label class="chip k{number % COLOURS}"><input type="checkbox" name="who" value="{number}" checked>'
        yield f"<bdi>{_shown(one.name)}</bdi> <small>{one.lines:,}</small></label>"
    yield '</fieldset><label>Step <select name="step"><option value="">all</option></select></label>'
    for name in ("from", "to"):
        yield f'<label>Round {name} <input type="number" name="{name}" min="0" max="{state.round}"></label>'
    yield '<button type="reset">Show all</button><output aria-live="polite"></output></form>'


# --- what it came to ----------------------------------------------------------------------------------------------


def _brief(brief: RecordResults) -> Iterator[str]:
    yield '<div class="brief">'
    for heading, points in lists(brief):
        yield from _points(heading, points, most=points is brief.decisions)
    yield from _positions(brief.issues)
    yield from _left_out(brief)
    yield from _files(brief.files)
    if brief.thread:
        link = _link(brief.thread, "The thread in Slack")
        yield f"<section><h2>Links</h2><ul><li>{link}</li></ul></section>"
    yield "</div>"


def _points(heading: str, points: tuple[BriefPoint, ...], *, most: bool = False) -> Iterator[str]:
    yield f"<section><h2>{heading} <small>{len(points)}</small></h2>"
    if not points:
        yield f"<p>{NOT_YET}</p>"
    else:
        kind = "points most" if most else "points"
        yield f'<ul class="{kind}">{"".join(map(_point, points[:POINTS_SHOWN]))}</ul>'
        yield from _more(len(points), MOST_PRINTED if most else PRINTED)
    yield "</section>"


def _point(one: BriefPoint) -> str:
    text = f"<s>{_shown(one.text)}</s>" if one.over else _shown(one.text)
    lead = f"<b>{_shown(one.id)}</b> " if one.id else ""
    facts = "; ".join(f"{name}: {_shown(fact)}" if name else _shown(fact) for name, fact in one.facts)
    about = [_name(one.by) if one.by else "", one.at[:10], _shown(one.fate)]
    links = [_of_line(one.line) if one.line else "", _in_slack(one.link)]
    told = " · ".join(part for part in (*about, *links) if part)
    return (
        f'<li dir="auto"><p class="words">{lead}{text}</p>'
        f'{f"""<p class="facts">{facts}</p>""" if facts else ""}<p class="told">{told}</p></li>'
    )


def _positions(issues: tuple[Issue, ...]) -> Iterator[str]:
    """Where people disagree comes first."""
    if not issues:
        return
    shown = sorted(issues, key=lambda one: not (one.is_disputed or one.moves))[:ISSUES_SHOWN]
    yield f'<section class="wide"><h2>Positions <small>{counted(len(issues), "issue")}</small></h2>'
    yield f'<p class="told">{MAP_CAPTION}</p><div class="maps">'
    for issue in shown:
        yield f'<figure><h3 dir="auto">{_shown(issue.title)}</h3>'
        yield '<dl class="map">'
        for position, holders in list(issue.positions.items())[:POSITIONS_SHOWN]:
            held = " ".join(map(_holder, holders[:HOLDERS_SHOWN]))
            left = " no one now" if all(holder.left for holder in holders) else ""
            yield f'<div><dt dir="auto">{_shown(position)}</dt><dd>{held}{left}</dd></div>'
        yield "</dl>"
        if issue.moves:
            yield f"<ul>{''.join(map(_move, issue.moves[:MOVES_SHOWN]))}</ul>"
        yield "</figure>"
    yield "</div>"
    yield from _more(len(issues), PRINTED_MAPS)
    yield "</section>"


def _holder(holder: Holder) -> str:
    kind = "person" if holder.is_person else "persona"
    return f'<bdi class="chip {kind}{" left" if holder.left else ""}">{_shown(holder.name)}</bdi>'


def _move(one: PositionMove) -> str:
    because = f", because of {', '.join(map(_of_line, one.because))}" if one.because else ""
    return (
        f'<li dir="auto">{_name(one.by)}: {_shown(one.was)} → <b>{_shown(one.position)}</b> '
        f"({_of_line(one.line)}{because})</li>"
    )


def _left_out(brief: RecordResults) -> Iterator[str]:
    if not brief.done:
        return
    yield f"<section><h2>Steps <small>{brief.done}</small></h2><ul>"
    for name, steps in (("Skipped", brief.skipped), ("Not reached", brief.unreached)):
        if steps:
            yield f"<li>{name}: {escape(one_line('; '.join(steps), 4_000))}</li>"
    yield "</ul></section>"


def _files(files: tuple[SharedFile, ...]) -> Iterator[str]:
    if not files:
        return
    yield f'<section><h2>Files <small>{len(files)}</small></h2><ul class="points">'
    for one in files[:POINTS_SHOWN]:
        name = _link(one.link, _shown(one.name)) if one.link else _shown(one.name)
        about = [_shown(one.type), _name(one.by), _of_line(one.line)]
        told = " · ".join(part for part in about if part)
        yield f'<li dir="auto"><p class="words">{name}</p><p class="told">{told}</p></li>'
    yield "</ul>"
    yield from _more(len(files), PRINTED)
    yield "</section>"


def _more(count: int, printed: int) -> Iterator[str]:
    """On paper only the first ones are shown."""
    if count > printed:
        yield f'<p class="printed">And {count - printed:,} more: see the page.</p>'


# --- who spoke, what models used ----------------------------------------------------------------------------------


def _summary(state: State, labels: Labels) -> Iterator[str]:
    yield '<section class="summary" aria-label="Who spoke, and what models used">'
    spoke = (
        (_name(one.name), one.kind, f"{one.lines:,}", _anchor(one.first), _anchor(one.last))
        for one in state.speakers
    )
    yield from _table("Who spoke", ("name", "kind", "lines", "first", "last"), spoke)
    actors = ((labels.name(actor), spent) for actor, spent in state.totals.by_actor.items())
    spent = (
        (_name(name), f"{one.lines:,}", amounts(one))
        for name, one in (*actors, *state.totals.by_provider.items())
        if amounts(one)
    )
    yield from _table("Model calls", ("name", "lines", "use"), spent)
    flaws = [(_anchor(flaw.number), _shown(flaw.sentence)) for flaw in state.flaws[:POINTS_SHOWN]]
    yield from _table("Not as it should be", ("line", "what"), flaws)
    yield "</section>"


def _table(heading: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    found = list(rows)
    if not found:
        return
    heads = "".join(f'<th scope="col">{column}</th>' for column in columns)
    yield f"<section><h2>{heading}</h2><table><thead><tr>{heads}</tr></thead><tbody>"
    for first, *cells in found:
        yield f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    yield "</tbody></table></section>"


# --- what was said ------------------------------------------------------------------------------------------------


def _record(entries: Iterable[RecordEntry], state: State, labels: Labels) -> Iterator[str]:
    """One section for each round and step: filters hide it, and browsers lay it out when it is scrolled into view."""
    numbers = {(one.kind, one.key): number for number, one in enumerate(state.speakers)}
    place: tuple[int, str, str] | None = None
    for entry in entries:
        here = (entry.round, entry.part, entry.step_id)
        if place is None or (here != place and not entry.flaw):
            yield "</ol></section>" if place else ""
            place = here
            yield from _opened(entry)
        if entry.flaw:
            said = f'<p class="by">{_anchor(entry.number)}{_shown(entry.flaw)}</p>'
            yield f'<li id="L{entry.number}" class="flaw">{said}</li>\n'
        else:
            by = entry.by if entry.kind == "person" else labels.name(entry.by)
            yield _line(entry._replace(by=by), numbers.get((entry.kind, entry.who), 0))
    yield "</ol></section>" if place else "<p>Nothing was said yet.</p>"


def _opened(entry: RecordEntry) -> Iterator[str]:
    step = f'<span class="step">{_shown(entry.step_id)}</span>' if entry.step_id else ""
    yield f'<section class="round" data-round="{entry.round}" data-step="{_shown(entry.step_id)}">'
    yield f"<h3>Round {entry.round} {step} <small>{entry.part.replace('_', ' ')}</small></h3><ol>\n"


def _line(entry: RecordEntry, who: int) -> str:
    marks = [entry.turn, *entry.marks, f"position: {entry.position}" if entry.position else ""]
    noted = "".join(f'<span class="mark">{_shown(mark)}</span>' for mark in marks if mark)
    return (
        f'<li id="L{entry.number}" data-who="{who}" class="{entry.kind}{" turn" if entry.turn else ""}">'
        f'<p class="by">{_anchor(entry.number)}<bdi class="who k{who % COLOURS}">{_shown(entry.by)}</bdi>'
        f'<time datetime="{entry.ts}">{entry.ts[:10]} {entry.ts[11:19]}</time>{noted}{_in_slack(entry.link)}</p>'
        f'<div class="text" dir="auto">{_prose(entry.text)}</div>{_attached(entry)}{_cited(entry)}</li>\n'
    )


def _attached(entry: RecordEntry) -> str:
    names = ", ".join(_shown(one.name) for one in entry.files)
    return f'<p class="attached">Attached: {names}</p>' if names else ""


def _cited(entry: RecordEntry) -> str:
    """What a server of tools said, beside the id that the line cites it by."""
    rows = (f"<code>{_shown(one.id)}</code> said: {_shown(one.text)}" for one in entry.passages)
    return "".join(f'<p class="attached" dir="auto">{row}</p>' for row in rows)


def _in_slack(link: str) -> str:
    return _link(link, "in Slack", 'class="slack" ') if link else ""


def _link(address: str, text: str, kind: str = "") -> str:
    return f'<a {kind}href="{escape(address)}" rel="noreferrer noopener">{text}</a>'


def _name(name: str) -> str:
    """Written from right to left, it moves nothing beside it."""
    return f"<bdi>{_shown(name)}</bdi>"


def _anchor(number: int) -> str:
    return f'<a class="n" href="#L{number}" aria-label="line {number}">{number}</a>'


def _of_line(number: int) -> str:
    return f'<a class="n" href="#L{number}">line {number}</a>'


def _prose(text: str) -> str:
    """Escaped text with a few inline tags. Rows keep their bullets, quote marks and spaces."""
    return "\n".join(_block(block) for block in blocks(clean(text).strip("\n")))


def _block(block: Block) -> str:
    shown = "\n".join(escape(row.margin) + "".join(map(_span, row.spans)) for row in block.rows)
    match block.kind:
        case "text":
            return shown
        case "rule":
            return f"{shown}———"
        case "heading":
            return f"<b>{shown}</b>"
        case "code":
            return f"<code>{shown}</code>"


def _span(span: Span) -> str:
    match span.kind:
        case "text":
            return escape(clean(span.text))
        case "code":
            return f"<code>{escape(clean(span.text))}</code>"
        case "begin":
            return f"<{_TAGS[span.text]}>"
        case "end":
            return f"</{_TAGS[span.text]}>"


def _shown(text: str) -> str:
    return escape(one_line(text, 400))
