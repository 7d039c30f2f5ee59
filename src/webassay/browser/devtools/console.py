"""What scripts write to the console of their page, kept for people who look at the record."""

from typing import Any

from webassay.browser.devtools.cdp import Params

MOST_LINES = 50
_LONGEST = 400


class Console:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._left_out = 0

    def wrote(self, params: Params) -> None:
        """`Runtime.consoleAPICalled`."""
        if len(self._lines) >= MOST_LINES:
            self._left_out += 1
            return
        said = " ".join(_shown(one) for one in params.get("args", [])[:10])
        self._lines.append(f"{params.get('type', 'log')}: {said}"[:_LONGEST])

    def take(self) -> tuple[str, ...]:
        lines, left_out = tuple(self._lines), self._left_out
        self._lines.clear()
        self._left_out = 0
        return (*lines, f"{left_out} more lines were left out.") if left_out else lines


def _shown(argument: dict[str, Any]) -> str:
    """Texts and numbers as they are; of an object, what Chromium calls it."""
    value = argument.get("value", argument.get("description", argument.get("type", "")))
    return str(value)[:_LONGEST]
