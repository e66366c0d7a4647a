"""How long the sandbox waits for an acknowledgement in tests: like Slack; it repeats at once what got none."""

from dataclasses import replace

import pytest

from bot.sandbox import Timing

PATIENT = Timing(ack_seconds=3, retry_seconds=(0, 0.02, 0.05))
impatient = pytest.mark.parametrize("timing", [replace(PATIENT, ack_seconds=0.5)], ids=["impatient"])
"""Where nobody acknowledges on purpose; elsewhere a busy machine takes longer than that."""
