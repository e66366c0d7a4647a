"""What a roundtable is about: from the words of `start` to an item with a slug, and back from a reference to it."""

import re
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from itertools import islice

from bot.domain.item.export_places import FOLDERS
from bot.domain.item.item_paths import MARKDOWN
from bot.domain.specification.exported import ExportEdit, SourceFiles
from bot.domain.values.markdown import escaped, inert, quoted
from bot.domain.values.text import one_line
from bot.domain.values.value import Stored

SLUG_CHARS = 50
TITLE_CHARS = 150
SHORT_TITLE_CHARS = 80
GREETING_CHARS = 10
"""A first sentence as short as this, such as "Hi!", says nothing: the next one belongs to the title, too."""
UNTITLED = "untitled-item"
DRAFT = "draft.md"

MOST_TITLES = 50
"""Of a backlog: a part of a title that more of them have says nothing."""

BACKLOG_LINE = re.compile(r"^(\s*-\s+)([0-9]+\.[0-9]+)\s+\[([ ~Ax])\]\s+(.+)$")
_BACKLOG_NUMBER = re.compile(r"[0-9]+\.[0-9]+")
_LINKED = re.compile(r"\]\((?:[^()]*/)?([^()/]+)/?\)")
_SENTENCE_END = re.compile(r"(?:(?<![.!?…])[.!?…]++(?=\s++[^\sa-z])|[。！？])")
_ISSUE = re.compile(
    r"<?https?://(?P<host>[\w.-]+(?::[0-9]{1,5})?)/(?P<of>[\w.-]+/[\w.-]+)/(?:issues|pull)/(?P<at>[0-9]{1,19})(?:[/?#|][^\s<>]*)?>?"
    r"|(?P<repository>[\w.-]+/[\w.-]+)?#(?P<number>[0-9]{1,19})",
    re.ASCII,
)
"""`#42`, `acme/api#42`, or the address of an issue or a pull request, also as Slack writes addresses."""
GITHUB = "github.com"
"""Its name is left out of ids: two hosts may have the same repository."""
_LINKED_FILE = re.compile(r"https?://(?=[^/\s]+\.md\Z)", re.IGNORECASE)
_NO_PATH = re.compile(r"\s|://")
_JIRA = re.compile(r"[A-Z]+-[0-9]+")
_TICKET = re.compile(r"#?[0-9]+|[A-Za-z]+-[0-9]+")
_IDS = r"(?:(?:[^\W\d_]+-)?[0-9]+-)"
"""An id in front of the rest of a folder's name, as in `REQ-0027-gh-20-offline-sync`."""
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]|archive")


class IssueComment(Stored):
    by: str
    at: str
    url: str
    text: str


class TrackerIssue(Stored):
    """An issue as a tracker had it at the start. `updated` is its own time, `edits` is what its text proposes."""

    url: str
    title: str
    text: str
    by: str
    state: str
    updated: str
    labels: tuple[str, ...] = ()
    comments: tuple[IssueComment, ...] = ()
    edits: tuple[ExportEdit, ...] = ()


class TrackedIssues(Stored):
    """
    `states` are those of issues by their addresses, as they were `read_at`; the next look follows after `seconds`.
    `made` are the entries whose issue was created, and is not said in the thread yet. `asked` are those for which one
    may have been created of which we do not know, and since when.
    """

    states: Mapping[str, str] = {}
    read_at: str = ""
    seconds: int = 0
    made: tuple[str, ...] = ()
    asked: Mapping[str, str] = {}


class Item(Stored):
    """
    `source` is "github", "jira" or "manual", and `source_id` what it is called there. `reference` is the issue as the
    person named it, where that says more than the id; `issue` what was read there. Of a file or folder of the workspace
    it is the path, and `files` what stands there.
    """

    slug: str
    title: str
    source: str = "manual"
    source_id: str | None = None
    reference: str = ""
    issue: TrackerIssue | None = None
    files: SourceFiles | None = None

    @property
    def is_unread_issue(self) -> bool:
        """Its title is an id, whose letters another repository may have, too."""
        return bool(self.reference) and self.title == self.source_id

    @property
    def issue_number(self) -> str:
        """`#42`, where the item names an issue and no repository; else empty."""
        is_alone = self.source == "github" and not self.reference
        return f"#{(self.source_id or '').removeprefix('GH-')}" if is_alone else ""


class KnownItem(Stored):
    """An item that the workspace has a folder of."""

    slug: str
    title: str = ""
    source_id: str | None = None


def generate_slug(text: str) -> str:
    """A folder name for *text*: always `[a-z0-9][a-z0-9-]*`, and none that Windows or OpenSpec keep for themselves."""
    kept = re.sub(r"[^a-z0-9\s-]", "", text.lower())
    dashed = re.sub(r"-+", "-", re.sub(r"\s+", "-", kept))
    slug = re.sub(r"^-|-$", "", dashed)[:SLUG_CHARS] or UNTITLED
    return f"item-{slug}" if _RESERVED.fullmatch(slug) else slug


def suffixed(slug: str, suffix: str) -> str:
    """*slug* with *suffix* at its end, and no longer than a slug may be."""
    return f"{slug[: SLUG_CHARS - len(suffix) - 1].rstrip('-')}-{suffix}"


def detect_source(text: str) -> tuple[str, str | None]:
    """The source that *text* is a reference to, and the id there; "manual" for all other words."""
    reference = text.strip()
    if _ISSUE.fullmatch(reference):
        return "github", _issue_id(*repository_of(reference))
    if _JIRA.fullmatch(reference):
        return "jira", reference
    return "manual", None


def _issue_id(host: str, repository: str, number: str) -> str:
    host = host.lower().removeprefix("www.")
    at = "" if host in {"", GITHUB} else f"{host}/"
    return f"{at}{repository.lower()}#{number}" if repository else f"GH-{number}"


def repository_of(reference: str) -> tuple[str, str, str]:
    """The host, if it is an address, the repository and the number of what `reference_in` gave."""
    found = _ISSUE.fullmatch(reference)
    if found is None:
        return "", "", ""
    return found["host"] or "", found["of"] or found["repository"] or "", found["at"] or found["number"]


def reference_in(text: str) -> str:
    """The issue with its repository, as *text* names it; empty where an id says it all."""
    found = _ISSUE.fullmatch(text.strip())
    if found is None or not (found["of"] or found["repository"]):
        return ""
    return text.strip().strip("<>").partition("|")[0]


def on_host(item: Item, host: str) -> Item:
    """*item*, whose issue is one of the tracker on *host* where nothing else was said."""
    named, repository, number = repository_of(item.reference)
    if named or not repository or host == GITHUB:
        return item
    return _on_issue(item, f"https://{host}/{repository}/issues/{number}")


def in_repository(item: Item, repository: str) -> Item:
    """*item*, whose issue is one of *repository* where only its number was said."""
    return _on_issue(item, f"{repository}{item.issue_number}") if item.issue_number else item


def _on_issue(item: Item, reference: str) -> Item:
    """A title that a person gave stays."""
    found = item_from(reference)
    is_named = item.title != item.source_id
    return item.but(source_id=found.source_id, reference=found.reference) if is_named else found


def path_in(text: str) -> str:
    """One word with a `/`, or the name of a Markdown file. Slack takes `.md` for the end of an address."""
    word = _LINKED_FILE.sub("", text.strip().strip("`"))
    is_path = bool(word) and ("/" in word or word.lower().endswith(MARKDOWN))
    return word if is_path and not _NO_PATH.search(word) and not _ISSUE.fullmatch(word) else ""


def is_surely_path(path: str) -> bool:
    """`CI/CD` may be a title."""
    in_format = any(path.startswith(f"{one.partition('/')[0]}/") for one in FOLDERS.values())
    return in_format or "." in path or path.startswith(("/", "~")) or path.rstrip("/").count("/") > 1


def item_from(text: str) -> Item:
    source, source_id = detect_source(text)
    title = source_id or one_line(text, TITLE_CHARS) or "Untitled item"
    reference = reference_in(text)
    slug = _issue_slug(title) if reference else generate_slug(title)
    reference = reference or path_in(text)
    return Item(slug=slug, title=title, source=source, source_id=source_id, reference=reference)


def _issue_slug(source_id: str) -> str:
    """Of `acme/api#42`: two issues never share it. Names that do not fit get a code."""
    slug = f"gh-{source_id.replace('#', '-')}"
    if len(slug) <= SLUG_CHARS and re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", slug):
        return slug.replace("/", "_")
    return suffixed(generate_slug(slug), f"x{sha256(source_id.encode()).hexdigest()[:8]}")


def title_of(message: str) -> str:
    """The first sentence of the first line with text, without its full stop; a long one is cut between words."""
    line = next((" ".join(line.split()) for line in message.splitlines() if line.strip()), "")
    ends = (match.end() for match in _SENTENCE_END.finditer(line))
    first = line[: next((end for end in ends if end > GREETING_CHARS), len(line))]
    return one_line(first if first.endswith(("..", "…")) else first.rstrip("."), SHORT_TITLE_CHARS)


def resolve(reference: str, known: Iterable[KnownItem], backlog: str = "") -> tuple[str, ...]:
    """
    The slugs that *reference* may mean: none, the one, or several to choose from.

    The first way of reading it that finds anything counts: slug, end of a slug, slug of a title, number in the
    backlog, id at its source, part of a title. *backlog* is the text of a BACKLOG.md.
    """
    items = tuple(known)
    wanted = reference.strip()
    if not wanted:
        return ()
    slug = wanted.lower()
    readings = (
        (item.slug for item in items if item.slug.lower() == slug),
        (item.slug for item in items if item.slug.lower().endswith(f"-{slug}")),
        (item.slug for item in items if item.title and generate_slug(item.title) == slug),
        _by_number(wanted, items, backlog),
        (item.slug for item in items if item.source_id and item.source_id.lower() == _source_id(wanted)),
        (item.slug for item in items if _may_be_source(item.source_id or "", wanted)),
        _by_title(wanted, items, backlog),
    )
    return _first_that_finds(readings)


def folders_of(item: Item, known: Iterable[KnownItem]) -> tuple[str, ...]:
    """
    The folders that starting *item* means: none for a new item, else the one, or several to choose from.

    Capitals and the signs between words do not count. An id may be in front of the words (`REQ-0027-offline-sync`), or
    words behind the id (`GH-21_Something`). A slug with hyphens may also be the end of a name, as in `resolve`.
    """
    items = tuple(known)
    slugs, names = {item.slug, generate_slug(item.title)}, {_dashed(item.slug), _dashed(item.title)} - {""}
    ticket = _dashed(item.source_id or (item.title if _TICKET.fullmatch(item.title) else ""))
    source = (item.source_id or "").lower()
    if item.is_unread_issue:
        return tuple(one.slug for one in items if (one.source_id or "").lower() == source)
    ends = tuple(f"-{name}" for name in names)
    is_slug = "-" in item.title and " " not in item.title
    readings = (
        (one.slug for one in items if one.slug == item.title),
        (one.slug for one in items if one.slug in slugs),
        (one.slug for one in items if _dashed(one.slug) in names),
        (one.slug for one in items if source and (one.source_id or "").lower() == source),
        (one.slug for one in items if ticket and re.match(f"{_IDS}*{ticket}-", _dashed(one.slug))),
        (one.slug for one in items if not ticket and _is_behind_an_id(_dashed(one.slug), ends)),
        (one.slug for one in items if is_slug and _dashed(one.slug).endswith(ends)),
    )
    return _first_that_finds(readings)


def backlog_title(reference: str, backlog: str) -> str | None:
    """What the backlog calls the item number *reference*, for items that have no folder yet."""
    return next((title for number, title in _backlog(backlog) if number == reference.strip()), None)


def draft(item: Item, *, started_by: str, at: str, said: Iterable[tuple[str, str]] = ()) -> str:
    """The text of draft.md: what was asked, and the (author, text) of what was *said* in the thread before."""
    source = item.source if item.source_id is None else f"{item.source} {item.source_id}"
    if item.reference:
        source += f", <{item.reference}>" if "//" in item.reference else f", {item.reference}"
    parts = [
        f"# {inert(item.title)}",
        f"- **Source**: {source}\n- **Started by**: {escaped(one_line(started_by))}\n- **Started at**: {at}",
    ]
    if item.issue:
        parts += ["## The issue", issue_in_draft(item.issue)]
    for path, content in item.files.texts.items() if item.files else ():
        parts += [f"## {escaped(path)}, {item.files.commit if item.files else ''}", quoted(content)]
    before = [f"**{escaped(one_line(author))}**:\n\n{quoted(text)}" for author, text in said if text.strip()]
    if before:
        parts += ["## What was said before", *before]
    return "\n\n".join(parts) + "\n"


def issue_in_draft(issue: TrackerIssue) -> str:
    labels = "".join(f", {escaped(one_line(label))}" for label in issue.labels)
    about = (
        f"By {escaped(one_line(issue.by))}, {escaped(issue.state)}{labels}, as of {escaped(issue.updated)}:"
    )
    comments = [
        f"**{escaped(one_line(one.by))}**, {escaped(one.at)}, <{one.url}>:\n\n{quoted(one.text)}"
        for one in issue.comments
    ]
    return "\n\n".join((about, quoted(issue.text), *comments))


def _first_that_finds(readings: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return next((found for reading in readings if (found := tuple(dict.fromkeys(reading)))), ())


def _dashed(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")


def _is_behind_an_id(name: str, ends: Iterable[str]) -> bool:
    return any(name.endswith(end) and re.fullmatch(f"{_IDS}+", f"{name.removesuffix(end)}-") for end in ends)


def _source_id(reference: str) -> str:
    return (detect_source(reference)[1] or reference).lower()


def _may_be_source(source_id: str, reference: str) -> bool:
    """`#42` may be that of any repository, and `acme/api#42` on any host."""
    wanted = _source_id(reference)
    is_named = "#" in wanted and source_id.endswith(f"/{wanted}")
    return is_named or source_id.endswith(f"#{wanted.removeprefix('gh-')}")


def _by_number(wanted: str, items: tuple[KnownItem, ...], backlog: str) -> Iterable[str]:
    if not _BACKLOG_NUMBER.fullmatch(wanted):
        return ()
    title = backlog_title(wanted, backlog)
    return _folders(title, items) if title else ()


def _by_title(wanted: str, items: tuple[KnownItem, ...], backlog: str) -> Iterable[str]:
    part = wanted.casefold()
    for item in items:
        if part in item.title.casefold():
            yield item.slug
    titles = (title for _, title in _backlog(backlog) if part in title.casefold())
    for title in islice(titles, MOST_TITLES):
        yield from _folders(title, items)


def _folders(title: str, items: tuple[KnownItem, ...]) -> tuple[str, ...]:
    """
    The folder made for a backlog title: the one it links to, that very slug, the item of that title, else one with
    something in front of the slug, else around it.
    """
    slug, called = generate_slug(title), title.casefold()
    linked = frozenset(_LINKED.findall(called))
    fits: tuple[Callable[[str, str], bool], ...] = (
        lambda known, _: known in linked,
        lambda known, _: known == slug,
        lambda _, name: name == called,
        lambda known, _: known.endswith(f"-{slug}"),
        lambda known, _: slug in known,
    )
    for fit in fits:
        if found := [item.slug for item in items if fit(item.slug.lower(), item.title.casefold())]:
            return tuple(found[:1])
    return ()


def _backlog(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        if match := BACKLOG_LINE.match(line):
            yield match[2], match[4].strip()
