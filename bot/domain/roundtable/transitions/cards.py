"""What people press on the card of a step. No step has such a card yet, so each press is refused with a sentence."""

from typing import NoReturn

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import trouble_wording
from bot.domain.roundtable.inputs import Press
from bot.domain.roundtable.state import Roundtable
from bot.errors import NotNow


def line_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `NUMBER/WHAT`."""
    _refused()


def all_accepted(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def reopened(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def amended(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def sorted_in(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def kept(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def withdrawn(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def _refused() -> NoReturn:
    raise NotNow(trouble_wording.unknown_menu())
