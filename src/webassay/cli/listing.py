"""`webassay list`: everything that can be named, with what installed packages add."""

from typing import Annotated

import typer

from webassay.cli import common


def register(app: typer.Typer) -> None:
    app.command("list", short_help="List agents, judges, benchmarks and so on.")(list_)


def _kinds(incomplete: str) -> list[str]:
    from webassay.compose.registries import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


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

    from webassay.compose.registries import KINDS
    from webassay.core.registry import nearest

    if kind is not None and kind not in KINDS:
        raise nearest("kind", kind, KINDS)
    table = Table("kind" if kind is None else kind.removesuffix("s"), "what it is", box=None)
    if kind is None:
        for name, registry in KINDS.items():
            table.add_row(name, f"{len(registry.names())}; add your own with the entry point group {registry.group}")
    else:
        settings = _settings(kind) if options else {}
        for name, summary in {**KINDS[kind].summaries(), **KINDS[kind].hidden()}.items():
            table.add_row(name, summary)
            for line in settings.get(name, ()):
                table.add_row("", line)
    common.show(table)


def _settings(kind: str) -> dict[str, list[str]]:
    from webassay.compose.registries import KINDS
    from webassay.core.errors import InputError
    from webassay.core.options import NoOptions, describe_options

    found = {}
    for one in KINDS[kind]:
        try:
            described = list(describe_options(getattr(one, "options", NoOptions)))
        except InputError as error:
            found[one.name] = [error.message]
            continue
        found[one.name] = [f"{each.name}={each.form} (default {each.default}) {each.summary}" for each in described]
    return found
