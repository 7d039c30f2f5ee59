"""Templates into pages. Whatever a page or an agent said is text: escaped, and with its control characters shown."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from markupsafe import Markup

from webassay.analysis.output import text
from webassay.analysis.output.html import environment as reports
from webassay.core.text import printable
from webassay.viewer import address

HERE = Path(__file__).parent
STATIC = HERE / "static"
LONGEST = 20_000
"""Characters of one text that a page shows unless its template says otherwise."""


def _finished(value: Any) -> Any:
    return printable(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def environment() -> Environment:
    """The report's own, with more: numbers are written alike wherever they stand."""
    assert reports.loader is not None
    made = reports.overlay(
        loader=ChoiceLoader([FileSystemLoader(HERE / "templates"), reports.loader]),
        finalize=_finished,
        lstrip_blocks=True,
        cache_size=200,
    )
    made.filters = {**reports.filters, "cut": cut, "seconds": seconds, "money": money, "day": day, "zip": zip,
                    "p_value": text.p_value}  # fmt: skip
    links = {one.__name__: one for one in (address.address, address.of_episode, address.of_episodes, address.of_blob)}
    made.globals = {**reports.globals, **links, "plural": plural, "dict": dict}
    return made


def rendered(template: str, **given: Any) -> str:
    made = environment().get_template(template).render(**given)
    return made.encode("utf-8", "replace").decode()


@cache
def static_files() -> Mapping[str, tuple[bytes, str]]:
    """Everything that pages may load: name to content and type. It is little, and held in memory."""
    kinds = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
    found = {path.name: (path.read_bytes(), kinds[path.suffix]) for path in STATIC.iterdir() if path.suffix in kinds}
    loader = environment().loader
    assert loader is not None
    for name in ("style.html", "episode.css", "episode.js"):
        source, _, _ = loader.get_source(environment(), name)
        plain = source.strip().removeprefix("<style>").removesuffix("</style>")
        served = Path(name).with_suffix(".css") if name.endswith(".html") else Path(name)
        found[served.name] = (plain.encode(), kinds[served.suffix])
    return found


# --- how things are written -------------------------------------------------------------------------------


def cut(said: str, limit: int = LONGEST) -> str:
    return said if len(said) <= limit else f"{said[: limit - 1]}…"


def seconds(value: float | None) -> str:
    if value is None:
        return "–"
    if value < 90:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def money(value: float | None) -> str:
    return "–" if value is None else f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


def day(time: str) -> str:
    """`2026-03-01 10:00`, of a time as records have it."""
    try:
        return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return cut(time, 40)


def plural(number: int, what: str, several: str = "") -> str:
    return f"{number:,} {what if number == 1 else several or what + 's'}"
