"""`python -m tests.record.peak FILE` replays it: how many lines there were, and how many KiB it took at most."""

import resource
import sys
from pathlib import Path

from bot.files import CHOSEN_RECORD_BYTES, File
from bot.record.reading import NamedFile, replay

STATUS = Path("/proc/self/status")


def peak_kib() -> int:
    """Of this process alone: what the system counts elsewhere may be that of whoever started it."""
    if STATUS.exists():
        return int(STATUS.read_text().partition("VmHWM:")[2].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    path = Path(sys.argv[1])
    record = NamedFile(File(path.parent, path.name, CHOSEN_RECORD_BYTES))
    sys.stdout.write(f"{replay(record).lines} {peak_kib()}\n")
