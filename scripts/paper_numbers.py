"""Numbers of the two benchmark papers, made again from published data: ours beside theirs (docs/papers.md).

    python -m scripts.paper_numbers protocols    both protocols on logs that are right, or wrong, by design
    python -m scripts.paper_numbers hard         what the Hard rule makes of the outcomes at hand
    python -m scripts.paper_numbers chores       WebChoreArena's counts, Tables 1 and 2, and the sizes behind B, E, G, H

The first needs WebArena's and WebArena-Verified's task files (`webassay tasks fetch`), the others the folder of outside
data beside the project.
"""

import argparse
import csv
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support import verified_logs as logs

from webassay.analysis.benchmark.subset import APPENDIX, TEXT, classify
from webassay.analysis.numbers import stats
from webassay.benchmarks import chores, verified
from webassay.compose.setup import default_cache
from webassay.core.task import Task
from webassay.workbench import ProtocolOptions, Workbench

DATA = Path(__file__).parents[2] / "shared" / "data"
PUBLISHED_HARD = 137


def protocols() -> None:
    """Every task of WebArena-Verified with a log that satisfies its key, one that spells values differently, and one
    that is wrong; then both protocols. What the old one says of right logs are its false negatives, by design."""
    file = verified.fetch(default_cache())
    entries = json.loads(file.read_text())
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "config.json").write_text(json.dumps(logs.CONFIG))
        makers = {"right": logs.right_log, "spelled": logs.spelled_log, "wrong": logs.wrong_log}
        for name, make in makers.items():
            for entry in entries:
                logs.write(place / name, entry["task_id"], *make(entry))
        for name in makers:
            made = Workbench().protocols([place / name], ProtocolOptions(config=place / "config.json"))
            tell(name, json.loads(made.json))


def tell(name: str, made: dict[str, Any]) -> None:
    print(f"{name} logs")
    for part in made["parts"]:
        if part["name"] in ("all", "kind: retrieve", "kind: navigate", "kind: unachievable", "kind: mutate"):
            print(
                f"  {part['name']}: {part['episodes']} episodes, {part['undecided']} undecided; "
                f"both pass {part['both_pass']}, only verified {part['only_verified']}, only old {part['only_old']}, "
                f"both fail {part['both_fail']}; FN {interval(part['missed'])}, FP {interval(part['credited'])}"
            )


def interval(share: dict[str, Any]) -> str:
    if share["value"] is None:
        return "–"
    return f"{100 * share['value']:.1f} % [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"


def hard() -> None:
    tasks = verified.load(verified.fetch(default_cache()))
    released = verified.load_subset(verified.fetch(default_cache()).with_name("webarena-verified-hard.json"))
    with (DATA / "agentoccam" / "WebArena-AgentOccam.csv").open(encoding="utf-8-sig") as file:
        solved = {int(row[0]): float(row[-1]) > 0.5 for row in list(csv.reader(file))[1:] if row[0].isdigit()}
    kept = [task for task in tasks if task.sites != ("map",)]
    several = [task for task in kept if len(task.sites) > 1]
    print(
        f"tasks {len(tasks)}, on the map alone {len(tasks) - len(kept)} (published 109), several sites {len(several)}"
    )
    for agents in (4, 5, 6, 7):
        least = min(k for k in range(agents + 2) if k > agents or classify(k, agents, TEXT) != "hard")
        other = min(k for k in range(agents + 2) if k > agents or classify(k, agents, APPENDIX) != "hard")
        print(f"  with {agents} agents a task is hard if fewer than {least} solve it (appendix: fewer than {other})")
    chosen = [task for task in kept if verified.number_of(task) in released]
    rate = Counter(solved.get(verified.number_of(task), False) for task in chosen)
    rest = Counter(solved.get(verified.number_of(task), False) for task in kept if task not in chosen)
    print(f"released Hard set: {len(chosen)} of {len(released)}, templates {len({task.template for task in chosen})}")
    print(
        f"  all tasks on several sites in it: {all(task in chosen for task in several)}; paper's set: {PUBLISHED_HARD}"
    )
    print(
        f"  AgentOccam, by three people: {rate[True]} of {rate.total()} in it, {rest[True]} of {rest.total()} outside"
    )
    failed = [task for task in kept if len(task.sites) == 1 and not solved.get(verified.number_of(task), False)]
    templates = {task.template for task in failed}
    print(
        f"  one outcome a task (the rule needs four): {len(failed)} single-site failures in {len(templates)} templates"
    )


def site(task: Task) -> str:
    return "cross" if task.id.partition(".")[2].startswith("5") else task.sites[0]


def chore_numbers() -> None:
    folder = DATA / "webchorearena"
    tasks = chores.load(folder / "test_webchore.raw.json")
    small = chores.small_set(tasks, (folder / chores.SMALL_IDS).read_text())
    published = json.loads((folder / "paper_tables.json").read_text())
    print("sites", dict(Counter(map(site, tasks))), "published", published["webchorearena_sites"])
    print("observation (Table A)", dict(Counter(task.tags[0] for task in tasks)), "published 451, 69, 12")
    types = list(dict.fromkeys(task.chore for task in tasks))
    print("types, both counted (Figure 2b)", {name: count(tasks, name) for name in types})
    print("Table E", {name: count(small, name) for name in types}, "published", published["tableE_n"])
    four = [task for task in tasks if site(task) != "cross"]
    print("Table G, massive memory on four sites", count(four, "massive_memory"), "published", published["tableG_n"])
    print("Table H, calculation", count(tasks, "calculation"), "published", published["tableH_n"])
    reached = Counter(site(task) for task in tasks if task.checkpoints)
    print("Table B, tasks with a checkpoint", dict(reached), "published", published["tableB_n"])
    for name in ("table1", "table2"):
        for agent, row in published[name].items():
            passed, n = sum(row["successes"]), sum(row["n"])
            found = stats.wilson(passed, n)
            shown = f"{100 * (found.value or 0):.1f} % [{100 * (found.low or 0):.1f}, {100 * (found.high or 0):.1f}]"
            print(f"{name} {agent}: {passed} of {n} = {shown}, published {row['overall_published']}")


def count(tasks: Any, name: str | None) -> int:
    return sum(f"chore:{name}" in task.tags for task in tasks)


def main() -> None:
    what = {"protocols": protocols, "hard": hard, "chores": chore_numbers}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=what)
    what[parser.parse_args().what]()


if __name__ == "__main__":
    main()
