"""Addresses of pages. Everything is in the query, so that a name may hold slashes and dots, and a link is a finding."""

from typing import Any
from urllib.parse import quote, urlencode


def address(path: str, **query: Any) -> str:
    """A list gives its name several times; None and empty texts are left out."""
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        values = value if isinstance(value, list | tuple | set | frozenset) else [value]
        pairs += [(name.rstrip("_"), str(one)) for one in values if one is not None and one != ""]
    return f"{path}?{urlencode(pairs, quote_via=quote, safe='/:')}" if pairs else path


def of_episode(run: str, unit: str, **more: Any) -> str:
    """`unit`: agent/task/trial, or the id of one attempt."""
    return address("/episode", run=run, unit=unit, **more)


def of_episodes(**facets: Any) -> str:
    """The list of the episodes behind a number."""
    return address("/episodes", **facets)


def of_blob(run: str, digest: str) -> str:
    return address("/blob", run=run, hash=digest)
