"""
The index's own note of which folder is which tree (its extension TREE). A person's `git commit` among many folders is
quick with it, so it is kept, and only what changed is taken out of it.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable

NODE = re.compile(rb"[^\0]*\0(?:-1 (\d+)\n|\d+ (\d+)\n.{20})", re.DOTALL)
"""Name, number of files, number of folders, and the tree unless the number of files is unknown."""


class CacheTree:
    """
    The folders follow each other from the outside in. Raises ValueError for *content* that is none.

    What is forgotten keeps its length, by zeros before a number: so every place stays where it is.
    """

    def __init__(self, content: bytes) -> None:
        self.content = bytearray(content)
        self._starts = array("L")
        self._depths = bytearray()
        missing, end = [1], 0
        for node in NODE.finditer(content):
            while missing and not missing[-1]:
                missing.pop()
            if not missing or node.start() != end:
                raise ValueError("no extension TREE")
            end = node.end()
            missing[-1] -= 1
            self._starts.append(node.start())
            self._depths.append(len(missing) - 1)
            missing.append(int(node[1] or node[2]))
        self._starts.append(end)
        if any(missing) or end != len(content):
            raise ValueError("no extension TREE")

    def forget(self, paths: Iterable[str]) -> None:
        """What the folders are in which the files *paths* are."""
        for folder in dict.fromkeys(path.rpartition("/")[0] for path in paths):
            node: int | None = 0
            for name in (*folder.split("/"), "") if folder else ("",):
                if node is None:
                    break
                self._forget(node)
                node = self._below(node, name.encode()) if name else None

    def _forget(self, node: int) -> None:
        start, end = self._starts[node], self._starts[node + 1]
        number = self.content.index(b"\0", start) + 1
        if not self.content.startswith(b"-", number):
            folders = self.content[self.content.index(b" ", number) + 1 : self.content.index(b"\n", number)]
            self.content[number:end] = b"-1 " + folders.zfill(end - number - 4) + b"\n"

    def _below(self, node: int, name: bytes) -> int | None:
        """The folder *name* in the folder *node*."""
        depth, last = self._depths[node], self._last(node)
        found = self._starts[node]
        while (found := self.content.find(name + b"\0", found + 1, self._starts[last])) != -1:
            child = bisect_left(self._starts, found)
            if node < child < last and self._starts[child] == found and self._depths[child] == depth + 1:
                return child
        return None

    def _last(self, node: int) -> int:
        """Behind the folder *node* and everything below it."""
        shallower = (self._depths.find(depth, node + 1) for depth in range(self._depths[node] + 1))
        return min((place for place in shallower if place != -1), default=len(self._depths))
