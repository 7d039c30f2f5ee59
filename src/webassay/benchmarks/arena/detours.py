"""How a solution gets past what stands in its way: as anybody would, and then it goes on."""

import re
from collections.abc import Generator, Mapping, Sequence

from webassay.benchmarks.arena.template import Route
from webassay.benchmarks.arena.walking import refusal
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json

_CLOSING = ("No Thanks", "Accept Cookies")
_UNAVAILABLE = "This page is not available at the moment."
_LOGIN = "Registered Customers"
_MOST_TRIES = 6


class _HopelessError(Exception):
    """Whatever one does, it stays in the way."""


def past_obstacles(solve: Route, hints: Sequence[str]) -> Route:
    """`hints`: those of the goal, which say how to log in again."""
    account = _account(hints)

    def walk(page: Observation) -> Walk:
        try:
            page = yield from _cleared(page, account)
            walking = solve(page)
            action = next(walking)
            while True:
                page = yield action
                page = yield from _cleared(page, account)
                action = walking.send(page)
        except StopIteration as done:
            response: Json = done.value
            return response
        except _HopelessError:
            return refusal("retrieve", "UNKNOWN_ERROR", _UNAVAILABLE)

    return walk


def _cleared(page: Observation, account: Mapping[str, str]) -> Generator[Action, Observation, Observation]:
    """The next page on which nothing stands in the way."""
    for _ in range(_MOST_TRIES):
        action = _detour(page, account)
        if action is None:
            return page
        page = yield action
    raise _HopelessError


def _detour(page: Observation, account: Mapping[str, str]) -> Action | None:
    """Close what covers the page, ask again, log in again."""
    for name in _CLOSING:
        if (button := page.find("button", name)) is not None:
            return Action.of("click", button.id)
    if page.find("heading", _UNAVAILABLE) is not None:
        return Action.of("goto", page.url)
    if account and page.find("heading", _LOGIN) is not None:
        for name, value in account.items():
            field = page.find("textbox", name)
            if field is not None and not field.value:
                return Action.of("fill", field.id, value)
        if (button := page.find("button", "Log In")) is not None:
            return Action.of("click", button.id)
    return None


def _account(hints: Sequence[str]) -> Mapping[str, str]:
    for hint in hints:
        if hint.startswith("If you are logged out"):
            return dict(re.findall(r"(\w+): (\S+?)(?:,|$)", hint))
    return {}
