"""`webassay list`: everything that can be named, with what installed packages add."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from webassay.cli import common
from webassay.cli.command import COMMANDS, DATA, Command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webassay.core.registry import Registry


def _kinds(incomplete: str) -> list[str]:
    return [kind for kind in _registries() if kind.startswith(incomplete)]


def _registries() -> "Mapping[str, Registry[Any]]":
    """Also the kinds that only this floor knows."""
    from webassay.compose.registries import KINDS

    return {**KINDS, "commands": COMMANDS}


def list_(
    kind: Annotated[
        str | None, typer.Argument(autocompletion=_kinds, help="agents, benchmarks, judges…; default: every kind.")
    ] = None,
    options: Annotated[bool, typer.Option("--options", help="Also list settings: NAME[key=value].")] = False,
) -> None:
    """List everything of one kind, built in or added by an installed package.

    Example: `webassay list agents --options`
    """
    from rich.table import Table

    from webassay.core.registry import nearest

    kinds = _registries()
    if kind is not None and kind not in kinds:
        raise nearest("kind", kind, kinds)
    table = Table("kind" if kind is None else kind.removesuffix("s"), "what it is", box=None)
    if kind is None:
        for name, registry in kinds.items():
            table.add_row(name, f"{len(registry.names())}; add your own with the entry point group {registry.group}")
    else:
        settings = _settings(kinds[kind]) if options else {}
        for name, summary in {**kinds[kind].summaries(), **kinds[kind].hidden()}.items():
            table.add_row(name, summary)
            for line in settings.get(name, ()):
                table.add_row("", line)
    common.show(table)


def _settings(registry: "Registry[Any]") -> dict[str, list[str]]:
    from webassay.core.errors import InputError
    from webassay.core.options import NoOptions, describe_options

    settings = {}
    for one in registry:
        try:
            described = list(describe_options(getattr(one, "options", NoOptions)))
        except InputError as error:
            settings[one.name] = [error.message]
            continue
        settings[one.name] = [f"{each.name}={each.form} (default {each.default}) {each.summary}" for each in described]
    return settings


LIST = Command("list", DATA, "List agents, judges, benchmarks and so on.", list_, 0)
