"""An experiment as a file: the options of `webassay run`, written down. What is typed is laid over it."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

NOT_KEPT = ("experiment", "save_experiment", "dry_run")
"""Options that say what to do with an experiment, and not what it is."""


def read_experiment(context: typer.Context, file: Path | None) -> Path | None:
    """Its keys become the defaults of the options of the same name, so they are checked like anything typed."""
    if file is None or context.resilient_parsing:
        return file
    from webassay.core.errors import InputError, boundary
    from webassay.core.files import read_regular
    from webassay.core.registry import nearest

    with boundary(InputError, f"{file} is not TOML"):
        found = tomllib.loads(read_regular(file).decode())
    options = _options(context)
    values: dict[str, Any] = {}
    for name, value in found.items():
        key = options.get(name.replace("_", "-"))
        if key is None:
            raise nearest(f"option in {file}", name, options)
        if key.multiple:
            value = [value] if isinstance(value, str) else value
        elif isinstance(value, list | dict):
            raise InputError(f"{file}: {name} takes one value.", hint=f"Write {name} = …, without brackets.")
        values[str(key.name)] = [str(one) for one in value] if isinstance(value, list) else value
    context.default_map = values
    return file


Experiment = Annotated[
    Path | None,
    typer.Argument(
        help='A TOML file with options such as `agent = ["oracle"]` and `max-steps = 30`; those typed here outrank it.',
        callback=read_experiment,
        is_eager=True,
    ),
]


def given_options(context: typer.Context) -> dict[str, Any]:
    """What was typed, or stands in the experiment file, by parameter."""
    defaults = ("DEFAULT", "ENVIRONMENT")
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {
        name: context.params[name]
        for name, source in sources.items()
        if source is not None and source.name not in defaults and name not in NOT_KEPT
    }


def to_toml(given: Mapping[str, Any]) -> str:
    """JSON writes texts, numbers, booleans and lists of them as TOML does."""
    lines = [
        f"{_LONG.get(name, name).replace('_', '-')} = {json.dumps(_plain(given[name]), ensure_ascii=False)}"
        for name in sorted(given)
    ]
    return "\n".join([*lines, ""])


_LONG = {"settings": "set", "max_usd": "max-cost"}
"""Parameters that are not called like their option."""


def _plain(value: Any) -> Any:
    return (
        [_plain(one) for one in value]
        if isinstance(value, list | tuple)
        else str(value)
        if isinstance(value, Path)
        else value
    )


def _options(context: typer.Context) -> dict[str, Any]:
    """Long names without their dashes, to the options."""
    return {
        name.removeprefix("--"): option
        for option in context.command.params
        if option.param_type_name == "option" and option.name not in NOT_KEPT
        for name in option.opts
        if name.startswith("--") and name != "--help"
    }
