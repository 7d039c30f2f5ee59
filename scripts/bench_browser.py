"""webassay's browser against BrowserGym's: the same pages, step by step in turn, in one run.

    python scripts/bench_browser.py [--steps 30] [--only steps,settle,memory,parallel] [--pages list-12,form]

Every engine lives in a process of its own, so that wall time, processor time (of the whole process tree, Chromium
included) and memory are counted alike. A step is an action and the observation after it: tree with computed names,
boxes, visibility, screenshot. BrowserGym runs twice: as it comes, and with its sleeps taken out ("fast").

All of them start the same Chromium; WEBASSAY_CHROMIUM chooses another one, as it does everywhere.

BrowserGym wants versions of its own, so it gets an environment of its own, made on the first run below
.venv-browsergym; without network access it is left out, and the table says so.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.peers import peer_python  # noqa: E402
from tests.browser.server import Handler, serving  # noqa: E402
from tests.support.process_tree import cpu_seconds, megabytes, pids  # noqa: E402

from webassay.browser.devtools.chromium import find_chromium, launch_flags  # noqa: E402
from webassay.browser.session import Browser  # noqa: E402
from webassay.core.interaction import Action, parse_actions  # noqa: E402

BROWSERGYM = "browsergym-core==0.14.3"


def chromium() -> Path:
    """The same for all engines."""
    return find_chromium(os.environ.get("WEBASSAY_CHROMIUM"))


# --- pages --------------------------------------------------------------------------------------------------


def card(n: int) -> str:
    return (
        f'<li class="card"><a href="#p{n}"><img src="/api/pixel" alt="Article {n}" width="80" height="80"></a>'
        f'<h2><a href="#p{n}">Article number {n} with a longer name</a></h2><p class="price">&euro; {n}.90</p>'
        f"<p>Some words about <b>article {n}</b>, which is <em>new</em>.</p>"
        f'<label>Quantity <input type="number" value="1" min="1"></label>'
        f'<button class="add">Add article {n} to the cart</button> <a href="#w{n}">Wish list</a></li>'
    )


def listing(count: int) -> str:
    cards = "".join(card(n) for n in range(count))
    return f"<h1>{count} articles</h1><ul class='cards'>{cards}</ul>"


def grid() -> str:
    rows = "".join(
        f"<tr><td><input type='checkbox' aria-label='Choose {n}'></td><td>{1000 + n}</td><td>Customer {n}</td>"
        f"<td>2023-02-{n % 28 + 1:02}</td><td>&euro; {n}.00</td><td><a href='#o{n}'>View</a></td></tr>"
        for n in range(200)
    )
    head = "".join(f"<th>{name}</th>" for name in ("", "Order", "Customer", "Date", "Total", "Action"))
    return f"<h1>Orders</h1><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def form() -> str:
    fields = "".join(f"<p><label>Field {n} <input name='f{n}'></label></p>" for n in range(15))
    choices = "".join(f"<label><input type='radio' name='r'> Choice {n}</label>" for n in range(6))
    options = "".join(f"<option>Country {n}</option>" for n in range(60))
    return f"<h1>Form</h1><form>{fields}{choices}<label>Country <select>{options}</select></label></form>"


STYLE = (
    "body{font-family:sans-serif}.cards{display:grid;grid-template-columns:repeat(4,1fr);gap:8px;list-style:none}"
    ".card{border:1px solid #ccc;padding:8px}td,th{border:1px solid #ccc;padding:4px}"
)
TOOLS = (
    "<form onsubmit='return false'><label>Search for <input id='q' type='search'></label>"
    "<button type='button' id='count'>Count up</button> <output id='n'>0</output></form>"
    "<script>count.onclick=()=>{n.value++};q.oninput=()=>{n.value=q.value.length}</script>"
)
PAGES = {
    "list-12": lambda: listing(12),
    "list-48": lambda: listing(48),
    "list-200": lambda: listing(200),
    "form": form,
    "grid-200": grid,
}


class BenchHandler(Handler):
    def do_GET(self) -> None:
        name = self.path.removeprefix("/bench/")
        if name in PAGES:
            body = PAGES[name]()
            page = f"<!doctype html><html lang='en'><title>{name}</title><style>{STYLE}</style>{TOOLS}{body}</html>"
            self._send(page.encode(), "text/html; charset=utf-8")
        else:
            super().do_GET()


# --- engines ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float


class Engine:
    """A process that speaks the little protocol, and what it and all its children have used."""

    def __init__(self, name: str, command: Sequence[str], environment: dict[str, str]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )

    def ask(self, **question: Any) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} died; its messages are above.")
        return dict(json.loads(line))

    def step(self, action: str) -> Cost:
        cpu, wall = cpu_seconds(self._process.pid), time.perf_counter()
        answer = self.ask(do="step", action=action)
        cost = Cost(time.perf_counter() - wall, cpu_seconds(self._process.pid) - cpu)
        if answer["error"]:
            print(f"  {self.name}: {action}: {answer['error'].splitlines()[0]:.160}")
        return cost

    def memory(self) -> tuple[float, int]:
        return megabytes(self._process.pid), len(pids(self._process.pid))

    def close(self) -> None:
        if self._process.poll() is None and self._process.stdin is not None:
            self._process.stdin.close()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()


async def ours() -> None:
    """The other end of the protocol, for webassay."""
    loop = asyncio.get_running_loop()
    async with Browser(chromium()) as browser:
        seen = None
        async with AsyncExitStack() as stack:
            session = await stack.enter_async_context(browser.session(allowed_hosts={"*"}))
            while line := await loop.run_in_executor(None, sys.stdin.readline):
                ask = json.loads(line)
                answer: dict[str, Any] = {}
                match ask["do"]:
                    case "start":
                        await session.open([ask["url"]])
                        seen = await session.observe(("tree", "boxes", "screenshot"))
                    case "more":
                        another = await stack.enter_async_context(browser.session(allowed_hosts={"*"}))
                        await another.open([ask["url"]])
                        await another.observe(("tree", "boxes", "screenshot"))
                    case "find":
                        assert seen is not None
                        node = seen.find(ask["role"], ask["name"])
                        answer = {"id": node.id if node else ""}
                    case "step":
                        error = ""
                        for action in parse_actions(ask["action"]):
                            error = (await session.act(action)).error
                        seen = await session.observe(("tree", "boxes", "screenshot"))
                        answer = {"error": error, "nodes": len(seen.nodes)}
                    case "shows":
                        assert seen is not None
                        answer = {"shows": any(ask["text"] in node.name for node in seen.nodes)}
                print(json.dumps(answer), flush=True)


@contextmanager
def engines(names: Sequence[str]) -> Iterator[dict[str, Engine]]:
    with ExitStack() as stack:
        started: dict[str, Engine] = {}
        python = peer_python("browsergym", BROWSERGYM) if set(names) - {"webassay"} else None
        for name in names:
            if name == "webassay":
                command = [sys.executable, str(Path(__file__)), "--worker"]
                engine = Engine(name, command, {})
            elif python is not None:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                mode = "fast" if name.endswith("fast") else "default"
                command = [str(python), str(ROOT / "scripts" / "bench_browsergym.py"), mode]
                engine = Engine(name, command, {"PLAYWRIGHT_BROWSERS_PATH": str(disguise(folder))})
            else:
                continue
            stack.callback(engine.close)
            started[name] = engine
        yield started


def disguise(folder: Path) -> Path:
    """BrowserGym's Playwright looks for its own build; this puts the Chromium of this machine in that place."""
    program = folder / "chromium-1117" / "chrome-linux" / "chrome"
    program.parent.mkdir(parents=True)
    sandbox = " ".join(flag for flag in launch_flags() if flag in ("--no-sandbox", "--disable-dev-shm-usage"))
    program.write_text(f'#!/bin/sh\nexec "{chromium()}" {sandbox} "$@"\n')
    program.chmod(0o755)
    return folder


# --- what is measured ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    page: str
    url: str
    button: tuple[str, str]
    field: tuple[str, str]


def median(costs: Sequence[Cost]) -> tuple[float, float]:
    return statistics.median(c.wall for c in costs) * 1000, statistics.median(c.cpu for c in costs) * 1000


def measure_steps(jobs: Sequence[Job], steps: int, names: Sequence[str]) -> None:
    print(f"\nA step, medians of {steps}: wall ms [CPU ms of the process tree]")
    head = ("page", "action", *names, "CPU: fast/ours", "wall: default/ours")
    print(" | ".join(head), "|".join("---" for _ in head), sep="\n", flush=True)
    with engines(names) as running:
        for engine in running.values():
            engine.ask(do="start", url=jobs[0].url)
        for job in jobs:
            ids: dict[str, tuple[str, str]] = {}
            for name, engine in running.items():
                engine.step(f"goto({job.url!r})")
                found = [engine.ask(do="find", role=role, name=text)["id"] for role, text in (job.button, job.field)]
                ids[name] = (found[0], found[1])
            for kind in ("noop", "click", "fill"):
                costs: dict[str, list[Cost]] = {name: [] for name in running}
                for n in range(steps + 2):
                    for name, engine in running.items():
                        action = {
                            "noop": "noop(0)",
                            "click": f"click({ids[name][0]!r})",
                            "fill": f"fill({ids[name][1]!r}, 'text {n}')",
                        }[kind]
                        cost = engine.step(action)
                        # The first two warm up caches of all of them.
                        if n >= 2:
                            costs[name].append(cost)
                print_row(job.page, kind, names, {name: median(costs[name]) for name in running})


def print_row(page: str, kind: str, names: Sequence[str], found: dict[str, tuple[float, float]]) -> None:
    cells = [f"{found[name][0]:.0f} [{found[name][1]:.0f}]" if name in found else "–" for name in names]
    mine = found["webassay"]
    cpu = f"{found['BrowserGym fast'][1] / mine[1]:.1f}" if "BrowserGym fast" in found and mine[1] else "–"
    wall = f"{found['BrowserGym'][0] / mine[0]:.1f}" if "BrowserGym" in found else "–"
    print(" | ".join((page, kind, *cells, cpu, wall)), flush=True)


SETTLE = {
    "300 ms debounced autocomplete": ("autocomplete.html", ("combobox", "Town"), "fill({id!r}, 'ber')", "Berlin"),
    "chained fetch": ("fetches.html", ("button", "Chain"), "click({id!r})", "chain abc"),
    "late-hydrating list": ("quiet.html", None, "goto({base!r} + 'hydrate.html')", "Item 9"),
    "400 ms animation": ("animation.html", ("button", "Slide"), "click({id!r})", "arrived"),
    "spinner that polls for ever": ("poller.html", ("button", "Start"), "click({id!r})", "done"),
    "quiet page": ("quiet.html", ("button", "Count"), "click({id!r})", "1"),
}


def measure_settling(base: str, rounds: int, names: Sequence[str]) -> None:
    print(f"\nSettling: observations that contain what was still to come, of {rounds} rounds (median ms of the step)")
    print(" | ".join(("case", *names)), "|".join("---" for _ in ("case", *names)), sep="\n", flush=True)
    with engines(names) as running:
        for engine in running.values():
            engine.ask(do="start", url=base + "quiet.html")
        for case, (page, target, template, text) in SETTLE.items():
            seen = dict.fromkeys(running, 0)
            costs: dict[str, list[float]] = {name: [] for name in running}
            for _ in range(rounds):
                for name, engine in running.items():
                    engine.step(f"goto({base + page!r})")
                    found = engine.ask(do="find", role=target[0], name=target[1])["id"] if target else ""
                    action = template.format(id=found, base=base).replace("' + '", "")
                    costs[name].append(engine.step(action).wall)
                    seen[name] += engine.ask(do="shows", text=text)["shows"]
            cells = [
                f"{seen[name]} of {rounds} ({statistics.median(costs[name]) * 1000:.0f})" if name in running else "–"
                for name in names
            ]
            print(" | ".join((case, *cells)), flush=True)


def measure_memory(url: str) -> None:
    print("\nMemory per environment with a page open (proportional share, whole process tree)")
    found: dict[str, list[float]] = {}
    for name in ("webassay", "BrowserGym"):
        with engines([name]) as running:
            for engine in running.values():
                engine.ask(do="start", url=url)
                engine.step("noop(0)")
                one, processes = engine.memory()
                for _ in range(3):
                    engine.ask(do="more", url=url)
                four, more = engine.memory()
                found[name] = [one, four / 4, (four - one) / 3]
                print(
                    f"{name}: one {one:.0f} MB ({processes} processes); of four, each {four / 4:.0f} MB ({more}); "
                    f"one more {(four - one) / 3:.0f} MB",
                    flush=True,
                )
    if len(found) == 2:
        ratios = [ours / theirs for ours, theirs in zip(*found.values(), strict=True)]
        print("webassay's part of BrowserGym's: " + ", ".join(f"{ratio:.2f}" for ratio in ratios))


async def measure_parallel(url: str, seconds: float) -> None:
    print("\nParallel sessions in one browser: click and observe, list of 48")
    async with Browser(chromium()) as browser:
        for count in (1, 2, 4, 8):
            done = 0
            until = 0.0

            async def play(ready: asyncio.Barrier) -> None:
                nonlocal done, until
                async with browser.session(allowed_hosts={"*"}) as session:
                    await session.open([url])
                    node = (await session.observe(("tree",))).find("button", "Count up")
                    assert node is not None
                    await ready.wait()
                    until = until or time.monotonic() + seconds
                    while time.monotonic() < until:
                        await session.act(Action.of("click", node.id))
                        await session.observe(("tree", "boxes", "screenshot"))
                        done += 1

            barrier = asyncio.Barrier(count)
            await asyncio.gather(*(play(barrier) for _ in range(count)))
            print(f"{count} sessions: {done / seconds:.1f} steps per second", flush=True)


SHOP_PAGES = {"shop home": "/", "shop category": "/c/kitchen-dining", "shop search": "/search?q=steel"}


async def bench(options: argparse.Namespace) -> None:
    # Not for the workers, whose memory is measured.
    from webassay.compose.tasks import sites
    from webassay.environments.arena import Arena

    parts, names = set(options.only.split(",")), options.engines.split(",")
    with serving(BenchHandler) as port:
        base = f"http://pages.localhost:{port}/"
        tools = (("button", "Count up"), ("searchbox", "Search for"))
        jobs = [Job(name, f"{base}bench/{name}", *tools) for name in PAGES]
        async with Arena(sites()) as arena, arena.hold(["shop"], 0) as stage:
            shop_tools = (("button", "Show cart summary"), ("textbox", "Email address for the newsletter"))
            jobs += [Job(name, stage.bases["shop"] + path, *shop_tools) for name, path in SHOP_PAGES.items()]
            chosen = [job for job in jobs if not options.pages or job.page in options.pages.split(",")]
            print(f"{os.cpu_count()} cores, {chromium()}, Python {sys.version.split()[0]}")
            if "steps" in parts:
                await asyncio.to_thread(measure_steps, chosen, options.steps, names)
            if "settle" in parts:
                await asyncio.to_thread(measure_settling, base, options.rounds, names)
            if "memory" in parts:
                await asyncio.to_thread(measure_memory, jobs[0].url)
            if "parallel" in parts:
                await measure_parallel(f"{base}bench/list-48", 8.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--only", default="steps,settle,memory,parallel")
    parser.add_argument("--pages", default="", help="some of the pages, by name, with commas")
    parser.add_argument("--engines", default="webassay,BrowserGym fast,BrowserGym")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        asyncio.run(ours())
        return
    asyncio.run(bench(options))


if __name__ == "__main__":
    main()
