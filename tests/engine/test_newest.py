"""What a long life of a process may remember without growing."""

import pytest

from bot.engine.lru import LruCache


@pytest.mark.parametrize(
    ("keys", "kept"),
    [
        (["ada", "grace", "linus"], {"grace": 1, "linus": 2}),
        (["ada", "grace", "ada", "linus"], {"ada": 2, "linus": 3}),
    ],
    ids=["the oldest is forgotten", "what is set again is the newest again"],
)
def test_no_more_is_kept_than_there_is_room_for(keys: list[str], kept: dict[str, int]) -> None:
    newest: LruCache[str, int] = LruCache(2)
    for number, key in enumerate(keys):
        newest[key] = number

    assert newest == kept


def test_a_look_makes_nothing_newer() -> None:
    """Neither does `setdefault`, which makes room for what is new."""
    newest: LruCache[str, int] = LruCache(2)
    newest["ada"], newest["grace"] = 0, 1

    assert (newest["ada"], newest.get("grace"), newest.setdefault("ada", 9)) == (0, 1, 0)
    assert newest.setdefault("linus", 2) == 2
    assert newest == {"grace": 1, "linus": 2}
