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
from pathlib import Path

from scripts.armour.report import Report
from scripts.peers import peer_python

from webassay import PlayOptions, Selection, Workbench, run_sync
from webassay.agents.cell import why_not
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
    templates = len(bench.tasks(Selection(instances=1)))
    instances = max(1, round(wanted / len(agents) / templates))
    with tempfile.TemporaryDirectory(prefix="webassay-honest-") as folder:
        run_path = Path(os.environ.get("WEBASSAY_KEEP", folder)) / "run"
        options = PlayOptions(workers=2, trust_agent=bool(why_not()))
        limit = max(1, wanted // len(agents))
        run_sync(bench.run(run_path, agents, Selection(instances=instances, limit=limit), options))
        played, asked, accused = counted(run_path)
    report.say(
        f"episodes: {', '.join(f'{agent} {count}' for agent, count in played.items())}; together {played.total()}"
    )
    report.say(f"answers of the sites, by who asked: {json.dumps(asked)}")
    report.must("honest episodes called a cheat", len(accused), 0, accused)


def counted(run: Path) -> tuple[Counter[str], Counter[str], list[str]]:
    played: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    accused: list[str] = []
    with Store.open(run) as store:
        for unit, trajectory in store.trajectories():
            played[unit.agent] += 1
            for probe in trajectory.probed(ServedResult):
                record = ServedRecord.unpack(store.blobs.read(probe.blob))
                asked.update(one.by or "unknown" for one in record.served)
            verdict = store.verdict(trajectory.id)
            found = verdict.findings if verdict is not None else ()
            accused += [f"{unit.id}: {finding.message}" for finding in found if finding.code in CODES]
    return played, asked, accused
