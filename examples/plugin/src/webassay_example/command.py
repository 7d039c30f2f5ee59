"""`webassay longest RUN`: an operation of the command line."""

from webassay.cli import common
from webassay.cli.command import LOOK, Command
from webassay.cli.options import Grader, Run


def _longest(run: Run, grader: Grader = "") -> None:
    """Name the longest episode of a run.

    Example: `webassay longest runs/first`
    """
    with common.workbench() as bench:
        rows = bench.rows([run], grader)
    row = max(rows, key=lambda row: row["steps"])
    common.say(f"{row['agent']} on {row['task_id']}: {row['steps']} steps")


LONGEST = Command("longest", LOOK, "The longest episode of a run.", _longest)
