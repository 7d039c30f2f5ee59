"""`webassay check`: the oracle's run, and what becomes of mistakes grafted onto it."""

from pathlib import Path
from typing import TYPE_CHECKING

from webassay.cli import common

if TYPE_CHECKING:
    from webassay.catalog import Selection


def check_run(path: Path, chosen: "Selection") -> list[str]:
    """Problems found, one line each; prints a table of what was proved."""
    from rich.table import Table

    from webassay.benchmarks.arena.mistakes import mistakes
    from webassay.catalog import GRADERS, Catalog
    from webassay.store import Store, StoreBlobs

    grade = GRADERS[common.GRADER]
    catalog = Catalog(chosen, cache=common.cache_dir())
    proved: dict[str, list[int]] = {}
    problems: list[str] = []
    with Store.open(path) as store, common.progress("grafting mistakes", len(catalog.tasks)) as (bar, line):
        for unit, trajectory in store.trajectories():
            bar.advance(line)
            task = catalog.task(unit.task_id)
            tally = proved.setdefault(task.template, [0, 0, 0])
            verdict = grade(task, trajectory, StoreBlobs(store))
            if verdict.status != "pass":
                said = "; ".join(f.message for f in verdict.findings if f.status != "pass") or verdict.status
                ended = f" ({trajectory.ending.kind}: {trajectory.ending.message})" if trajectory.ending.message else ""
                problems.append(f"{task.id}: the oracle does not pass: {said}{ended}")
                continue
            tally[0] += 1
            tally[2] = max(tally[2], len(trajectory.steps))
            for name, wrong in mistakes(task, trajectory, StoreBlobs(store)):
                if grade(task, wrong, StoreBlobs(store)).status == "pass":
                    problems.append(f"{task.id}: a wrong episode passes: {name}")
                else:
                    tally[1] += 1
    table = Table("template", "oracle passes", "mistakes caught", "most steps", box=None)
    for template, (passed, caught, steps) in sorted(proved.items()):
        table.add_row(template, str(passed), str(caught), str(steps))
    common.console().print(table)
    return problems
