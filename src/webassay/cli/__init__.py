"""The command line: parses, calls the workbench, prints. Heavy imports happen inside commands, so `--help` is quick."""

import sys

from webassay.cli.command import program

app = program()


def main() -> None:
    """Every error of ours is two lines and an exit code; anything else is a bug and shows its traceback."""
    from webassay.core.errors import BudgetError, InputError, SameFaultError, TaskError, WebassayError

    try:
        app()
    except WebassayError as error:
        from webassay.core.text import printable

        print(printable(f"error: {error.message}", lines=True), file=sys.stderr)
        if error.hint:
            print(printable(f"       {error.hint}", lines=True), file=sys.stderr)
        # docs/running.md has them all in one table.
        codes = {InputError: 2, TaskError: 2, SameFaultError: 3, BudgetError: 5}
        sys.exit(codes.get(type(error), 1))
    except BrokenPipeError:
        # `webassay tasks | head`: the reader has seen enough.
        sys.stderr.close()
        sys.exit(0)
