"""Nothing waits for a disk: no test takes the power away, and what a killed process wrote is there all the same."""

import os

import pygit2
import pytest

from bot.storage.git import command


def flush_nothing() -> None:
    """In this process, and in the gits that the bot starts in it."""
    patch = pytest.MonkeyPatch()
    patch.setattr(os, "fsync", lambda _descriptor: None)
    patch.setattr(pygit2.Settings, "enable_fsync_gitdir", lambda _settings, _enabled: None)
    patch.setattr(command, "OPTIONS", (*command.OPTIONS, "-c", "core.fsync=none"))
