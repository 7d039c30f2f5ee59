"""Where pages are made: the templates, and how numbers are written in them."""

from collections.abc import Callable

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
