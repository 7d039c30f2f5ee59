"""Where pages are made: the templates, and how numbers are written in them."""

from collections.abc import Callable
from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined

from webassay.analysis.output import text

environment = Environment(
    loader=PackageLoader("webassay.analysis.output"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def _unbroken(write: Callable[..., str]) -> Callable[..., str]:
    """A number and its unit stay on one line."""
    return lambda *args: write(*args).replace(" ", "\N{NO-BREAK SPACE}")


environment.filters.update(
    percent=_unbroken(text.percent), with_bounds=_unbroken(text.with_bounds), bounds=_unbroken(text.bounds)
)


def framed(page: str) -> str:
    """A whole page inside a notebook: its style stays in it, and what an agent or a site said reaches nothing else."""
    style = "width:100%;height:42rem;border:0"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(page)}"></iframe>'
