"""Does a start page alone hold all the evidence that a task asks for? Then a lucky guess, or a refusal without a look,
would pass.

    python scripts/scan_start_pages.py [--worlds 10] [--instances 5] [--seeds-from TEXT] [--cache FOLDER] [template …]

Needs no browser: the start page and its pictures are fetched as a browser would, with the task's log-in, and the
site's own record of that is held against the evidence of every drawn task that is answered in words. Templates
with too few instances in a world are listed too.
"""

import argparse
import asyncio
import http.client
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.check_arena import commit, seeds_of

from webassay.benchmarks.base import Selection
from webassay.compose.registries import TEMPLATES
from webassay.compose.setup import Setup
from webassay.compose.tasks import select, sites
from webassay.core.errors import TaskError
from webassay.core.served import ServedRecord
from webassay.core.task import EvidenceCheck, Task
from webassay.core.trajectory import MemoryBlobs, ServedResult
from webassay.environments.arena import Arena, ArenaStage
from webassay.grading.rules.seen import check_evidence

PICTURE = re.compile(r'<img[^>]*?\ssrc="([^"]+)"')
IN_WORDS = ("retrieve", "unachievable")


def fetched(stage: ArenaStage, url: str) -> str:
    """The hosts of worlds are names that only a browser resolves."""
    place = urlsplit(url)
    cookies = "; ".join(f"{one.name}={one.value}" for one in stage.cookies if one.host == place.hostname)
    connection = http.client.HTTPConnection("127.0.0.1", place.port or 80, timeout=60)
    path = place.path + (f"?{place.query}" if place.query else "")
    connection.request("GET", path or "/", headers={"Host": place.netloc, "Cookie": cookies, "Accept": "text/html,*/*"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if location := answer.getheader("location"):
        return fetched(stage, urljoin(url, location))
    if answer.status != 200:
        raise SystemExit(f"{url} answered {answer.status}.")
    return body.decode("utf-8", "replace")


def look(stage: ArenaStage, start_urls: Sequence[str]) -> None:
    for start in start_urls:
        site, path = re.fullmatch(r"__(\w+)__(.*)", start, re.DOTALL).groups()  # type: ignore[union-attr]
        url = stage.bases[site.lower()] + (path or "/")
        for picture in PICTURE.findall(fetched(stage, url)):
            if not picture.startswith("data:"):
                fetched(stage, urljoin(url, picture.replace("&amp;", "&")))


async def records(arena: Arena, task: Task) -> dict[str, ServedRecord]:
    blobs = MemoryBlobs()
    async with arena.stage(task) as stage:
        await asyncio.to_thread(look, stage, task.goal.start_urls)
        probed = await stage.probe(stage.cookies, blobs)
    return {one.site: ServedRecord.unpack(blobs.read(one.blob)) for one in probed if isinstance(one, ServedResult)}


def evidence_of(task: Task) -> list[EvidenceCheck]:
    return [check for check in task.checks if isinstance(check, EvidenceCheck)]


async def scan(tasks: Sequence[Task], cache: Path | None) -> list[str]:
    kept: dict[object, dict[str, ServedRecord]] = {}
    given = []
    async with Arena(sites(), cache=cache) as arena:
        for task in tasks:
            same = (task.sites, task.world_seed, tuple(sorted(task.logins.items())), task.goal.start_urls)
            if same not in kept:
                kept[same] = await records(arena, task)
            if all(finding.status == "pass" for finding in check_evidence(evidence_of(task), kept[same])):
                given.append(task.id)
    return given


def drawn(given: argparse.Namespace, setup: Setup) -> Iterator[tuple[int, Sequence[Task], list[str]]]:
    """For each world: its seed, what can be drawn, and what cannot."""
    for seed in seeds_of(given.seeds_from or commit(), given.worlds):
        tasks: list[Task] = []
        problems = []
        for name in given.template or sorted(TEMPLATES.names()):
            chosen = Selection(templates=(name,), instances=given.instances, world_seed=seed, seed=seed)
            try:
                tasks += select(chosen, setup).tasks
            except TaskError as error:
                problems.append(str(error))
        yield seed, tasks, problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("template", nargs="*", help="Only these templates; default: all.")
    parser.add_argument("--worlds", type=int, default=10)
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--seeds-from", default="", help="A text to take the seeds from; default: the commit's hash.")
    parser.add_argument("--cache", type=Path, default=None, help="Where built worlds are kept.")
    given = parser.parse_args()
    setup = Setup(cache=given.cache) if given.cache else Setup()
    kinds: Counter[str] = Counter()
    gifts: list[str] = []
    missing = 0
    for seed, tasks, problems in drawn(given, setup):
        started = time.monotonic()
        asked = [task for task in tasks if task.kind in IN_WORDS]
        bare = [task.id for task in asked if not evidence_of(task)]
        found = asyncio.run(scan([task for task in asked if evidence_of(task)], setup.cache))
        kinds.update(task.kind for task in asked)
        gifts += found + bare
        seconds = time.monotonic() - started
        print(
            f"World {seed}: {len(asked)} tasks, {len(found)} given away, {len(bare)} without evidence, {seconds:.0f} s"
        )
        missing += len(problems)
        for said in (*found, *bare, *problems):
            print(f"  {said}", flush=True)
    print(
        f"{sum(kinds.values())} tasks ({dict(kinds)}), {len(gifts)} given away, {missing} templates short of instances."
    )
    sys.exit(bool(gifts or missing))


if __name__ == "__main__":
    main()
