"""How a roundtable behaves towards the people around it: who may know of it, who they are, and whether it is quiet."""

from collections.abc import Mapping

from bot.domain.value import Stored


class Manners(Stored):
    """
    `private` is None while we do not know who can see the channel, and then it is treated as private; `noted` is what
    meta.json says about that. `muted`: the personas say nothing by themselves. `outsiders` are the people who are
    known not to be members of the workspace, and what they are instead.
    """

    private: bool | None = None
    noted: bool | None = None
    muted: bool = False
    outsiders: Mapping[str, str] = {}
