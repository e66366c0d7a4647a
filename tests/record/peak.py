"""`python -m tests.record.peak FILE` replays it: how many lines there were, and how many KiB it took at most."""

import resource
import sys
from pathlib import Path

from bot.record.reading import replay

STATUS = Path("/proc/self/status")


def peak_kib() -> int:
    """Of this process alone: what the system counts elsewhere may be that of whoever started it."""
    if STATUS.exists():
        return int(STATUS.read_text().partition("VmHWM:")[2].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.stdout.write(f"{replay(Path(sys.argv[1])).state().lines} {peak_kib()}\n")
