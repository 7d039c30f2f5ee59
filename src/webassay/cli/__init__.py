"""The command line: parses, calls the workbench, prints. Heavy imports happen inside commands, so `--help` is quick."""

import sys

import typer

from webassay.cli import (
    agreeing,
    faultbench,
    grading,
    importing,
    judging,
    labelling,
    listing,
    models,
    playing,
    results,
    showing,
    store,
    tasks,
)

app = typer.Typer(
    name="webassay",
    help="Run web agents on resettable sites, grade them without being fooled, and report honest statistics.",
    epilog="Start with `webassay demo`. Every command explains itself with --help.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes 0.3 s to load, and help must answer at once
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (
    playing,
    grading,
    judging,
    labelling,
    importing,
    agreeing,
    faultbench,
    results,
    showing,
    store,
    tasks,
    listing,
    models,
):
    part.register(app)


def main() -> None:
    """Every error of ours is two lines and an exit code; anything else is a bug and shows its traceback."""
    from webassay.core.errors import InputError, TaskError, WebassayError
    from webassay.core.text import printable

    try:
        app()
    except WebassayError as error:
        print(printable(f"error: {error.message}", lines=True), file=sys.stderr)
        if error.hint:
            print(printable(f"       {error.hint}", lines=True), file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError | TaskError) else 1)
    except BrokenPipeError:
        # `webassay tasks | head`: the reader has seen enough.
        sys.stderr.close()
        sys.exit(0)
