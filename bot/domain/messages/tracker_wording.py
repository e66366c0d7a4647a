"""Issues of a tracker, and files that an item begins with: what people read about them, and what an issue says."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot.domain.item.item import repository_of
from bot.domain.messages.form import FieldKind, FormField, FormName, FormOption, InputForm, choice_field
from bot.domain.messages.message import Link, Message
from bot.domain.values.markdown import escaped, inert_line
from bot.domain.values.text import counted, listed, one_line


def not_set_up(reference: str) -> str:
    return f"{not_read(reference)}: no key for GitHub is set (ROUNDTABLE_GITHUB_KEY)."


def not_read(reference: str) -> str:
    return f"I have not read {reference}"


def pull_request(reference: str) -> str:
    return f"{not_read(reference)}: it is a pull request, not an issue."


def other_host(reference: str, host: str) -> str:
    return f"{not_read(reference)}: I read issues of {host} only."


def no_repository(number: str) -> str:
    return f"{not_read(number)}: it names no repository. Say it as OWNER/REPOSITORY{number}."


def private(reference: str) -> str:
    return f"{not_read(reference)}: its repository is private, and guests may read along here."


IS_READ = "The issue is being read."


def asked_to_read(name: str, reference: str) -> str:
    return f"{name} asked to read {reference} again."


def nothing_new(name: str, at: str) -> str:
    return f"I have read `{name}` ({at}): there is nothing new."


NO_ANSWER = "GitHub gave no usable answer in time."
ASKS_TO_WAIT = "GitHub asks to wait."
MOVED = "it was moved. Use its new address."


def refused(status: int) -> str:
    return _WHY.get(status, f"GitHub refused it ({status}).")


_WHY = {
    401: "GitHub does not accept the key that is set.",
    403: "GitHub does not allow it with the key that is set.",
    404: "it does not exist, or the key that is set may not see it.",
    410: "it was deleted, or the repository has no issues.",
}


def app_refused(status: int) -> str:
    return _WHY_NO_APP.get(status, refused(status))


_WHY_NO_APP = {
    401: "GitHub does not accept the private key of the App that is set.",
    403: "GitHub does not let the App in: it may be suspended there.",
    404: "the App that is set is not installed there.",
}
NO_PRIVATE_KEY = "what is set is no private key of an App (RSA, without a passphrase)."

# --- issues for pieces of work ----------------------------------------------------------------------------------------

WORK, REPOSITORY, LABELS = "work", "repository", "labels"
MOST_LABELS, LONGEST_LABEL = 20, 50
"""What GitHub takes."""
MOST_AT_ONCE = 20
LABEL_CHARS, PREVIEW_CHARS, ISSUE_CHARS = 70, 900, 20_000
PREVIEWED = 3
CHOOSE = "Choose at least one."
WRONG_LABELS = f"At most {MOST_LABELS} labels, of at most {LONGEST_LABEL} characters each."
TOO_MANY_CHOSEN = f"GitHub takes {MOST_AT_ONCE} at a time. Create the others after these."
PRIVATE = "This channel is private, so nothing of it becomes an issue."
NO_REPOSITORY = "No repository for issues is set (ROUNDTABLE_GITHUB)."
NO_WORK = "There is no accepted piece of work yet. Write `task: …` and accept it."
NOTHING_TO_CREATE = "There is nothing to create: it is under way, or was withdrawn."
MORE = "More is in the thread."
NO_ADDRESS = "GitHub created an issue, and its answer has no usable address."


def too_many(id: str) -> str:
    return (
        "so many issues were created there meanwhile that I cannot tell whether this one was. Look for it there, or"
        f" create it by hand, and write `{id} issue: ADDRESS`."
    )


class IssueRow(NamedTuple):
    id: str
    words: str


class IssueShown(NamedTuple):
    """What the issue for a piece of work says. *issue* is the address of the one that it has."""

    id: str
    title: str
    text: str
    issue: str


def form(
    shown: Sequence[IssueShown], slug: str, *, repositories: Sequence[str], chosen: str = ""
) -> InputForm:
    """*chosen* is the repository that is chosen at first, if it is one of them."""
    options = tuple(
        FormOption(
            value=one.id,
            label=one_line(f"{one.id} {one.title}", LABEL_CHARS),
            about=one_line(f"{issue_name(one.issue)}: renews what I wrote there", LABEL_CHARS)
            if one.issue
            else "",
        )
        for one in shown
    )
    new = [one for one in shown if not one.issue]
    first = next((one for one in repositories if one.casefold() == chosen.casefold()), repositories[0])
    fields = [
        FormField(
            name=WORK,
            label="For which pieces of work?",
            kind=FieldKind.REFS,
            options=options,
            initial=tuple(one.id for one in new[:MOST_AT_ONCE]),
            required=True,
        )
    ]
    if len(repositories) > 1:
        named = [FormOption(value=one, label=one) for one in repositories]
        fields.append(choice_field(REPOSITORY, "In which repository?", named, initial=first))
    about = "Of new issues, with commas between them. GitHub makes those that it does not know."
    fields.append(FormField(name=LABELS, label="Labels", kind=FieldKind.LINE, hint=about))
    where = f" in **{first}**" if len(repositories) == 1 else ""
    intro = [f"One issue for each{where}. All who can read the repository can read it."]
    intro += [f"**{inert_line(one.title)}**\n{one_line(one.text, PREVIEW_CHARS)}" for one in new[:PREVIEWED]]
    return InputForm(
        name=FormName.ISSUES,
        slug=slug,
        title="Create issues",
        intro="\n\n".join(intro),
        fields=tuple(fields),
        submit="Create",
    )


def issue_text(
    row: IssueRow,
    *,
    item: str,
    thread: str,
    said: str,
    by_when: str,
    waits: Sequence[tuple[str, str]],
    served: Sequence[tuple[IssueRow, Sequence[IssueRow]]],
) -> str:
    """Markdown. *waits* are entries and the addresses of their issues, *served* requirements with their criteria."""
    about = f"[{_plain(item)}]({thread})" if thread else _plain(item)
    why = f" ([said here]({said}))" if said else ""
    lines = [f"{row.id}, a piece of work of {about}: {_plain(row.words)}{why}"]
    facts = [f"- By {_plain(by_when)}"] if by_when else []
    facts += (
        [f"- After {listed([f'{id} ({issue})' if issue else id for id, issue in waits])}"] if waits else []
    )
    if facts:
        lines.append("\n".join(facts))
    for requirement, criteria in served:
        rows = [f"**{requirement.id}** {_plain(requirement.words)}"]
        rows += ["", *(f"- [ ] {one.id}: {_plain(one.words)}" for one in criteria)] if criteria else []
        lines.append("\n".join(rows))
    while sum(map(len, lines)) > ISSUE_CHARS:
        lines[-2:] = [MORE] if lines[-1] == MORE else [lines[-2], MORE]
    return "\n\n".join(lines)


def _plain(words: str) -> str:
    """Nobody is told of it, and no other issue is linked, because of somebody's words."""
    apart = "<!-- -->"
    return escaped(inert_line(words)).replace("@", f"@{apart}").replace("\\#", f"\\#{apart}")


def issue_name(address: str) -> str:
    """`acme/api#57`; empty for no address."""
    _, repository, number = repository_of(address)
    return f"{repository}#{number}" if repository else ""


def asked(name: str, ids: Sequence[str], repository: str, labels: Sequence[str]) -> str:
    labelled = f" Labels: {', '.join(labels)}." if labels else ""
    return f"{name} asked for {counted(len(ids), 'issue')} in {repository}: {listed(ids)}.{labelled}"


def created(name: str, id: str, issue: str) -> str:
    return f"{name} created {issue_name(issue)} for {id}: {issue}"


def all_created(name: str, issues: Mapping[str, str]) -> Message:
    told = listed([f"{issue_name(issue)} ({id})" for id, issue in issues.items()])
    links = tuple(Link(label=issue_name(issue), url=issue) for issue in issues.values())
    return Message(text=f"{name} created {counted(len(issues), 'issue')}: {told}.", links=links)


def left_alone(id: str, issue: str) -> str:
    return f"I left {issue_name(issue)} ({id}) as it is: somebody changed or removed what I wrote there."


def stopped(why: str) -> str:
    return f"{why} Press *Create issues…* again for those that are missing: none is created twice."


def not_pushed(id: str, repository: str) -> str:
    return f"I have no issue for {id} in {repository}"


def no_states(repository: str) -> str:
    return f"I have not read the issues of {repository}"


def not_readable(repository: str) -> str:
    return f"Issues of {repository} cannot be read" if repository else "Issues cannot be read"


def not_creatable(repository: str) -> str:
    return f"No issue can be created in {repository}"


# --- files of the workspace; models that look at code read the same ---------------------------------------------------

NO_PATH = "A path is relative to the top of the repository, without `..`."
NOT_FOR_GUESTS = "Only members of this workspace can start on a file of the repository."


def of_items(path: str) -> str:
    return f"{path} belongs to the items: type the name of the item instead."


def secret(path: str) -> str:
    return f"{path} may hold secrets, and is not shown."


def symbolic_link(path: str) -> str:
    return f"{path} is a symbolic link, which is not followed."


def not_committed(path: str) -> str:
    return f"{path} is not tracked at the newest commit."


def no_file(path: str) -> str:
    return f"{path} is no file."


def too_large(path: str, most: int) -> str:
    size = f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most // 1024} KiB"
    return f"{path} is larger than {size}."


def no_text(path: str) -> str:
    return f"{path} is not a text."


def no_markdown(path: str) -> str:
    return f"{path} is no Markdown file. I read `.md` files, and folders of OpenSpec, spec-kit and Kiro."


def no_specification(path: str) -> str:
    needed = "`proposal.md`, `spec.md` or `requirements.md`"
    return f"{path} is no folder of OpenSpec, spec-kit or Kiro: it has no {needed}."
