"""What a long life of a process may remember without growing."""

from bot.engine.lru import LruCache


def kept(*keys: str, most: int) -> LruCache[str, int]:
    newest: LruCache[str, int] = LruCache(most)
    for number, key in enumerate(keys):
        newest[key] = number
    return newest


def test_the_oldest_is_forgotten_when_there_is_no_more_room() -> None:
    """Whatever was set first, and only as many as there are too many."""
    assert kept("ada", "grace", "linus", most=2) == {"grace": 1, "linus": 2}


def test_what_is_set_again_is_the_newest_again() -> None:
    """Who speaks all day is not forgotten for those who spoke once."""
    assert kept("ada", "grace", "ada", "linus", most=2) == {"ada": 2, "linus": 3}


def test_a_look_makes_nothing_newer() -> None:
    """Reading is free of side effects."""
    newest = kept("ada", "grace", most=2)

    assert (newest["ada"], newest.get("grace")) == (0, 1)

    newest["linus"] = 2
    assert newest == {"grace": 1, "linus": 2}


def test_whoever_came_first_stays_within_the_same_room() -> None:
    """`setdefault` keeps what is there as old as it is, and makes room for what is new."""
    newest = kept("ada", "grace", most=2)

    assert newest.setdefault("ada", 9) == 0
    assert newest.setdefault("linus", 2) == 2
    assert newest == {"grace": 1, "linus": 2}
