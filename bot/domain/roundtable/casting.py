"""The playbook as it applies to one roundtable: its own personas, and what the policies say about its channel."""

from collections.abc import Callable
from functools import wraps

from bot.domain.catalog.agenda import Playbook
from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.state import Roundtable

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def playbook_for(rt: Roundtable, playbook: Playbook) -> Playbook:
    return playbook.within(rt.place.channel, rt.personas_active)


def with_cast(decide: Decide) -> Decide:
    """*decide*, with the playbook of the roundtable."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        return decide(rt, event, playbook_for(rt, playbook))

    return decided
