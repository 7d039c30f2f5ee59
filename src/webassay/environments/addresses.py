"""Where somebody's WebArena sites are: by the configuration file of webarena-verified, or by variables.

The variables are those that people have already: `WA_SHOPPING` as BrowserGym wants it, or `SHOPPING` as WebArena's own
harness does. `WA_SHOPPING_CONTROL` adds the control endpoint that the images of webarena-verified have, and
`WA_FULL_RESET` the reset server that BrowserGym knows.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webassay.core.errors import InputError
from webassay.core.files import read_regular

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map", "homepage")

ACCOUNTS: dict[str, tuple[str, str]] = {
    "shopping": ("emma.lopez@gmail.com", "Password.123"),
    "shopping_admin": ("admin", "admin1234"),
    "reddit": ("MarvelsGrantMan136", "test1234"),
    "gitlab": ("byteblaze", "hello1234"),
}
"""The users that the published sites come with; they are public."""


@dataclass(frozen=True)
class Address:
    site: str
    url: str
    """Without a slash at the end."""
    others: tuple[str, ...] = ()
    """Under which it is known as well."""
    username: str = ""
    password: str = ""
    header_login: bool = False
    """The site logs in whoever sends a header with name and password: images of webarena-verified only."""
    control: str = ""
    """The control endpoint; empty: there is none."""

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def origin(self) -> str:
        """Sites that share it share their data."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def hosts(self) -> frozenset[str]:
        """`host:port` of each of its addresses."""
        return frozenset(urlsplit(url).netloc for url in (self.url, *self.others))


@dataclass(frozen=True)
class SiteAddresses:
    sites: Mapping[str, Address]
    full_reset: str = ""
    """A server that resets all sites at once."""
    source: str = ""
    """Where this was said, in words."""


def read_addresses(config: str, variables: Mapping[str, str]) -> SiteAddresses:
    """The file, where one is named; else the variables."""
    return _from_file(Path(config)) if config else _from_variables(variables)


def _from_variables(variables: Mapping[str, str]) -> SiteAddresses:
    found: dict[str, Address] = {}
    for site in SITES:
        for prefix in ("WA_", ""):
            name = f"{prefix}{site.upper()}"
            if url := variables.get(name, "").strip():
                controls = (variables.get(f"{start}_CONTROL", "").strip() for start in (f"WA_{site.upper()}", name))
                control = next(filter(None, controls), "")
                found[site] = _address(name, site, [url], control=control)
                break
    return SiteAddresses(found, variables.get("WA_FULL_RESET", "").strip().rstrip("/"), "variables such as WA_SHOPPING")


def _from_file(path: Path) -> SiteAddresses:
    try:
        value = json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {str(error)[:200]}.") from error
    environments = value.get("environments") if isinstance(value, dict) else None
    if not isinstance(environments, dict) or not environments:
        raise InputError(
            f"{path} is not a configuration of webarena-verified.",
            hint='Write {"environments": {"__SHOPPING__": {"urls": ["http://…"]}}}.',
        )
    found: dict[str, Address] = {}
    for name, given in environments.items():
        site = str(name).strip("_").lower()
        if site not in SITES:
            raise InputError(f"{path}: there is no site {name!r}.", hint=f"Known sites: {', '.join(SITES)}.")
        found[site] = _from_entry(f"{path}: {name}", site, given if isinstance(given, dict) else {})
    return SiteAddresses(found, str(value.get("full_reset_url") or "").rstrip("/"), str(path))


def _from_entry(place: str, site: str, given: Mapping[str, Any]) -> Address:
    urls = given.get("urls")
    if not isinstance(urls, list) or not urls or not all(isinstance(url, str) for url in urls):
        raise InputError(f"{place} has no list of URLs.", hint='Write "urls": ["http://…"].')
    active = given.get("active_url_idx") or 0
    if not isinstance(active, int) or not 0 <= active < len(urls):
        raise InputError(f"{place} has no URL number {active}.", hint="active_url_idx counts from 0.")
    ordered = [urls[active], *(url for number, url in enumerate(urls) if number != active)]
    extra, container = given.get("extra") or {}, given.get("container") or {}
    control = str(given.get("env_ctrl_url") or extra.get("env_ctrl_url") or "")
    if not control and container.get("host_env_ctrl_port"):
        parts = urlsplit(ordered[0])
        control = f"{parts.scheme}://{parts.hostname}:{container['host_env_ctrl_port']}"
    credentials = given.get("credentials") or {}
    return _address(
        place,
        site,
        ordered,
        control=control,
        account=(str(credentials.get("username", "")), str(credentials.get("password", ""))),
        header_login=bool(given.get("use_header_login")),
    )


def _address(
    place: str,
    site: str,
    urls: list[str],
    *,
    control: str = "",
    account: tuple[str, str] = ("", ""),
    header_login: bool = False,
) -> Address:
    for url in filter(None, (*urls, control)):
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise InputError(f"{place}: {url!r} is not an address.", hint="Write it whole: http://HOST:PORT.")
    username, password = account if account[0] else ACCOUNTS.get(site, ("", ""))
    first, *others = (url.rstrip("/") for url in urls)
    return Address(site, first, tuple(others), username, password, header_login, control.rstrip("/"))
