"""
Every sentence that the host, or a persona by rote, says. Where the seeds give a text, it is that text.

What people and voices said comes in as arguments and is only ever shown; nothing here is told who may act on it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import assert_never

from bot.domain.catalog.agenda import Agenda
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.phases import Phase
from bot.domain.catalog.steps import BULLET, NUMBERED, Depth, Step
from bot.domain.item.item import TITLE_CHARS
from bot.domain.item.meta import Record
from bot.domain.roundtable.outcomes import (
    ChangedFile,
    CodeSurvey,
    DraftQuestion,
    ExportFlaw,
    ExportNote,
    KeywordHits,
)
from bot.domain.values.markdown import escaped
from bot.domain.values.text import counted, listed, one_line

SUMMARY_LIMIT = 200
_PLACEHOLDER = re.compile(r"\{([^{}\n]{1,60})\}")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
FILES_SHOWN = 3
LEFT_OUT_SHOWN = 20
IDS_SHOWN = 12


# --- starting -----------------------------------------------------------------------------------------------------

NOTHING_OPEN = "No step is open, because the roundtable is stopped. Type `/roundtable resume` to continue."


def opening(title: str, slug: str, *, leads: Sequence[Persona], agenda: Agenda) -> str:
    names = listed([persona.name for persona in leads])
    has_cards = bool(agenda.steps) and all(step.is_card for step in agenda.steps)
    steps = counted(len(agenda.steps), "step")
    way = counted(len(agenda.steps), "card") if has_cards else f"{len(agenda.phases)} phases and {steps}"
    return (
        f"**Roundtable: {title}**\n"
        f"{names} will lead us through {way}, here in this "
        f"thread. Everybody can answer, press buttons and disagree; every finished step is saved as `{slug}`."
    )


def named_by_git(title: str) -> str:
    """*title* is anybody's text, who can push."""
    return (
        f"The repository says that this thread belongs to **{_untrusted(title)}**, but I did not write that myself. "
        "If that is right, press *Continue here*. I then read this thread, and we continue."
    )


def record_gone(title: str) -> str:
    return (
        f"This was the roundtable on **{_untrusted(title)}**, but I no longer have a record of it. "
        "To continue, press *Continue here*. I then read this thread."
    )


def taken_up_here(title: str) -> str:
    return f"This thread belongs to **{_untrusted(title)}**."


def title_of_root(text: str) -> str:
    """The title in the first line of an `opening`, or of the root of a planning; empty when there is none."""
    found = re.fullmatch(r"\**(?:Roundtable|Planning): (.*[^*])\**", text.split("\n", 1)[0].strip())
    return one_line(found[1], TITLE_CHARS) if found else ""


def adopted(count: int) -> str:
    said = {0: "there is nothing for", 1: "1 message goes into"}.get(count, f"{count} messages go into")
    return f"I've read this thread: {said} `draft.md`."


def started(person: str, title: str) -> str:
    return f"{person} started a roundtable on {title}."


def resumed(person: str) -> str:
    return f"{person} resumed the roundtable."


# --- phases -------------------------------------------------------------------------------------------------------

STOPS_SOON = "I finish writing this down. Then I stop."
SKIPPING = "Skipping remaining steps in this phase. I'll produce draft artifacts based on what we've discussed so far."
SKIPPED_WITH_PHASE = "It was skipped with the rest of the phase."
SKIPPED_WITHOUT_FILE = "It was skipped, because its file was missing."
NOT_DISCUSSED = "It was not discussed."


def missing_step(step_id: str, content: str) -> str:
    which = f" (content {content})" if content else ""
    return f"Step {step_id} is not in this version's files{which}. Put it back, or press Skip."


def chose(name: str, label: str) -> str:
    return f"{name} chose: {label}"


OPENED_LATER = (
    "A step can't be opened now. Wait until the card has its buttons, or type `resume`. Then try again."
)
OPEN_ALREADY = "This step is open already. Just write what you want to add."
NO_SUCH_STEP = "I don't know that step. Its file may be gone."
COMPLETE_AND_CURRENT = "Analysis is already complete and current. Nothing to do."
HOW_IT_GOES = (
    "Just write. Everything that you say is kept, with your name. Sent alone, these words are commands: `finish` "
    "saves the open step; `C`, `E` and `S` choose from a menu; `done` ends a discussion; `deep`, `standard` and "
    "`brief` change how much is asked; `stop` pauses. `@roundtable help` lists all commands."
)


def handoff(outgoing: Persona, incoming: Persona, *, ended: Phase, begun: Phase) -> str:
    return (
        f"{outgoing.name} has finished {ended.done}. Handing off to {incoming.name} ({incoming.role}) "
        f"who will {begun.doing}."
    )


def reviewed(
    outgoing: Persona, ended: Phase, *, artifacts: Sequence[str], titles: Sequence[str], thinks: bool
) -> str:
    """What is on record. Only a persona that *thinks* with a model says that it has reviewed it."""
    files = listed([f"`{name}`" for name in artifacts]) or "no files yet"
    covered = f", covering {listed(titles)}" if titles else ""
    record = f"{outgoing.first_name}'s {ended.name.lower()} record"
    opening = f"I've reviewed {record}." if thinks else f"This is {record}."
    return f"{opening} Here's what I'm working with: {files}{covered}."


def greeting(persona: Persona, phase: Phase) -> str:
    return (
        f"Hi, I'm {persona.first_name}, your {persona.role}. I'll be guiding you through {phase.guiding}. "
        "Let's get started."
    )


def welcome_back(titles: Sequence[str], upcoming: str, elaborations: Sequence[Record]) -> str:
    sentences = ["Welcome back."]
    if titles:
        sentences.append(f"Last time we completed {listed(titles)}.")
    sentences.extend(
        f"We also had a roundtable discussion on step {record.step_id} where {_inside(record.synthesis_summary)}."
        for record in elaborations
    )
    if upcoming:
        sentences.append(f"Let's pick up from {upcoming}.")
    return " ".join(sentences)


DEPTH_ANNOUNCED = {
    Depth.BRIEF: (
        "This looks straightforward. I'll keep the analysis brief -- say 'deep' if you want the full treatment."
    ),
    Depth.STANDARD: "",
    Depth.DEEP: (
        "This is a substantial change. I'll do a thorough analysis -- say 'brief' if you want to speed things up."
    ),
}


def depth_kept(depth: Depth) -> str:
    words = {Depth.BRIEF: "brief", Depth.STANDARD: "standard", Depth.DEEP: "thorough"}
    return f"(Using {words[depth]} analysis mode as you requested last session.)"


def depth_switched(depth: Depth) -> str:
    return f"Got it, switching to {depth} mode."


def searched(words: int, files: int) -> str:
    return f"Searched the code base for {counted(words, 'word')}: {counted(files, 'file')} found."


AT_REST = {
    "paused": "This roundtable is stopped. I keep what you write. "
    "To go on, press *Resume*, or type `@roundtable resume`.",
    "analysed": "This analysis is complete. I keep what you write. To open a step again, type `@roundtable resume`; "
    "to plan it, `@roundtable plan`.",
    "stalled": "This roundtable waits. To go on, press *Retry*, or type `@roundtable resume`. "
    "I keep what you write.",
}
"""The hint for who writes in a thread in which nothing goes on, by its stage."""


def asks(question: DraftQuestion) -> str:
    """By names: `**Grace**: When does the bank's day end? Alex would say 16:00.`"""
    own = f" {question.by} would say: {question.recommended.rstrip('.')}." if question.recommended else ""
    return f"{f'**{question.to}**: ' if question.to else ''}{question.text}{own}"


def not_read(persona: Persona, messages: int, drafts: int, *, is_most: bool) -> str:
    """*is_most*: so many *drafts* are made of a step by themselves."""
    said = counted(messages, "message was", "messages were")
    after = f" after {counted(drafts, 'draft')} of this step" if is_most else ""
    return f"{said} not read by {persona.first_name}{after}."


def never_read(messages: int) -> str:
    """In the record of an item that ended."""
    return f"{counted(messages, 'message was', 'messages were')} read by no model before the end."


ALL_IS_READ = "Everything that was said here is read."


def nothing_new(persona: Persona) -> str:
    return f"{persona.name} read what was said and proposes nothing new."


def nothing_found(persona: Persona) -> str:
    return f"{persona.name} looked before anybody answered and proposes nothing yet."


def cannot_see(files: Sequence[str]) -> str:
    return f"I can't look inside files. Say in words what matters in {listed([f'`{one}`' for one in files])}."


def stands_in(persona: Persona, step: Step, absent: Persona | None = None) -> str:
    if absent:
        return f"{persona.first_name} leads this step, because {absent.first_name} does not take part."
    return f"{persona.first_name} leads this step, because the persona `{step.persona}` cannot be used."


def not_done(
    here: Sequence[tuple[str, str]],
    elsewhere: Sequence[tuple[str, str]] = (),
    *,
    without_button: str = "",
) -> str:
    """The steps that were left out, and why: in this phase and elsewhere. *without_button*: the id of one of them."""
    parts = (("Not done in this phase", here), ("Not done", elsewhere))
    lists = [f"{head}:\n{_reasons(left)}" for head, left in parts if left]
    how = (
        [f"To open a step without a button, type its number: `reopen {without_button}`."]
        if without_button
        else []
    )
    return "\n\n".join([*lists, *how])


def _reasons(left: Sequence[tuple[str, str]]) -> str:
    more = len(left) - LEFT_OUT_SHOWN
    rows = [f"- {step_id}: {why}" for step_id, why in left[:LEFT_OUT_SHOWN]]
    return "\n".join([*rows, *([f"- and {more} more"] if more > 0 else [])])


def left_out_of_phase(titles: Sequence[str]) -> tuple[str, str]:
    """Two lines, for a screen; SKIPPING is the sentence of both where there are no blocks."""
    return f"Left out: {', '.join(titles)}", "What was said about them is kept as notes."


def phase_complete(phase: Phase) -> str:
    return f"Phase {phase.number} ({phase.name}) complete."


def analysis_complete(slug: str, not_settled: int, lacking: Sequence[str]) -> str:
    """*lacking* says why it is not ready to build; nothing if it is."""
    if not lacking:
        return f"Analysis complete. {slug} is ready to build."
    if not_settled:
        verb = "is" if not_settled == 1 else "are"
        return f"Analysis complete. {slug} has {counted(not_settled, 'point')} that {verb} not settled."
    return f"Analysis complete. {slug} has {listed(lacking)}."


def go_deeper(done: int, steps: int) -> str:
    return f"{done} of {counted(steps, 'step')} have content; go deeper for the others."


EVERY_STEP_IS_DONE = "Every step is done."
ASKED_ALREADY = "The missing steps are asked already, one after the other. Answer the one that is open."
DEEPER_AFTER_DISCUSSION = "A discussion is going on. End it first, then go deeper."
DEEPER_AFTER_RESUME = "Nothing goes on here now. Type `resume` first, then go deeper."


def step_of(number: int, steps: int) -> str:
    return f"Step {number} of {steps}"


def card_of(number: int, cards: int) -> str:
    return f"Card {number} of {cards}"


def saved_in(path: str, at: str) -> str:
    """*at* is a moment."""
    return f"saved {at[11:16]} UTC in `{path}`"


def stale(commits: int) -> str:
    return f"Codebase has changed since analysis ({counted(commits, 'commit')}). Re-run analysis?"


# --- steps --------------------------------------------------------------------------------------------------------

HOW_TO_FINISH = "This is not kept as an answer. To save what was said here, type `finish`."
LONGER = "Some entries are longer than shown here."
NOT_ALL_SAVED = "Not everything is saved yet. I keep trying, and tell you when it is."
LATER_NOT_SAVED = "What was added since then is not saved yet."


def becomes_of_replies(name: str, depth: Depth, *, questions: int, thinks: bool) -> str:
    """What happens with what people reply: *thinks* says whether the persona has a model."""
    if not thinks:
        number = " `2. …` answers question 2." if questions > 1 else ""
        return f"Reply here in your own words, all of you.{number} One press sorts the rest."
    again = f" {name} asks again where something is missing or can be read in two ways."
    drafts = f"{name} drafts from what you say. Nothing counts until one of you accepts it."
    return f"{drafts}{again if depth is Depth.DEEP else ''}"


def header(persona: Persona, step: Step) -> str:
    return f"**{persona.label} -- Step {step.step_id}: {step.title}**"


def prompt(text: str, facts: Mapping[str, str]) -> str:
    """
    A step's text with its {placeholders} filled. A sentence with one of *facts* that is empty is left out, unless it is
    all that its question, or the text, says; then, and for any other placeholder, a blank is shown.
    """
    rows = [_said(row, facts) for row in text.split("\n")]
    kept = "\n".join(row for row in rows if row is not None)
    return _PLACEHOLDER.sub(
        lambda found: facts.get(found[1]) or _blank(found[1]), kept if kept.strip() else text
    )


def _said(row: str, facts: Mapping[str, str]) -> str | None:
    """None where nothing of the row is left."""
    item = NUMBERED.fullmatch(row) or BULLET.fullmatch(row)
    at = item.start(1) if item else 0
    sentences = _SENTENCE_END.split(row[at:])
    kept = [one for one in sentences if all(facts.get(name, "-") for name in _PLACEHOLDER.findall(one))]
    if len(kept) == len(sentences):
        return row
    return row[:at] + " ".join(kept) if kept else (row if item else None)


def planning(questions: Sequence[str]) -> str:
    """What the step of the plan asks: the *questions* of its roles, numbered."""
    asked = "\n".join(questions) or "No role lacks anything that is looked for."
    return f"{asked}\n\n{HOW_TO_APPROVE}"


def surveyed(survey: CodeSurvey) -> str:
    if survey.withheld:
        return "I do not look at the code for this channel, so I rely on what you know."
    if not survey.tracked_files:
        return "There is no code base in my workspace to search, so I rely on what you know."
    found = "\n".join(
        f"- `{hits.keyword}`: {counted(hits.count, 'hit')}{_where(hits)}" for hits in survey.hits
    )
    partly = "" if survey.complete else " (I ran out of time, so there may be more)"
    searched = f"I searched {survey.tracked_files} tracked files{partly}"
    return f"{searched}:\n{found}" if found else f"{searched}, but had no words to look for."


def finished(person: str) -> str:
    return f"Finished by {person}"


def step_finished(person: str, step: Step) -> str:
    return f"{person} finished step {step.step_id} {step.title}."


def wrote(step: str, paths: Sequence[str]) -> str:
    files = listed([f"`{path}`" for path in dict.fromkeys(paths)]) or "no files"
    return f"Step {step} is written to {files}."


def proposed(persona: Persona, ids: str) -> str:
    return f"{persona.name} suggests {ids}."


def changed_by_hand(author: str, place: str, commit: str, entries: int) -> str:
    where = f" ({commit})" if commit else ""
    follow = {0: "Nothing recorded follows it", 1: "1 entry follows it"}.get(
        entries, f"{entries} entries follow it"
    )
    return f"{author} changed {place} by hand{where}. {follow}."


def changed_in_export(author: str, path: str, commit: str, ids: Sequence[str], left_out: int) -> str:
    return f"{author} changed `{path}` in git ({commit}). {entries_proposed(ids, left_out)}"


def begun_with(path: str, commit: str, ids: Sequence[str], left_out: int, *, is_new: bool) -> str:
    kept = "Its text is in `draft.md`. " if is_new else ""
    what = entries_proposed(ids, left_out) if ids or left_out else "Nothing in it is marked as an entry."
    return f"I have read `{path}` ({commit}). {kept}{what}"


def entries_proposed(ids: Sequence[str], left_out: int = 0) -> str:
    more = [f"{len(ids) - IDS_SHOWN} more"] if len(ids) > IDS_SHOWN else []
    what = listed([*ids[:IDS_SHOWN], *more]) or "nothing"
    left = f" {counted(left_out, 'text')} too long, or one too many, stay in the file." if left_out else ""
    return f"Proposed: {what}. It counts when somebody accepts it.{left}"


def not_exported(note: ExportNote) -> str:
    match note.flaw:
        case ExportFlaw.GONE:
            return (
                f"`{note.path}` is gone, so I do not write it again. `roundtable export` brings it back,"
                " once its files are committed."
            )
        case ExportFlaw.FOREIGN:
            return f"I did not write `{note.path}`, so I leave it as it is and do not export that format."
        case ExportFlaw.CHANGED:
            return (
                f"Somebody wrote into `{note.path}` what is no entry, so I leave the file as it is. Move these words"
                " to a file of their own, and it is written again."
            )
        case ExportFlaw.BROKEN:
            return f"`{note.path}` is not written: its format cannot be used. The log of the bot says why."
        case _:
            assert_never(note.flaw)


def unread_by_hand(author: str, place: str, row: str) -> str:
    problem = f"{author} changed {place} by hand, and I cannot read this row: `{one_line(row, 80)}`."
    return f"{problem} I leave the section as it is."


def read_as(who: str, kinds: Sequence[str], note: str) -> str:
    """`Grace: read as 1 constraint, 1 exclusion. Kept as said: “…”`"""
    read = f"read as {', '.join(kinds)}. Kept" if kinds else "kept"
    return f"**{who}**: {read} as said: “{note}”"


def saved(touched: Sequence[ChangedFile]) -> str:
    places = [f"`{one.path}`" + (f" > {one.heading}" if one.heading else "") for one in touched]
    return f"Saved: {', '.join(places)}" if places else "Saved."


def retracted(person: str) -> str:
    return f"{person} deleted a message."


# --- menus --------------------------------------------------------------------------------------------------------

SUPERSEDED = "Replaced by a newer message below"

ELABORATE_LINE = "[E] Elaboration Mode -- bring all perspectives to discuss this topic"
CONTINUE_LINE = "[C] Continue -- move to the next step"
SKIP_LINE = "[S] Skip remaining steps in this phase"
FEEDBACK_LINE = "Or type naturally to provide feedback."


def continue_to(following: Phase | None) -> str:
    if following is None:
        return "Complete analysis"
    return f"Continue to Phase {following.number} ({following.name})"


def chosen(label: str, person: str) -> str:
    return f"{label} -- chosen by {person}"


def stopped_here(person: str) -> str:
    return f"Stopped by {person}"


def paused(upcoming: str) -> str:
    where = f" Next is {upcoming}." if upcoming else ""
    return f"We stop here; everything said so far is kept.{where} Press Resume or say `/roundtable resume` to go on."


# --- small things -------------------------------------------------------------------------------------------------


def _where(hits: KeywordHits) -> str:
    """An older search did not count files."""
    shown = ", ".join(f"`{path}`" for path in hits.files[:FILES_SHOWN])
    if not hits.file_count:
        return f" in {shown}" if shown else ""
    return f" in {counted(hits.file_count, 'file')}" + (f": {shown}" if shown else "")


def _blank(name: str) -> str:
    """`{N}` says nothing to a reader; `{small/medium/large}` names the choices."""
    return f"____ ({name})" if "/" in name else "____"


def _untrusted(title: str) -> str:
    return escaped(one_line(title, TITLE_CHARS))


def _inside(summary: str) -> str:
    """A summary as part of a sentence: "Identified 3 criteria." -> "identified 3 criteria"."""
    text = " ".join(summary.split()).rstrip(".")[:SUMMARY_LIMIT]
    if text[:1].isdigit():  # without a model a summary counts: "1 decision and 2 remarks"
        return f"we recorded {text}"
    starts_sentence = len(text) > 1 and text[0].isupper() and not text[1].isupper()
    return text[0].lower() + text[1:] if starts_sentence and not text.startswith("I ") else text


PLAN_HAS_NO_DEPTH = "The plan asks the same at every depth."
HOW_TO_APPROVE = (
    "You give the verdict of each role: `Test Planner: go`, `no-go`, `go with a condition; condition: …`, `no gap`, or "
    "`skip`. What stays open is open in the plan."
)

# What stands behind the app's name while people wait for it.


AT_WORK: Mapping[str, str] = {
    "speak": "is thinking…",
    "draft": "is writing this down…",
}
"""By the kind of the effect."""


ASKS_AUTHOR: Mapping[str, str] = {
    "decision": "{name}, did you decide this?",
    "objection": "{name}, do you object in these words?",
}
"""By the kind of what a model quotes."""


def left_by_last_step(count: int) -> str:
    """Of entries that a model drafted when the step was finished already."""
    return f"**From the last step**: {counted(count, 'entry', 'entries')}. Right?"


def keeps(checked: int, count: int) -> str:
    if checked < count:
        return f"Keep the {checked} that {'is' if checked == 1 else 'are'} checked"
    return "Yes, keep it" if count == 1 else f"Yes, keep all {count}"
