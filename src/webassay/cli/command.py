"""A command as a value, and the program that finds them: every module in `cli/commands`, and every installed package.

    HELLO = Command("hello", LOOK, "Say how many episodes a run has.", hello)

A package adds one through the entry point group `webassay.commands`, under the command's name. Its module is imported
when the command is called, or when the list of all commands is shown; if it cannot be loaded, the others still work.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand, TyperGroup

from webassay.core.errors import InputError
from webassay.core.registry import Registry, instances_of, modules_of

if TYPE_CHECKING:
    # typer carries its own copy of click.
    from typer._click import Command as ClickCommand
    from typer._click import Context, HelpFormatter

START = "Start"
PLAY = "Play and grade"
JUDGE = "Judge"
LOOK = "Look at results"
DATA = "Work with data"
GROUPS = (START, PLAY, JUDGE, LOOK, DATA)
"""As the help screen shows them; a command may also name a group of its own, which comes last."""

LAST = 100


@dataclass(frozen=True)
class Command:
    name: str
    group: str
    summary: str
    """One line for the help screen."""
    function: Callable[..., None] | Mapping[str, Callable[..., None]]
    """Its signature and docstring are the options and the help (typer). Several functions by name are the parts of a
    command, such as `store check` and `store repair`."""
    place: int = LAST
    """Where it stands in its group: low numbers first, then by name."""
    parser: type[TyperCommand] = TyperCommand

    def build(self) -> "ClickCommand":
        app = typer.Typer(name=self.name, help=self.summary, no_args_is_help=True, add_completion=False,
                          rich_markup_mode=None)  # fmt: skip
        if not isinstance(self.function, Mapping):
            app.command(self.name, cls=self.parser)(self.function)
            return typer.main.get_command(app)
        app.callback()(lambda: None)  # A group, even of one part.
        for name, function in self.function.items():
            app.command(name)(function)
        return typer.main.get_command(app)


COMMANDS: Registry[Command] = Registry(
    "command",
    instances_of(Command),
    modules=partial(modules_of, "webassay.cli.commands"),
    group="webassay.commands",
    hint="`webassay --help` lists them.",
)


class Commands(TyperGroup):
    """Builds only the command that is called: building all of them takes longer than showing their names."""

    def list_commands(self, ctx: "Context") -> list[str]:
        return list(COMMANDS.names())

    def get_command(self, ctx: "Context", cmd_name: str) -> "ClickCommand | None":
        if cmd_name not in self.commands:
            try:
                self.commands[cmd_name] = COMMANDS.get(cmd_name).build()
            except InputError:
                if ctx.resilient_parsing:  # Completion: a broken or unknown command completes to nothing.
                    return None
                raise
        return self.commands[cmd_name]

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        width = max(map(len, COMMANDS.names()))
        for title, rows in by_group().items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in rows.items()])


def by_group() -> dict[str, dict[str, str]]:
    """Names and summaries, as the help screen shows them; what cannot be loaded is a group of its own, the last."""
    groups: dict[str, list[tuple[int, str, str]]] = {name: [] for name in GROUPS}
    broken = []
    for name in COMMANDS.names():
        try:
            one = COMMANDS.get(name)
        except InputError as error:
            broken.append((LAST, name, error.message))
        else:
            groups.setdefault(one.group, []).append((one.place, name, one.summary))
    groups["Cannot be loaded"] = broken
    return {title: {name: line for _, name, line in sorted(rows)} for title, rows in groups.items() if rows}


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"webassay {version('webassay')}")
        raise typer.Exit


def program() -> typer.Typer:
    app = typer.Typer(
        name="webassay",
        cls=Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # rich takes 0.3 s to load, and help must answer at once
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        epilog="Start with `webassay demo`. Add --help to any command; --install-completion sets up your shell.",
        subcommand_metavar="COMMAND [ARGS]...",
    )

    @app.callback()
    def webassay(
        version: Annotated[
            bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")
        ] = False,
    ) -> None:
        """Run web agents on resettable sites, grade them without being fooled, report honest statistics."""

    return app
