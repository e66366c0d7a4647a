"""
Agreement that came too easily, and disagreement that only people can end.

Nothing in here decides: one persona is asked to speak against what all agree on, and people get a button for every
position. A decision is a line with a name on it; what comes of it is the people's, as before.
"""

from bot.domain import elaboration_wording, menus, positions, refusals, stance_wording, wording
from bot.domain.agenda import Playbook
from bot.domain.elaboration import Decided, Dispute, Elaboration
from bot.domain.inputs import Press
from bot.domain.persona import Persona
from bot.domain.positions import Side
from bot.domain.roundtable import Roundtable
from bot.domain.stance_wording import Favored
from bot.domain.transcript import Part
from bot.domain.transitions.sayings import Saying, lead_of, offered, told
from bot.errors import NotNow

MOST_OPTIONS = 5
"""More buttons than that are a menu, and no question. Those with the most holders stay."""

# --- too easily agreed --------------------------------------------------------------------------------------------


def challenge_due(rt: Roundtable, playbook: Playbook) -> bool:
    """At the end of the first round, until somebody has, or nobody is left to ask who thinks and does not lead."""
    first = not rt.debate.first_round and not rt.debate.challenged and not rt.unaided
    return first and bool(_challengers(rt, playbook)) and positions.is_unanimous(rt.debate)


def challenged(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Of those who do not lead, the one who had the floor longest ago looks for what speaks against it."""
    asked, *_ = _challengers(rt, playbook)
    agreed = [found[0].position for found in positions.sides(rt.debate).values()]
    ask = stance_wording.challenge_instead if rt.debate.challengers else stance_wording.challenge
    rt = told(rt, [Saying(lead_of(rt, playbook), ask(asked.first_name, agreed))])
    debate = rt.debate.but(challenger=asked.key, challengers=(*rt.debate.challengers, asked.key))
    return rt.but(elaboration=debate.asked(asked.key))


def _challengers(rt: Roundtable, playbook: Playbook) -> list[Persona]:
    """Whom it has not been asked of, silent longest first."""
    others = playbook.roster.others(lead_of(rt, playbook).key)
    left = [one for one in others if one.key not in rt.debate.challengers]
    return sorted(left, key=lambda one: rt.debate.last_had_floor(one.key))


def circles_ended(
    rt: Roundtable, sayings: list[Saying], playbook: Playbook
) -> tuple[Roundtable, list[Saying]]:
    """Who makes the same point again ends what the personas do among themselves; once, people know it by then."""
    issues = positions.repeated(rt.debate)
    if rt.debate.circles_named or not issues:
        return rt, sayings
    waiting = () if rt.debate.silent_rounds else rt.debate.waiting
    rt = rt.but(elaboration=rt.debate.but(circles_named=True, waiting=waiting))
    sentence = stance_wording.circles(rt.debate.turns[-1].name, issues)
    return rt, [*sayings, Saying(lead_of(rt, playbook), sentence)]


# --- for people to decide -----------------------------------------------------------------------------------------


def floor_given(rt: Roundtable, sayings: list[Saying], playbook: Playbook) -> Roundtable:
    """The people's floor, below *sayings*, or below the two sides of what personas disagree on."""
    lead = lead_of(rt, playbook)
    debate = rt.debate
    if not (dispute := undecided(debate)):
        if not sayings or sayings[-1].note:  # small print would go with the buttons when they are used
            sayings = [*sayings, Saying(lead, elaboration_wording.your_turn())]
        *earlier, last = sayings
        return offered(told(rt, earlier), last, menus.FLOOR)
    rt = told(rt, sayings)
    rt = rt.but(elaboration=rt.debate.but(put=(*rt.debate.put, dispute)))
    text = stance_wording.both_sides(dispute.issue, _favored(debate, dispute))
    saying = Saying(lead, text, note=stance_wording.yours_to_decide())
    return offered(rt, saying, (*menus.options(dispute.options), *menus.FLOOR))


def undecided(debate: Elaboration) -> Dispute | None:
    """The first issue with several sides that people were not asked about yet, or not with all of them."""
    settled = {positions.name(one.issue) for one in debate.decided}
    for issue, found in positions.sides(debate).items():
        held = sorted(found, key=lambda side: -len(side.holders))[:MOST_OPTIONS]
        if len(held) > 1 and issue not in settled and not _was_put(debate, issue, held):
            options = tuple(side.position for side in held)
            return Dispute(issue=positions.title(debate, issue), options=options)
    return None


def decided(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """On record in the person's name. Personas and people go on as they like."""
    assert rt.menu, "only what the open menu offers is pressed"
    pressed = (happened.action, happened.value)
    choice = next((one for one in rt.menu.message.choices if (one.action, one.value) == pressed), None)
    if choice is None:
        raise NotNow(refusals.unknown_menu())
    dispute, name = rt.debate.put[-1], rt.name_of(happened.person.id)
    position = dispute.options[int(choice.value)]
    rt = rt.closing_menu(wording.chosen(choice.label, name), ts=happened.ts).opening_round(Part.WORKSHOP)
    decision = Decided(
        issue=dispute.issue,
        position=position,
        by=happened.person.id,
        name=name,
        line=happened.key,
        after=rt.debate.turn_count,
    )
    sentence = stance_wording.decided(name, dispute.issue, position)
    rt = rt.heard(
        happened.person,
        sentence,
        ts="",
        part=Part.WORKSHOP,
        message_id=happened.key,
        decision=decision.text,
        options=list(dispute.options),
    )
    debate = rt.debate.but(decided=(*rt.debate.decided, decision), silent_rounds=0)
    noted = Saying(lead_of(rt, playbook), stance_wording.noted(name, dispute.issue, position))
    return floor_given(rt.but(elaboration=debate), [noted], playbook)


def _was_put(debate: Elaboration, issue: str, held: list[Side]) -> bool:
    options = {positions.name(side.position) for side in held}
    return any(
        positions.name(one.issue) == issue and options <= set(map(positions.name, one.options))
        for one in debate.put
    )


def _favored(debate: Elaboration, dispute: Dispute) -> list[Favored]:
    names = {turn.by: turn.name for turn in debate.turns}
    speakers = {turn.id: turn.name for turn in debate.turns}
    by_position = {side.position: side for side in positions.sides(debate)[positions.name(dispute.issue)]}
    return [
        Favored(
            option,
            [names[key] for key in by_position[option].holders],
            [f"{turn} ({speakers[turn]})" for turn in positions.grounds(debate, dispute.issue, option)],
        )
        for option in dispute.options
    ]
