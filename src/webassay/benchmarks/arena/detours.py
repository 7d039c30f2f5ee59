"""How a solution gets past what stands in its way: as anybody would, and then it goes on."""

import re
from collections.abc import Generator, Mapping, Sequence

from webassay.benchmarks.arena.template import Route
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json

_CLOSING = ("No Thanks", "Accept Cookies")
_UNAVAILABLE = "This page is not available at the moment."
_LOGIN = "Registered Customers"


def past_obstacles(solve: Route, hints: Sequence[str]) -> Route:
    """`hints`: those of the goal, which say how to log in again."""
    account = _account(hints)

    def walk(page: Observation) -> Walk:
        page = yield from _cleared(page, account)
        walking = solve(page)
        try:
            action = next(walking)
            while True:
                page = yield action
                page = yield from _cleared(page, account)
                action = walking.send(page)
        except StopIteration as done:
            response: Json = done.value
            return response

    return walk


def _cleared(page: Observation, account: Mapping[str, str]) -> Generator[Action, Observation, Observation]:
    """The next page on which nothing stands in the way."""
    while (action := _detour(page, account)) is not None:
        page = yield action
    return page


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
