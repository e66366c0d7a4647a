"""The phases of an analysis."""

from bot.domain.values.value import Value


class Phase(Value):
    """
    *doing* completes "{incoming persona} who will …", *done* "{outgoing persona} has finished …", *guiding*
    "I'll be guiding you through …".
    """

    key: str
    doing: str
    done: str
    guiding: str

    @classmethod
    def of_folder(cls, key: str) -> "Phase":
        """A phase that a team added: its folder `05-rollout-plan` is all that is known about it."""
        name = _name_of_phase(key)
        return cls(key=key, doing=f"lead the {name.lower()}", done=f"the {name.lower()}", guiding=name)

    @property
    def number(self) -> str:
        return self.key.partition("-")[0]

    @property
    def name(self) -> str:
        return _name_of_phase(self.key)


def _name_of_phase(key: str) -> str:
    """`05-rollout-plan` is Rollout Plan."""
    return key.partition("-")[2].replace("-", " ").title()


ANALYSIS_PHASES = (
    Phase(
        key="00-quick-scan",
        doing="estimate the scope",
        done="the quick scan",
        guiding="the Quick Scan",
    ),
    Phase(
        key="01-requirements",
        doing="discover the requirements",
        done="requirements discovery",
        guiding="Requirements Discovery",
    ),
    Phase(
        key="02-impact-analysis",
        doing="assess the impact and design the architecture",
        done="impact analysis",
        guiding="Impact Analysis",
    ),
    Phase(
        key="03-architecture",
        doing="decide on the architecture",
        done="the architecture decisions",
        guiding="Architecture Decisions",
    ),
    Phase(
        key="04-design",
        doing="write the detailed design specifications",
        done="the detailed design",
        guiding="Detailed Design",
    ),
)
PHASE_KEYS = tuple(phase.key for phase in ANALYSIS_PHASES)
