"""`webassay model`: talking to models, and standing in for them."""

from pathlib import Path
from typing import Annotated

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command


def replay(
    file: Annotated[Path, typer.Argument(help="A script: one JSON object per line, a reply or a failure.")],
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="0: any free one.")] = 0,
) -> None:
    """Serve scripted answers, delays and failures from an OpenAI-compatible endpoint on this machine.

    Example: `webassay model replay answers.jsonl -p 9000`, then `--model openai:any@http://127.0.0.1:9000/v1`
    """
    from webassay import run_sync

    def ready(url: str) -> None:
        print(f"Serving at {url}; press Ctrl-C to stop.", flush=True)

    with common.workbench(waits=True) as bench:
        run_sync(bench.replay_model(file, port=port, ready=ready))


MODEL = Command("model", DATA, "Serve a scripted stand-in for a model.", {"replay": replay})
