"""What the agents tell their models, as files: a change of wording changes the experiment, and shows as a diff.

The hash of every file an agent uses is recorded with each of its trajectories.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from webassay.core.errors import InputError

FOLDER = Path(__file__).parent

# Not HTML: what a page says must reach the model as it is. Values are never read as templates.
_JINJA = Environment(
    loader=FileSystemLoader(FOLDER),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=False,
)


def render(name: str, **values: Any) -> str:
    return _JINJA.get_template(name).render(values)


@cache
def prompt_hash(name: str) -> str:
    return "sha256:" + hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()


def hashes(*names: str) -> Mapping[str, str]:
    return {name: prompt_hash(name) for name in names}


@cache
def tips_for(site: str) -> str:
    """What somebody who knows the site would tell; empty if there is nothing for it."""
    if not site.replace("_", "").isalnum():
        raise InputError(f"{site!r} cannot be the name of a site.")
    path = FOLDER / "tips" / f"{site}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
