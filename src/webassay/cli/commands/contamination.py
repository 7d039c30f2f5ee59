"""`webassay contamination`: what can be scored without looking."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command
from webassay.cli.options import TasksFile, names_of, shows

if TYPE_CHECKING:
    from webassay.workbench import Document


@shows
def contamination(
    benchmark: Annotated[
        str, typer.Argument(autocompletion=names_of("benchmarks"), help="Any benchmark that can be graded.")
    ],
    tasks_file: TasksFile = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", "-a", help="Only these; default: all that answer at once.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Also what this model knows: openai:NAME[@URL]…")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="A JSON object of task ids and answers given without looking.")
    ] = None,
    max_usd: Annotated[float | None, typer.Option("--max-usd", min=0, help="Stop when this much is spent.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Estimate the model's cost.")] = False,
) -> "Document | None":
    """What can be scored without looking: constant answers, copies of the goal, and what a model already knows.

    Nothing is played: each answer is graded as if nothing else had happened.

    Example: `webassay contamination webarena`

    Example: `webassay contamination webarena --agent knowledge --model openai:gpt-5 --dry-run`
    """
    from webassay import ModelOptions, Selection, run_sync
    from webassay.core.errors import InputError
    from webassay.workbench import GuessOptions

    chosen = Selection(benchmark=benchmark, file=str(tasks_file or ""))
    asked = ModelOptions(model, max_usd=max_usd) if model else None
    if dry_run and asked is None:
        raise InputError("There is no cost to estimate without a model.", hint="Name one: --model openai:NAME.")
    with common.workbench() as bench:
        if dry_run and asked is not None:
            plan = run_sync(bench.contamination_plan(chosen, asked))
            cost = "its price is not known" if plan.cost_usd is None else f"about ${plan.cost_usd:.2f}"
            print(f"{plan.calls} calls, about {plan.input_tokens:,} tokens in, {plan.output_tokens:,} out: {cost}")
            return None
        return run_sync(bench.contamination(chosen, GuessOptions(tuple(agent or ()), asked, _answers(answers))))


def _answers(path: Path | None) -> dict[str, str]:
    import json

    from webassay.core.errors import InputError
    from webassay.core.files import read_regular

    try:
        value = {} if path is None else json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {str(error)[:200]}.") from None
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise InputError(f"{path} is not a JSON object of task ids and answers.")
    return value


CONTAMINATION = Command("contamination", DATA, "What can be scored without looking at a page.", contamination)
