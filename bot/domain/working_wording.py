"""What stands behind the app's name while people wait for it."""

from collections.abc import Mapping

AT_WORK: Mapping[str, str] = {
    "speak": "is thinking…",
    "draft": "is writing this down…",
    "synthesize": "is putting the discussion together…",
    "judge": "is thinking about the plan…",
    "formalize": "is writing the plan…",
}
"""By the kind of what is owed."""
