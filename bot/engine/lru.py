"""A dictionary of bounded size, for caches."""

from collections import OrderedDict
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(OrderedDict[Key, Value]):
    """Keeps the *most* entries that were set last. Setting an entry again makes it the newest; reading does not."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)
