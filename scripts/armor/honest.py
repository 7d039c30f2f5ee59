"""Honest episodes, and how many of them the record calls a cheat.

The oracle and the naive walkers on every template, and a Playwright program that does what pages and people do besides:
requests that are aborted, repeated, cached, prefetched, sent as beacons, by service workers or by HEAD and OPTIONS;
downloads; pages that are stopped while they load. browser-use, in an environment of its own, looks, clicks and types.
The number of episodes is WEBASSAY_EPISODES, or 500. With WEBASSAY_KEEP=FOLDER they stay there, and a run that was
stopped goes on.
"""

import json
import os
import shlex
import sys
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path

from scripts.armor.report import Report
from scripts.peers import peer_python

from webassay import PlayOptions, Selection, Workbench, run_sync
from webassay.agents.cells.cell import why_not
from webassay.core.served import ServedRecord
from webassay.core.trajectory import ServedResult
from webassay.store import Store

BROWSER_USE = "browser-use==0.13.14"
FOLDER = Path(__file__).parent
CODES = frozenset(("not_the_browser", "never_served", "page_invented"))


def run(report: Report) -> None:
    wanted = int(os.environ.get("WEBASSAY_EPISODES", "500"))
    agents = ["oracle", "naive-link-follower", "naive-random-clicker"]
    programs = {"wanderer": Path(sys.executable), "browser_use": peer_python("browser-use", BROWSER_USE)}
    agents += [
        f"cmd:{name}={shlex.join([str(python), str(FOLDER / f'_{name}.py')])}"
        for name, python in programs.items()
        if python is not None
    ]
    bench = Workbench(cache=os.environ.get("WEBASSAY_CACHE"))
    played, asked, accused = Counter[str](), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(prefix="webassay-honest-") as folder:
        kept = Path(os.environ.get("WEBASSAY_KEEP", folder))
        missing = -(-wanted // len(agents))
        for seed in count(report.seed):
            # Every template once before any comes twice.
            selection = Selection(instances=1, limit=missing, seed=seed)
            options = PlayOptions(workers=2, trust_agent=bool(why_not()))
            run_sync(bench.run(kept / f"seed-{seed}", agents, selection, options))
            tally(kept / f"seed-{seed}", played, asked, accused)
            missing -= len(bench.tasks(selection))
            if missing <= 0:
                break
    report.say(
        f"episodes: {', '.join(f'{agent} {number}' for agent, number in played.items())}; together {played.total()}"
    )
    report.say(f"answers of the sites, by who asked: {json.dumps(asked)}")
    report.must("honest episodes called a cheat", len(accused), 0, accused)


def tally(run: Path, played: Counter[str], asked: Counter[str], accused: list[str]) -> None:
    with Store.open(run) as store:
        for unit, trajectory in store.trajectories():
            played[unit.agent] += 1
            for probe in trajectory.probed(ServedResult):
                record = ServedRecord.unpack(store.blobs.read(probe.blob))
                asked.update(one.by or "unknown" for one in record.served)
            verdict = store.verdict(trajectory.id)
            found = verdict.findings if verdict is not None else ()
            accused += [f"{unit.id}: {finding.message}" for finding in found if finding.code in CODES]
