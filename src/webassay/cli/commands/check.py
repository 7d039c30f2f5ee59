"""`webassay check`: the proof of the tasks."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import PLAY, Command
from webassay.cli.options import Json, Workers, names_of, selects

if TYPE_CHECKING:
    from webassay.workbench import Selection


@selects("world_seed", "seed", "difficulty", "scale", "obstacles", instances=2)
def check(
    selection: "Selection",
    template: Annotated[
        list[str] | None,
        typer.Argument(autocompletion=names_of("templates"), help="Templates; default: all of the arena."),
    ] = None,
    workers: Workers = 2,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the run here.")] = None,
    as_json: Json = False,
) -> None:
    """Prove the tasks: the oracle passes each on every route; shortcuts, naive agents and mistakes fail.

    Each column counts what held, or says 4/5 if something did not. If the oracle does not pass, a picture of the last
    page it saw is written to --out, or to the current directory.

    Example: `webassay check shop.low-reviews --instances 5 --world-seed 7`, or `webassay check chores.py:MyTemplate`
    """
    from webassay import PlayOptions, run_sync
    from webassay.core.files import own_prefix
    from webassay.workbench import as_table

    names = [name for name in template or [] if name != "arena"]
    selection = replace(selection, templates=tuple(names))
    with common.workbench() as bench, tempfile.TemporaryDirectory(prefix=own_prefix("check")) as scratch:
        proofs = run_sync(bench.check(out or Path(scratch) / "run", selection, PlayOptions(workers=workers)))
    if as_json:
        print(json.dumps([proof.as_json() for proof in proofs], ensure_ascii=False, indent=1))
    else:
        common.say(as_table(proofs))
        for note in (one for proof in proofs for one in proof.notes()):
            common.say(note)
    for name, picture in (one for proof in proofs for one in proof.pictures.items()):
        (out or Path()).joinpath(name).write_bytes(picture)
        common.say(f"The last page the oracle saw: {(out or Path()) / name}", stderr=True)
    problems = [problem for proof in proofs for problem in proof.problems]
    for problem in problems:
        common.say(problem, stderr=True)
    if problems:
        common.say(f"{len(problems)} {'thing does' if len(problems) == 1 else 'things do'} not hold.", stderr=as_json)
        raise typer.Exit(1)
    if not as_json:
        templates = f"{len(proofs)} {'template' if len(proofs) == 1 else 'templates'}"
        common.say(f"Everything holds for {templates}: solutions pass, and mistakes made on purpose fail.")


CHECK = Command("check", PLAY, "Prove that tasks can be solved and mistakes fail.", check, 2)
