"""The command line: parses, calls the workbench, prints. Heavy imports happen inside commands, so `--help` is quick."""

import sys

from webassay.cli.command import program

app = program()


def main() -> None:
    """Every error of ours is two lines and an exit code; anything else is a bug and shows its traceback."""
    from webassay.core.errors import InputError, TaskError, WebassayError

    try:
        app()
    except WebassayError as error:
        from webassay.core.text import printable

        print(printable(f"error: {error.message}", lines=True), file=sys.stderr)
        if error.hint:
            print(printable(f"       {error.hint}", lines=True), file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError | TaskError) else 1)
    except BrokenPipeError:
        # `webassay tasks | head`: the reader has seen enough.
        sys.stderr.close()
        sys.exit(0)
