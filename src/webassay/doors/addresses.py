"""What every door says to an agent: the goal, and addresses without their secret part."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from webassay.core.interaction import Goal

T = TypeVar("T")


def goal_text(goal: Goal) -> str:
    """The task, what a person would be told besides, and the form of the answer."""
    return "\n\n".join(filter(None, [goal.instruction, "\n".join(goal.hints), goal.protocol.instructions]))


class PlainAddresses:
    """Every episode has its sites under host names that nobody can guess. Observations leave the secret part out and
    actions get it back, so that the same seed gives the same observation, and addresses still work."""

    def __init__(self, bases: Mapping[str, str]) -> None:
        self._real = {f"{site.replace('_', '-')}.localhost": urlsplit(base).netloc for site, base in bases.items()}

    def mask(self, text: str) -> str:
        for plain, real in self._real.items():
            text = text.replace(real, plain)
        return text

    def unmask(self, value: T) -> T:
        """In a text, or in every text of a list or a dictionary."""
        real_value: Any = value
        if isinstance(value, str):
            for plain, real in self._real.items():
                real_value = real_value.replace(plain, real)
        elif isinstance(value, list):
            real_value = [self.unmask(one) for one in value]
        elif isinstance(value, dict):
            real_value = {key: self.unmask(one) for key, one in value.items()}
        return real_value  # type: ignore[no-any-return]
