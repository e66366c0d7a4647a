"""What the card of a discussion says: it follows from the state (see `live`)."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion import words
from bot.domain.discussion.board import DiscussionBoard, board_of
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages import discussion_card, menus
from bot.domain.messages.discussion_card import DiscussionScene
from bot.domain.messages.message import Message
from bot.domain.roundtable import agreeing, root
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.posts import StepCard
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import drafts, silence, speaking
from bot.domain.roundtable.waiting import unheard_in_discussion


def rendered(rt: Roundtable, debate: Elaboration, card: StepCard, playbook: Playbook) -> Message:
    scene = scene_of(rt, debate, card, playbook)
    message = discussion_card.open_card(scene)
    menu = rt.menu if rt.menu and rt.menu.token == card.token else None
    card_of_it = message.card
    assert card_of_it, "a card was rendered"
    if menu is None:
        return message.spent().but(note=rt.what_became_of(card.token))
    settled = scene.board.settled
    dispute = debate.put[-1] if debate.put and words.name(debate.put[-1].issue) not in settled else None
    decide = menus.options(dispute.options) if dispute and not debate.sealed else ()
    more = (menus.ALLOW_MORE,) if used_up(rt.purse, playbook.policy) else ()
    # A select keeps what was chosen in it, until its block has another name.
    board = scene.board
    revision = len(board.options) + board.moves + len(board.own(board.decisions))
    card_of_it = card_of_it.but(revision=revision)
    return message.but(choices=(*decide, *message.choices, *more), token=card.token, card=card_of_it)


def scene_of(rt: Roundtable, debate: Elaboration, card: StepCard, playbook: Playbook) -> DiscussionScene:
    step, board = playbook.agenda.get(debate.step_id), board_of(debate, rt.specification)
    return DiscussionScene(
        board=board,
        step=f"{debate.step_id} {step.title}" if step else debate.step_id,
        people=rt.people,
        agreements=agreeing.agreements(rt),
        marks=agreeing.shown_marks(rt, debate.step_id),
        links=_links(rt, board),
        heading=card.message.text,
        first=card.first,
        goes_on=bool(speaking.able(rt, playbook)),
        ending=silence.ending(rt, playbook),
        unheard=_unheard(rt),
        notes=tuple(drafts.notes(rt, playbook)),
    )


def _unheard(rt: Roundtable) -> dict[str, str]:
    """Who has said nothing in the discussion, by the newest answer to the step: the oldest first."""
    answered = {one.person: one.ts for one in rt.answers}
    missing = sorted(unheard_in_discussion(rt), key=lambda person: answered.get(person, ""))
    return {person: rt.name_of(person) for person in missing}


def _links(rt: Roundtable, board: DiscussionBoard) -> dict[str, str]:
    """To messages, by their lines."""
    posted = {turn.line: turn.ts or turn.posted for turn in board.debate.turns if turn.line}
    claims = (one.claim("text") for one in board.objections)
    named = {line: "" for claim in claims if claim for line in (claim.line, *claim.sources)}
    named |= {line: "" for one in board.stands for line in (one.because, one.heard)} | posted
    found = {line: root.link_to(rt, ts) if ts else root.link_to_line(rt, line) for line, ts in named.items()}
    return {line: url for line, url in found.items() if url}
