"""Random data that is the same on every machine, forever.

A `Stream` is a key (the hash of a seed and a path of names) and a counter; eight values are a hash of the two. Only
integers are used, so nothing depends on a platform's floating point, the Python version, or the order in which streams
are created. An extra draw from one stream never affects another, so data can grow without being reshuffled.
"""

from collections.abc import Sequence
from hashlib import blake2b
from struct import unpack
from typing import TypeVar

T = TypeVar("T")

_WORD = 1 << 64
_MASK = _WORD - 1


class NothingToDraw(ValueError):
    """There is nothing to choose from."""


class Stream:
    __slots__ = ("_block", "_key", "_path", "_words")

    def __init__(self, seed: int, *path: str | int) -> None:
        self._path: tuple[str | int, ...] = (seed, *path)
        # repr distinguishes 1 from "1", and ("a", "b") from ("ab",).
        self._key = blake2b(repr(self._path).encode()).digest()
        # Most streams need no more than the eight values that their key is.
        self._words: list[int] = list(unpack("<8Q", self._key))
        self._block = 0

    def child(self, *path: str | int) -> "Stream":
        """An independent stream; it does not matter what was drawn from this one."""
        seed, *rest = self._path
        return Stream(int(seed), *rest, *path)

    def below(self, n: int) -> int:
        """0 to n - 1, each equally likely."""
        if not 1 <= n <= _WORD:
            raise NothingToDraw(f"below({n}): must be 1 to 2**64")
        while True:
            if not self._words:
                self._block += 1
                block = blake2b(self._block.to_bytes(8, "little"), key=self._key)
                self._words = list(unpack("<8Q", block.digest()))
            product = self._words.pop() * n
            low = product & _MASK
            # The first 2**64 mod n low halves would make some results more likely than others: draw again.
            if low >= n or low >= _WORD % n:
                return product >> 64

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + self.below(high - low + 1)

    def chance(self, numerator: int, denominator: int) -> bool:
        return self.below(denominator) < numerator

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[tuple[T, int]]) -> T:
        """One of the items, with probability proportional to its weight."""
        left = self.below(sum([weight for _, weight in items]))
        for item, weight in items:
            left -= weight
            if left < 0:
                return item
        raise ValueError("weights must not be negative")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """k items from different positions, in random order."""
        if not 0 <= k <= len(items):
            raise NothingToDraw(f"sample of {k} from {len(items)}")
        pool = list(items)
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]

    def long_tail(self, n: int) -> int:
        """0 to n - 1, where i has a probability of about 1 / (i + 1): draws an octave, then a place in it."""
        if n < 1:
            raise ValueError(f"long_tail({n}): must be at least 1")
        while True:
            octave = 1 << self.below(n.bit_length())
            place = octave - 1 + self.below(octave)
            if place < n:
                return place
