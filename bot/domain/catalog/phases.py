"""The five phases of an analysis, and how people speak of them."""

from bot.domain.values.value import Value


class Phase(Value):
    """
    *doing* completes "{incoming persona} who will …", *done* "{outgoing persona} has finished …", *guiding*
    "I'll be guiding you through …".
    """

    key: str
    number: str
    name: str
    doing: str
    done: str
    guiding: str

    @classmethod
    def of_folder(cls, key: str) -> "Phase":
        """A phase somebody added: its folder `05-rollout-plan` is all we know about it."""
        number, _, words = key.partition("-")
        name = words.replace("-", " ").title()
        return cls(
            key=key,
            number=number,
            name=name,
            doing=f"lead the {name.lower()}",
            done=f"the {name.lower()}",
            guiding=name,
        )


ANALYSIS_PHASES = (
    Phase(
        key="00-quick-scan",
        number="00",
        name="Quick Scan",
        doing="estimate the scope",
        done="the quick scan",
        guiding="the Quick Scan",
    ),
    Phase(
        key="01-requirements",
        number="01",
        name="Requirements",
        doing="discover the requirements",
        done="requirements discovery",
        guiding="Requirements Discovery",
    ),
    Phase(
        key="02-impact-analysis",
        number="02",
        name="Impact Analysis",
        doing="assess the impact and design the architecture",
        done="impact analysis",
        guiding="Impact Analysis",
    ),
    Phase(
        key="03-architecture",
        number="03",
        name="Architecture",
        doing="decide on the architecture",
        done="the architecture decisions",
        guiding="Architecture Decisions",
    ),
    Phase(
        key="04-design",
        number="04",
        name="Design",
        doing="write the detailed design specifications",
        done="the detailed design",
        guiding="Detailed Design",
    ),
)
PHASE_KEYS = tuple(phase.key for phase in ANALYSIS_PHASES)
QUICK_SCAN = PHASE_KEYS[0]
