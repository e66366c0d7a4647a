"""Every sentence of an elaboration that is said by rote, by the host or by the lead."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot.domain.catalog.personas import Persona
from bot.domain.catalog.phases import Phase
from bot.domain.catalog.steps import Step
from bot.domain.discussion.board import UNDECIDED, Stand
from bot.domain.discussion.elaboration import (
    BoardOption,
    Elaboration,
    Fate,
    SealedPosition,
)
from bot.domain.roundtable.outcomes import ChangedFile
from bot.domain.values.markdown import bullet, escaped
from bot.domain.values.text import counted, listed

NEARING_THE_END = "We are nearing the end of our discussion time. Any final points before we synthesize?"
LIMIT_REACHED = "We have had a thorough discussion. Let me synthesize the key points from our conversation."
QUIET_SINCE = f"Everybody was heard, and the thread has been quiet since. {LIMIT_REACHED}"
DUE_BY_NOW = f"Answers are due now. {LIMIT_REACHED}"
WRAPPING_UP = "Wrapping up the discussion. Let me synthesize our key points."
END_OR_GO_ON = "Did you want to end the discussion, or continue exploring this?"
NO_MODEL = "I have no model here: I ask and record, and answer nothing."
STILL_TALKING = "The discussion went on"


def intro(others: Sequence[Persona], topic: str, *, item: str, max_turns: int) -> str:
    bringing = listed([persona.label for persona in others])
    return (
        "---\nELABORATION MODE\n\n"
        f"Bringing {bringing or 'everybody'} into the discussion.\n\n"
        f"Topic: {topic} for {item}\n\n"
        f'Turn limit: {max_turns} exchanges. Type "done" to end discussion early.\n---'
    )


def passed(names: Sequence[str]) -> str:
    verb = "has" if len(names) == 1 else "have"
    return f"{listed(list(names)) or 'The persona'} {verb} nothing to add."


def asks_person(name: str, asked: str, topic: str) -> str:
    return f"{asked}, {name} asks what you think about {topic}."


def back_to_the_table(debate: Elaboration) -> str:
    used = f": {debate.turns_used} of {debate.max_turns} turns are used" if debate.is_limited else ""
    return f"Welcome back. We were discussing {debate.topic}{used}. Just go on writing."


def persona_off_topic(drifter: Persona, other: Step, phase: Phase, *, topic: str) -> str:
    return (
        f"{drifter.first_name} raises an interesting point about {other.title}, but let us stay focused on "
        f"{topic}. We can explore that when we get to {phase.name} (step {other.step_id})."
    )


def person_off_topic(other: Step, phase: Phase, *, topic: str) -> str:
    return (
        f"That is a great question for {phase.name} (step {other.step_id}). For now, let us focus on {topic}."
    )


def ended_early(topic: str) -> str:
    return f"Discussion ended early. The framing identified {topic} as a discussion point."


def decided_on(ids: Sequence[str], topic: str) -> str:
    return f"{listed(list(ids))} {'was' if len(ids) == 1 else 'were'} decided on {topic}"


def nothing_decided(topic: str) -> str:
    return f"Nothing was decided on {topic}"


def insights_added(touched: Sequence[ChangedFile], insights: int) -> str:
    what = f"{counted(insights, 'insight')} from" if insights else "the result of"
    added = f"{what} the discussion"
    return "\n".join(f'Updated {one.path}, section "{one.heading}": added {added}.' for one in touched)


# What is said by rote about where people and personas stand. Issues and positions are theirs, and only
# shown.

YOURS_TO_DECIDE = "A button records what you decide, and who did; or just go on talking."


class Favored(NamedTuple):
    """A position as it is put to people: who favors it, and on what it rests, in names of turns."""

    position: str
    names: Sequence[str]
    because: Sequence[str]


NOTHING_NEW = "Nobody has anything new."


def both_sides(issue: str, sides: Sequence[Favored]) -> str:
    """The trade-off, and people are asked to decide (reference §2.7)."""
    everybody = listed([name for side in sides for name in side.names])
    favored = " ".join(_favors(side) for side in sides)
    options = _either([side.position for side in sides])
    return (
        f"On {issue}, {everybody} see this differently. {favored} "
        f"What matters more for your project: {options}?"
    )


def decided(name: str, issue: str, position: str) -> str:
    return f"{name} decided on {issue}: {position}"


def _favors(side: Favored) -> str:
    verb = "favor" if len(side.names) > 1 else "favors"
    why = f"because of {listed(side.because)}" if side.because else "and has named no turn that it rests on"
    return f"{listed(side.names)} {verb} {side.position} {why}."


def _either(options: Sequence[str]) -> str:
    *others, last = options
    return f"{', '.join(others)} or {last}" if others else last


# What the card of a discussion says.

NO_POSITIONS = (
    "No positions yet. Say what you would do and why, or name an option: `option: a bucket in each gateway`."
)
TYPED_HINT = "Or type `for A`, `objection: …`, `decision: …`, `everyone, …`, `done`"
LIMIT_ON_CARD = (
    "The personas have no turns left. You can go on without them, and what you write is recorded. "
    "*End* writes down where everybody stands."
)
NO_LIMIT = "The limit is for personas with a model, and none has spoken here."
CARD_MOVED = "This discussion has a new card further down."
ALL_IN = "**All positions are in.** They were given before anybody saw another."
NO_MORE_SEALED = "Nobody can add a sealed position after this."


def card_title(topic: str) -> str:
    return f"Discussion: {topic}"


def turns_left(debate: Elaboration) -> str:
    """Empty without a limit; at it only the personas fall silent."""
    if not debate.is_limited:
        return ""
    if debate.exhausted:
        is_turns = debate.turns_left == 0
        return f"all {debate.max_turns} turns are used" if is_turns else "all calls of models are used"
    return f"{debate.turns_left} of {debate.max_turns} turns left"


def did_we_agree(text: str, names: Sequence[str], *, objections: int) -> str:
    stays = (
        "An objection is open. It stays"
        if objections == 1
        else f"{objections} objections are open. They stay"
    )
    still = f"\n{stays} open if you record this now." if objections else ""
    return f"{text}\nEverybody who took a position is now for it: {', '.join(names)}.{still}"


def ends_by_itself(missing: Sequence[str], minutes: int, due: str) -> str:
    """*missing* are people who were not heard yet; *due* is when answers are due, if it is still to come."""
    quiet = f"nobody has written for {counted(minutes, 'minute')}"
    if not missing:
        return f"It also ends by itself when {quiet}."
    verb = "has" if len(missing) == 1 else "have"
    heard = f"{listed(list(missing))} {verb} been heard, too, and {quiet}"
    return (
        f"It also ends by itself when {heard}, or when answers are due: {due}."
        if due
        else (f"It also ends by itself when {heard}.")
    )


def asks_all(name: str) -> str:
    return f"{name} asks everybody: where do you stand?"


def came_over(name: str, was: str, now: str = "", *, because: str = "", after: str = "") -> str:
    to = f" to {now}" if now else ""
    why = f" because of {because}" if because else f" after {after}" if after else ""
    return f"{name} came over from {was}{to}{why}"


def moved_because(name: str, was: str, now: str, by: str, words: str) -> str:
    """In the block: with the line that made them move, as it was written."""
    return f"{name} moved from {was} to {now} because of {by}: “{words}”"


def moved_without_a_line(name: str, was: str, now: str) -> str:
    return f"{name} moved from {was} to {now}, and gave no line as a reason"


def would_settle(text: str) -> str:
    return f"What would settle it: {text}"


def sealed(given: Sequence[str], missing: Sequence[str]) -> str:
    """Who, never what."""
    there = f"**In:** {', '.join(given) or 'nobody yet'}"
    away = f" · **not yet:** {', '.join(missing)}" if missing else ""
    return f"Everybody answers alone first. All answers are shown at once.\n{there}{away}"


def show_without(missing: Sequence[str]) -> str:
    return f"Show them without {listed(list(missing))}?" if missing else "Show them now?"


# What people do on it, as the record says it.


def stands_for(name: str, letter: str, text: str) -> str:
    return f"{name} is for {letter}: {text}" if letter else f"{name} is undecided."


def stands_already(letter: str) -> str:
    return f"You are for {letter} already." if letter else "You are undecided already."


def chosen(letter: str, text: str) -> str:
    """Of the options, where a decision is in words of its own."""
    return f"Option {letter}: {text}"


def held(option: str) -> str:
    return option if option == UNDECIDED else f"“{option}”"


def reads_now(name: str, text: str) -> str:
    return f"{name} reads now: {bullet(text)}"


def was_withdrawn(name: str) -> str:
    return f"{name} was withdrawn."


def was_replaced(name: str, by: Sequence[str]) -> str:
    return f"{name} was replaced by {', '.join(by)}."


def option_named(name: str, letter: str, text: str) -> str:
    return f"{name} named option {letter}: {text}"


def recorded(
    name: str, text: str, reason: str = "", *, instead: Sequence[str] = (), deciders: Sequence[str] = ()
) -> str:
    why = f" because {reason}" if reason else ""
    old = f" It replaces {listed(list(instead))}." if instead else ""
    who = f" Decided by {listed(list(deciders))}." if deciders else ""
    return f"{name} recorded a decision: {text}{why}.{who}{old}"


def named_as_decider(name: str, text: str) -> str:
    return (
        f"{name} recorded that you decided “{text}”. If that is not so, record it again and say who decided."
    )


def objected(name: str, text: str, settle: str = "") -> str:
    return f"{name} objects: {text}" + (f"\n{would_settle(settle)}" if settle else "")


FATE_SAID = {
    Fate.ACCEPTED: "settled by a change",
    Fate.REJECTED: "turned down",
    Fate.RISK: "kept as a risk",
    Fate.WITHDRAWN: "taken back",
}


def settled(name: str, objection: str, owner: str, fate: Fate, because: str) -> str:
    why = f", because {because}" if because else ""
    return f"{name}: the objection “{objection}” of {owner} is {FATE_SAID[fate]}{why}."


def not_agreed(name: str, text: str) -> str:
    return f"{name}: there is no agreement on “{text}” yet."


def why_against(name: str, words: str) -> str:
    return f"Why does {name} object to “{words}”?"


def turns_added(name: str, turns: int, total: int) -> str:
    return f"{name} gave this discussion {turns} more turns. It has {total} now."


def asked_everybody(name: str) -> str:
    return f"{name} asked everybody where they stand."


def sealing_began(name: str) -> str:
    return f"{name} asked for sealed positions."


def shown_by(name: str, count: int) -> str:
    how = f"{name} showed them." if name else "All of them are in."
    return f"{counted(count, 'sealed position')}: {how}"


SURE = {"high": "very sure", "mid": "fairly sure", "low": "not sure"}


def describe_side(letter: str, text: str, people: Iterable[Stand], personas: Iterable[str]) -> str:
    """`A: a bucket in each gateway – Grace (very sure: it survives an outage), Linus, *Alex*`"""
    names = (*(bullet(_with_reason(one)) for one in people), *(f"*{bullet(one)}*" for one in personas))
    return f"{letter}: {bullet(text)} – {', '.join(names) or 'nobody'}"


def for_it(people: Iterable[Stand]) -> str:
    """Below an option, on the card of a step."""
    return f"For it: {escaped(', '.join(map(_with_reason, people)))}"


def _with_reason(stand: Stand) -> str:
    return with_reason(stand.name, why=stand.why, condition=stand.condition, sure=stand.sure)


def with_reason(name: str, *, why: str, condition: str, sure: str = "") -> str:
    """Of a sealed position, which says how *sure* it is, as it was filled in; of another as it was said."""
    how = ", ".join(filter(None, (SURE.get(sure, ""), condition)))
    why = f"“{why}”" if why and sure not in SURE else why
    said = ": ".join(filter(None, (how, why)))
    return f"{name} ({said})" if said else name


def sealed_position(name: str, option: BoardOption | None, position: SealedPosition) -> str:
    sure = f", {SURE[position.sure]}" if position.sure in SURE else ""
    words = position.words.strip().rstrip(".")
    chosen = f"{option.letter}{sure}: {option.text}." if option else f"“{words}”{sure}."
    own = f" In their words: “{words}”." if option and words not in {"", option.text} else ""
    why = f" Why: {position.why}" if position.why else ""
    change = f" What would change it: {position.change}" if position.change else ""
    return f"{name} is for {chosen}{own}{why}{change}"


def still_sealed(count: int) -> str:
    were = "was" if count == 1 else "were"
    return (
        f"{counted(count, 'position')} {were} still sealed when the discussion ended. This is what was given:"
    )


# Whispers.

NO_WORDS = "Choose an option, or write it in your words."
NO_OPTION_WORDS = "Write the option in your words."
TOO_MANY_OPTIONS = "This discussion has as many options as it can have. Choose one of them."
SEALING_NOW = "Positions are given privately at the moment. Press **Give my position…** on the card."
NOBODY_DECIDES = "Name at least one person."
DOES_NOT_TAKE_PART = "Name only people who take part here. Others can write something in the thread first."
TURNED_DOWN_WITHOUT_A_REASON = "Say why: you turn an objection down for this reason."
SEALED_NOTED = "Sealed. You can change it until they are shown."
SEEN_BY_EVERYBODY = (
    "Everybody here has seen that, so it counts as an open position. "
    "To give one privately, write `/roundtable position A` in the channel, or press the button on the card."
)
SEAL_WHAT = "Say what you are for, as in `position A, very sure`. Nobody else sees it until all are shown."
SAID_OPENLY = "Everybody can read what you write here. Write `/roundtable position A`: that stays private."
SEALED_HINT = "Or write `/roundtable position A, very sure` in the channel: nobody else sees that"
SEALED_TOO_LATE = "The positions are out already. Say it in the thread, or choose under “Where do you stand?”"
POSITIONS_MOVED = "The positions have changed. Look at the card again."
HAS_AN_ANSWER = "That objection has an answer already."
NO_DISCUSSION = "No discussion is open here. Open one with **Discuss** on the card of a step."
OVER_ALREADY = "The discussion is over. Its card shows the result. Go on with the card of the step."


def too_long(length: int, most: int) -> str:
    return f"That is {length:,} characters long, and at most {most:,} are kept. Say it shorter."


def named_already(letter: str) -> str:
    return f"That is option {letter} already."


def seal_which(slugs: Sequence[str]) -> str:
    known = ", ".join(f"`{one}`" for one in slugs)
    return f"Several discussions are open: {known}. Say which, as in `position {slugs[0]}: A`."


def no_such_option(letter: str) -> str:
    return f"There is no option {letter}. Name one: `option: …`"


def other_letter(asked: str, letter: str, text: str) -> str:
    return f"{asked} is another option on the card. {text} is {letter} there."


def which_yes(count: int) -> str:
    numbers = " or ".join(f"`yes {number}`" for number in range(1, count + 1))
    return f"{counted(count, 'thing')} are waiting for a yes. Which one: {numbers}?"


def only_its_owner(name: str) -> str:
    return f"Only {name} can take that objection back."
