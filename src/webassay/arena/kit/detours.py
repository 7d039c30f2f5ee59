"""How a solution gets past what stands in its way: as anybody would, and then it goes on."""

import re
from collections.abc import Mapping, Sequence

from webassay.arena.kit.chores import SiteChores
from webassay.arena.kit.template import Route
from webassay.arena.kit.walking import Steps, refusal
from webassay.core.interaction import Action, Node, Observation, Walk
from webassay.core.record import Json

UNAVAILABLE = "This page is not available at the moment."
_CLOSING = ("No Thanks", "Accept Cookies")
_MISSING = " is required."
"""The words of the obstacles and forms that all sites share; a site's own are in its `SiteChores`."""
_MOST_TRIES = 8


class _HopelessError(Exception):
    """Whatever one does, it stays in the way."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status = status


def past_obstacles(solve: Route, hints: Sequence[str], sites: Sequence[SiteChores]) -> Route:
    """`hints`: those of the goal, which say how to log in again."""
    accounts = _accounts(hints)

    def walk(page: Observation) -> Walk:
        guide = _Guide(accounts, sites)
        try:
            page = yield from guide.clear(page)
            walking = solve(page)
            action = next(walking)
            while True:
                guide.note(page, action)
                left = page.url
                page = yield action
                page = yield from guide.clear(page)
                if action.name == "go_back" and page.url == left:
                    page = yield from _further_back(page)
                action = walking.send(page)
        except StopIteration as done:
            response: Json = done.value
            return response
        except _HopelessError as problem:
            return refusal("retrieve", problem.status, str(problem))

    return walk


def _further_back(page: Observation) -> Steps:
    """A detour has put the same page into the history once more."""
    left = page.url
    for _ in range(_MOST_TRIES):
        page = yield Action.of("go_back")
        if page.url != left:
            break
    return page


class _Guide:
    """Knows how to log in, and what was entered in the form that was sent last."""

    def __init__(self, accounts: Sequence[Mapping[str, str]], sites: Sequence[SiteChores]) -> None:
        self._accounts = accounts
        self._log_ins = [site.log_in_heading for site in sites]
        self._sold_out = [site.sold_out for site in sites if site.sold_out]
        self._typed: dict[str, str] = {}
        self._sent: dict[str, str] = {}
        self._pressed = ""

    def note(self, page: Observation, action: Action) -> None:
        """What the solution is about to do on this page."""
        node = next((node for node in page.nodes if node.id and node.id == action.args.get("bid")), None)
        if node is not None and action.name == "fill":
            self._typed[node.name] = str(action.args["value"])
        elif node is not None and node.role == "button" and action.name == "click":
            shown = {field.name: field.value for field in page.find_all("textbox") if field.value}
            self._sent, self._typed, self._pressed = shown | self._typed, {}, node.name

    def clear(self, page: Observation) -> Steps:
        """To the next page on which nothing stands in the way."""
        for _ in range(_MOST_TRIES):
            action = self._detour(page)
            if action is None:
                return page
            page = yield action
        raise _HopelessError("UNKNOWN_ERROR", UNAVAILABLE)

    def _detour(self, page: Observation) -> Action | None:
        """Close what covers the page, ask again, log in again, enter again what was lost."""
        for name in _CLOSING:
            if (button := page.find("button", name)) is not None:
                return Action.of("click", button.id)
        if page.find("heading", UNAVAILABLE) is not None:
            return Action.of("goto", page.url)
        button = page.find("button", "Log In")
        if button is not None and any(page.find("heading", name) is not None for name in self._log_ins):
            fields = {field.name for field in page.find_all("textbox")}
            account = next((one for one in self._accounts if one.keys() <= fields), None)
            if account is None:
                raise _HopelessError("PERMISSION_DENIED_ERROR", "One has to log in, and there is no account.")
            return _entered(page, account) or Action.of("click", button.id)
        if any(text in node.name for text in self._sold_out for node in page.nodes):
            raise _HopelessError("ACTION_NOT_ALLOWED_ERROR", "It was sold out meanwhile.")
        if any(node.name.endswith(_MISSING) for node in page.nodes):
            lost = _entered(page, self._sent)
            button = page.find("button", self._pressed)
            if button is not None and (lost is not None or self._sent):
                self._sent = self._sent if lost is not None else {}
                return lost or Action.of("click", button.id)
        return None


def _entered(page: Observation, values: Mapping[str, str]) -> Action | None:
    """Enter what belongs in the first field that is empty; None if there is no such field."""
    fields: dict[str, Node] = {field.name: field for field in reversed(list(page.find_all("textbox")))}
    for name, value in values.items():
        if name in fields and not fields[name].value:
            return Action.of("fill", fields[name].id, value)
    return None


def _accounts(hints: Sequence[str]) -> list[Mapping[str, str]]:
    """What has to be typed into which field, for each site with a log-in."""
    told = [hint.partition(". ")[2] for hint in hints if hint.startswith("If you are logged out")]
    return [dict(re.findall(r"([\w ]+): (\S+?)(?:, |$)", one)) for one in told]
