"""Spaces for texts and decisions.

gymnasium's `Text` lists every character that it admits and fixes a maximum length, for which shared memory is reserved.
A page may hold any character and be four million of them long, so texts have a space of their own.
"""

from typing import Any

from gymnasium.spaces import Space

from webassay.core.interaction import Decision, parse_actions
from webassay.core.text import well_formed

_SOME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz ABC 0123456789 .,:'\n äßλ中\N{GRINNING FACE}"
_MOST_SAMPLED = 40


class AnyText(Space[str]):
    """Every text that can be written as UTF-8, of any length."""

    def __init__(self) -> None:
        super().__init__(shape=None, dtype=str)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        length = self.np_random.integers(_MOST_SAMPLED + 1)
        return "".join(_SOME_CHARACTERS[i] for i in self.np_random.integers(len(_SOME_CHARACTERS), size=length))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and well_formed(x) == x

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ActionText(AnyText):
    """Calls such as `click('12')`. Every text is admitted, as one that cannot be read only earns an error; samples are
    actions that never end the episode."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        number = int(self.np_random.integers(1, 100))
        some = (f"click('{number}')", f"hover('{number}')", f"scroll(0, {10 * number})", "go_back()", "go_forward()")
        return some[self.np_random.integers(len(some))]


class Decisions(Space[Decision]):
    """A `Decision`, with whatever the agent wants to have recorded: its thoughts, its memory, what it cost."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = ActionText()

    def seed(self, seed: int | None = None) -> int | Any:
        return self._texts.seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Decision:
        return Decision(actions=parse_actions(self._texts.sample()))

    def contains(self, x: Any) -> bool:
        return isinstance(x, Decision)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decisions)

    def __repr__(self) -> str:
        return "Decisions()"
