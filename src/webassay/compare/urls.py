"""URLs as locations on sites: `http://10.0.0.7:7770/a?b=1` and `__SHOPPING__/a?b=1` are the same page."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from webassay.compare.match import Slack, UnreadableValue, ValueKind, bounded

_MAX_URL = 20_000
_MAX_FIELDS = 1000
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_GIT = re.compile(r"(?:ssh://)?[\w.-]{1,64}@[\w.-]{1,253}(?::(?P<port>\d{1,5})(?=/))?[:/](?P<path>[^\s?#]{1,500})")
_PLACEHOLDER = re.compile(r"(__[A-Z][A-Z_]*__)(?=[/?#]|$)")


class Location(NamedTuple):
    """A normalized URL: two spellings of one page are equal."""

    place: str
    """`__SITE__` on a known site, else scheme, host and port."""
    path: str
    query: tuple[tuple[str, str], ...] = ()
    fragment: str = ""

    @property
    def page(self) -> str:
        return self.place + self.path

    def values(self, ignored: Callable[[str], bool] = lambda _: False) -> dict[str, tuple[str, ...]]:
        """Sorted query values by key; a key without text counts as absent."""
        found: dict[str, list[str]] = {}
        for key, value in self.query:
            if value and not ignored(key):
                found.setdefault(key, []).append(value)
        return {key: tuple(sorted(texts)) for key, texts in found.items()}

    def __str__(self) -> str:
        query = "&".join(f"{key}={value}" for key, value in self.query)
        return (self.page + (f"?{query}" if query else "") + (f"#{self.fragment}" if self.fragment else ""))[:300]


class Sites:
    """A task's sites and the base URLs under which they were reached."""

    def __init__(self, bases: Mapping[str, Iterable[str] | str] | None = None) -> None:
        self._bases: list[tuple[str, str, str]] = []
        for site, urls in (bases or {}).items():
            for url in (urls,) if isinstance(urls, str) else urls:
                origin, path, _, _ = _split(url)
                self._bases.append((origin, path.rstrip("/").lower(), f"__{site.upper()}__"))
        # The longest path first: the admin site under /admin is not the shop that contains it.
        self._bases.sort(key=lambda base: -len(base[1]))
        spelled = [base for urls in (bases or {}).values() for base in ((urls,) if isinstance(urls, str) else urls)]
        self._anywhere = re.compile(
            "|".join(re.escape(base.rstrip("/")) for base in sorted(spelled, key=len, reverse=True)) or r"(?!)",
            re.IGNORECASE,
        )
        self.locate = lru_cache(maxsize=4096)(self._locate)
        self.kind = ValueKind("URL", self._read, _same_location)

    def mask(self, text: str) -> str:
        """Replaces base URLs in a text by the placeholders that keys use."""
        if "http" not in text:
            return text
        return self._anywhere.sub(lambda found: self.locate(found[0]).page, text)

    def _read(self, value: object) -> Location:
        return self.locate(bounded(value))

    def _locate(self, url: str) -> Location:
        text = url.strip()
        if len(text) > _MAX_URL:
            raise UnreadableValue("it is too long for a URL")
        if not text:
            raise UnreadableValue("it is empty")
        git = _GIT.fullmatch(text)
        if git:
            return Location("git@", "/" + git["path"].strip("/").lower())
        place, path, query, fragment = _split(text)
        for origin, prefix, name in self._bases:
            lowered = path.lower()
            if origin == place and (lowered == prefix or lowered.startswith(prefix + "/")):
                place, path = name, path[len(prefix) :]
                break
        return Location(place, path.rstrip("/"), _pairs(query), fragment)


def _split(text: str) -> tuple[str, str, str, str]:
    """Origin (or placeholder), path, raw query, fragment."""
    known = _PLACEHOLDER.match(text)
    try:
        if known:
            parts = urlsplit("http://site" + text[known.end() :])
            return known[1], _resolved(parts.path), parts.query, parts.fragment
        parts = urlsplit(text)
        if not parts.netloc and "://" not in text and not text.startswith("/"):
            parts = urlsplit("//" + text)
        scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
        port = parts.port
    except ValueError as error:
        raise UnreadableValue(f"it is not a URL: {error}") from None
    if not host:
        raise UnreadableValue("it names no host")
    shown_port = "" if port is None or port == _PORTS.get(scheme or "http") else f":{port}"
    return f"{scheme or 'http'}://{host}{shown_port}", _resolved(parts.path), parts.query, parts.fragment


def _resolved(path: str) -> str:
    """Decodes percent escapes, resolves `.` and `..`, and collapses repeated slashes."""
    path = unquote(path)
    if "//" not in path and "/." not in path:
        return path
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in (".", ""):
            kept.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(kept) + ("/" if path.endswith("/") and kept else "")


def _pairs(query: str) -> tuple[tuple[str, str], ...]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise UnreadableValue(f"its query has more than {_MAX_FIELDS} fields") from None
    return tuple((unquote(key), unquote(value).strip().lower()) for key, value in pairs)


def same_page(a: Location, b: Location) -> bool:
    return a.place == b.place and a.path.lower() == b.path.lower() and a.fragment.lower() == b.fragment.lower()


def _same_location(a: Location, b: Location, _: Slack) -> bool:
    return same_page(a, b) and a.values() == b.values()


def with_decoded_path(location: Location) -> Location:
    """Some shops encode a query string as a Base64 path segment: moves such segments into the query."""
    kept: list[str] = []
    found: list[tuple[str, str]] = []
    for segment in location.path.split("/"):
        text = _decoded_segment(segment)
        if text is None:
            kept.append(segment)
        else:
            found.extend(_pairs(text))
    return location._replace(path="/".join(kept), query=location.query + tuple(found)) if found else location


def _decoded_segment(segment: str) -> str | None:
    if len(segment) < 8:
        return None
    try:
        text = base64.b64decode(segment + "=" * (-len(segment) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return text if "=" in text and text.isprintable() else None
