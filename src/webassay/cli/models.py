"""`webassay model`: talking to models, and standing in for them."""

from pathlib import Path
from typing import Annotated

import typer

from webassay.cli import common

app = typer.Typer(help="Stand in for a model, to test against.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="model", short_help="Stand in for a model, to test against.")


@app.callback()
def model() -> None:
    """Stand in for a model, to test against."""


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A script: one JSON object a line, each a reply or a mishap.")],
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="0: any free one.")] = 0,
) -> None:
    """An OpenAI-compatible endpoint on this machine that replays scripted answers, delays and failures.

    Example: `webassay model replay answers.jsonl -p 9000`, then `--model openai:any@http://127.0.0.1:9000/v1`
    """
    from webassay import run_sync

    def ready(url: str) -> None:
        print(f"Serving at {url}; Ctrl-C stops it.", flush=True)

    with common.workbench() as bench:
        run_sync(bench.replay_model(file, port=port, ready=ready))
