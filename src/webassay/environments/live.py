"""Somebody's WebArena sites, wherever they run: docs/live.md.

They are shared, slow, and not ours. So everything is looked at before a run, one episode at a time plays on each of
them unless the user says otherwise, every episode logs in anew, and a site that is dead, or was not put back as it was,
is a fault that says so.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, Self
from urllib.parse import urljoin, urlsplit

from webassay.core.errors import InputError, ProbeError, SiteError
from webassay.core.interaction import Cookie
from webassay.core.options import Positive
from webassay.core.task import LegacyCheck, Task
from webassay.core.trajectory import ProbeResult, WritableBlobs
from webassay.environments.addresses import Address, SiteAddresses, read_addresses
from webassay.environments.asking import HttpAnswer, ask
from webassay.environments.base import EnvironmentFactory, EnvironmentRequest
from webassay.environments.helpers import Helpers
from webassay.environments.visitor import Visitor, log_in_form

LOOK_SECONDS = 0.5
READ_ONLY = ("wikipedia", "map", "homepage")
"""Sites that nobody logs in to, and that any episode may look at."""
READY = "Ready for duty!"
"""What BrowserGym's reset server says when it is done."""

LOG_IN_PAGES: dict[str, str] = {
    "shopping": "/customer/account/login/",
    "shopping_admin": "/",
    "reddit": "/login",
    "gitlab": "/users/sign_in",
}
LOG_IN_HEADERS: dict[str, str] = {
    "shopping": "X-M2-Customer-Auto-Login",
    "shopping_admin": "X-M2-Admin-Auto-Login",
    "reddit": "X-Postmill-Auto-Login",
}


@dataclass(frozen=True)
class LiveOptions:
    config: str = ""
    """The configuration file of webarena-verified; empty: variables such as WA_SHOPPING or SHOPPING."""
    parallel: Positive = 1
    """Episodes at the same time on each site; with more than one, nothing is reset."""
    reset: Literal["each", "mutate", "never"] = "each"
    """Before each episode, only after those whose task changes something, or never."""
    seconds: float = 30.0
    """How long a site may take to answer."""
    reset_seconds: float = 600.0
    """How long a reset may take."""


@dataclass(frozen=True)
class LiveStage:
    bases: Mapping[str, str]
    cookies: Sequence[Cookie]
    allowed_hosts: frozenset[str]
    _helpers: Helpers
    _look: Callable[[], "asyncio.Future[None]"] = field(repr=False)
    now_ms: int | None = None

    async def hand_over(self) -> None:
        return None

    async def probe(self, cookies: Sequence[Cookie], blobs: WritableBlobs) -> tuple[ProbeResult, ...]:
        """Nothing can be compared, but a site that is gone is no failure of the agent's."""
        try:
            await self._look()
        except SiteError as error:
            raise ProbeError(f"A site was gone when the agent had stopped: {error}") from error
        return ()

    async def help(self, call: str) -> str:
        return await self._helpers.call(call)


class Live:
    def __init__(
        self,
        addresses: SiteAddresses,
        options: LiveOptions,
        tasks: Sequence[Task] = (),
        tell: Callable[[str], None] = lambda said: None,
    ) -> None:
        self._addresses, self._options, self._tell = addresses, options, tell
        self._needed = sorted({site for task in tasks for site in task.sites})
        self._helpers = Helpers(addresses.sites, options.seconds)
        self._turns = {one.origin: asyncio.Semaphore(options.parallel) for one in addresses.sites.values()}
        self._marks: dict[str, str] = {}
        """What a site showed of its newest content after its first reset."""
        self._touched: dict[str, bool] = {}
        """Whether the last task on a site was one that changes something."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        return None

    # --- before a run -----------------------------------------------------------------------------------------

    async def look(self) -> None:
        """One table of all sites that are needed. One that cannot be reached is refused now, not in every episode."""
        rows = await asyncio.gather(*(self._row(site) for site in self._needed))
        table = _table([("site", "address", "answers", "log-in", "reset"), *(row for row, _ in rows)])
        if not all(reached for _, reached in rows):
            raise InputError(
                f"Not every site can be reached:\n{table}",
                hint="Start them, and say where they are with WA_SHOPPING=http://HOST:PORT and so on, or with "
                '--environment "live[config=FILE]".',
            )
        self._tell(f"The sites, by {self._addresses.source}:\n{table}")
        bare = [site for site in self._needed if site not in READ_ONLY and not self._resets(site)]
        if bare:
            self._tell(
                f"Nothing puts {', '.join(bare)} back between episodes: what one episode changes, the next one finds."
                " Results may depend on the order of the tasks."
            )

    async def _row(self, site: str) -> tuple[tuple[str, ...], bool]:
        address = self._addresses.sites.get(site)
        if address is None:
            return (site, "nobody says where", "-", "-", "-"), False
        account = address.username or "nobody"
        reset = self._resets(site) or "none"
        started = time.monotonic()
        try:
            answer = await ask("GET", f"{address.url}/", seconds=self._options.seconds)
        except SiteError as error:
            return (site, address.url, f"no: {error.message}", account, reset), False
        if answer.status >= 500:
            return (site, address.url, f"no: with {answer.status}", account, reset), False
        onward = urlsplit(urljoin(answer.url, answer.header("location"))).netloc
        if onward not in address.hosts:  # Its own idea of where it is; the browser would follow it.
            return (site, address.url, f"no: it leads to {onward}", account, reset), False
        return (site, address.url, f"{answer.status} in {time.monotonic() - started:.1f} s", account, reset), True

    def _resets(self, site: str) -> str:
        """Who puts the site back; empty: nobody."""
        if self._options.reset == "never" or self._options.parallel > 1:
            return ""
        return self._addresses.full_reset or self._addresses.sites[site].control

    # --- an episode -------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def stage(self, task: Task) -> AsyncIterator[LiveStage]:
        missing = [site for site in task.sites if site not in self._addresses.sites]
        if missing:
            raise SiteError(f"Nobody says where {', '.join(missing)} is.")
        async with AsyncExitStack() as turns:
            # Always in the same order, so that two episodes never wait for each other.
            shared = self._addresses.sites if self._addresses.full_reset else task.sites
            for origin in sorted({self._addresses.sites[site].origin for site in shared if site not in READ_ONLY}):
                await turns.enter_async_context(self._turns[origin])
            await self._put_back(task)
            cookies = await self._logged_in(task)
            sites = {name: one for name, one in self._addresses.sites.items() if name in (*task.sites, *READ_ONLY)}
            yield LiveStage(
                bases={name: one.url for name, one in sites.items()},
                cookies=cookies,
                allowed_hosts=frozenset().union(*(one.hosts for one in sites.values())),
                _helpers=self._helpers,
                _look=lambda: asyncio.ensure_future(self._alive(task.sites)),
            )

    async def _alive(self, sites: Sequence[str]) -> None:
        for site in sites:
            answer = await ask("GET", f"{self._addresses.sites[site].url}/", seconds=self._options.seconds)
            if answer.status >= 500:
                raise SiteError(f"{site} answers with {answer.status}.")

    # --- reset ------------------------------------------------------------------------------------------------

    async def _put_back(self, task: Task) -> None:
        due = [
            site
            for site in task.sites
            if self._resets(site) and (self._options.reset == "each" or self._touched.get(site, True))
        ]
        if due and self._addresses.full_reset:
            # If it breaks off, any site may be half reset, so until it is over none of them counts as untouched.
            touched, self._touched = self._touched, {}
            await self._reset_all()
            self._touched = touched
        for site in due:
            address = self._addresses.sites[site]
            if not self._addresses.full_reset:
                await self._reset_one(address)
            await self._as_at_first(site)
        # Only now: a site whose reset failed is still due when the episode is played again.
        for site in task.sites:
            self._touched[site] = task.kind == "mutate"

    async def _reset_one(self, address: Address) -> None:
        said = await ask("POST", f"{address.control}/init", seconds=self._options.reset_seconds)
        if not said.ok or not _succeeded(said):
            why = f"{said.url} answers with {said.status}, {said.text[:200]}"
            raise SiteError(f"{address.site} could not be reset: {why}")
        await self._until(address.site, f"{address.control}/status", _succeeded)
        await self._until(address.site, f"{address.url}/", lambda answer: answer.status < 500)

    async def _reset_all(self) -> None:
        url = self._addresses.full_reset
        said = await ask("GET", f"{url}/reset", seconds=self._options.seconds)
        busy = 418
        if not said.ok and said.status != busy:
            raise SiteError(f"The sites could not be reset: {url}/reset answers with {said.status}.")
        await self._until("the reset server", f"{url}/status", lambda answer: answer.ok and READY in answer.text)

    async def _until(self, what: str, url: str, ready: Callable[[HttpAnswer], bool]) -> None:
        deadline, last = time.monotonic() + self._options.reset_seconds, "it never answered"
        while time.monotonic() < deadline:
            try:
                left = max(LOOK_SECONDS, deadline - time.monotonic())
                answer = await ask("GET", url, seconds=min(self._options.seconds, left))
                if ready(answer):
                    return
                last = f"it answers with {answer.status}, {answer.text[:200]}"
            except SiteError as error:
                last = error.message
            await asyncio.sleep(LOOK_SECONDS)
        raise SiteError(f"{what} was not ready within {self._options.reset_seconds:g} seconds after a reset: {last}")

    async def _as_at_first(self, site: str) -> None:
        """Half a reset is worse than none."""
        if site not in self._marks:
            try:
                self._marks[site] = await self._helpers.mark(site)
            except SiteError as error:
                self._marks[site] = ""
                self._tell(f"Whether a reset of {site} is complete cannot be told: {error}")
        first = self._marks[site]
        if first and (mark := await self._helpers.mark(site)) != first:
            raise SiteError(f"{site} was reset, but is not as it was at first: {mark}; at first it was {first}.")

    # --- log-in -----------------------------------------------------------------------------------------------

    async def _logged_in(self, task: Task) -> tuple[Cookie, ...]:
        """As its benchmark prescribes: the old ones name the sites of a task, WebArena Verified means all of them."""
        named = any(isinstance(check, LegacyCheck) for check in task.checks)
        sites = [site for site in task.sites if site in (task.logins if named else LOG_IN_PAGES)]
        found: dict[str, tuple[Cookie, ...]] = {}
        for site in sites:
            found[site] = await self._log_in(self._addresses.sites[site])
        names = Counter((cookie.name, cookie.host, cookie.path) for given in found.values() for cookie in given)
        shared = [name for (name, _, _), times in names.items() if times > 1]
        if shared:
            raise SiteError(
                f"{' and '.join(found)} have one host name and both use the cookie {shared[0]}, so a browser cannot be"
                " logged in on both.",
                hint="Name them by different hosts, such as localhost and 127.0.0.1.",
            )
        return tuple(cookie for given in found.values() for cookie in given)

    async def _log_in(self, address: Address) -> tuple[Cookie, ...]:
        visitor, site = Visitor(self._options.seconds), address.site
        if not address.username:
            raise SiteError(f"Nobody says who logs in on {site}.", hint="Give credentials in the configuration file.")
        page = f"{address.url}{LOG_IN_PAGES[site]}"
        if address.header_login and site in LOG_IN_HEADERS:
            account = f"{address.username}:{address.password}"
            shown = await visitor.go(page, {LOG_IN_HEADERS[site]: account})
        else:
            shown = await visitor.go(page)
            form = log_in_form(shown)
            if form is None:
                raise SiteError(f"{page} shows no log-in form, but answers with {shown.status}.")
            filled = {**form.fields, form.user_field: address.username, form.password_field: address.password}
            shown = await visitor.send(urljoin(shown.url, form.action), filled)
        if shown.status >= 400 or log_in_form(await visitor.go(page)) is not None:
            raise SiteError(f"{address.username} could not log in on {site} at {page} ({shown.status}).")
        return visitor.cookies()


def _succeeded(answer: HttpAnswer) -> bool:
    said = answer.json()
    return isinstance(said, dict) and said.get("success") is True


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def _make(request: EnvironmentRequest) -> Live:
    options: LiveOptions = request.options
    addresses = read_addresses(options.config, os.environ)
    return Live(addresses, options, request.tasks, request.tell)


LIVE = EnvironmentFactory(
    "live", "WebArena sites that run somewhere, by their addresses (docs/live.md).", _make, LiveOptions
)
