"""How often the intervals hold the truth, and what a big report costs. `python scripts/bench_statistics.py`

Coverage: templates have success rates drawn from a beta distribution with a given mean and intra-template correlation;
tasks are drawn from their template's rate. An interval is right when it holds the mean of that distribution. What
reports show (Wilson's interval for clustered data) stands beside the published t-interval and the cluster bootstrap,
which all look at templates, and beside Wilson's over tasks, which takes them for independent.
"""

import argparse
import asyncio
import math
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from webassay.analysis.benchmark.subset import TEXT, select
from webassay.analysis.numbers import stats
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.results import report_text as render
from webassay.analysis.results.page import to_html
from webassay.analysis.results.report import summarize
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.interaction import Action

Drawn = np.ndarray
"""Success rate of each template, and how many tasks passed."""


def draw(random: np.random.Generator, templates: int, tasks: int, rate: float, correlation: float) -> tuple[Drawn, int]:
    spread = (1 - correlation) / correlation
    chances = random.beta(rate * spread, (1 - rate) * spread, templates)
    passed = random.binomial(tasks, chances)
    return passed / tasks, int(passed.sum())


METHODS: dict[str, Callable[[Drawn, int, int], stats.Estimate]] = {
    "Wilson for clusters": lambda rates, passed, n: stats.mean_share(rates, n),
    "t over templates": lambda rates, passed, n: stats.t_interval(rates),
    "cluster bootstrap": lambda rates, passed, n: stats.bootstrap_mean(rates, repeats=400),
    "Wilson over tasks": lambda rates, passed, n: stats.wilson(passed, n),
}


def coverage(
    method: str,
    templates: int,
    rate: float,
    *,
    tasks: int = 4,
    correlation: float = 0.3,
    repeats: int = 1000,
    seed: int = 0,
) -> float:
    return measured(method, templates, rate, tasks=tasks, correlation=correlation, repeats=repeats, seed=seed)[0]


def measured(
    method: str, templates: int, rate: float, *, tasks: int, correlation: float, repeats: int, seed: int = 0
) -> tuple[float, float]:
    """Share of intervals that hold the truth, and how wide they are on average."""
    random = np.random.default_rng(seed)
    right, width = 0, 0.0
    for _ in range(repeats):
        rates, passed = draw(random, templates, tasks, rate, correlation)
        found = METHODS[method](rates, passed, templates * tasks)
        if found.low is not None and found.high is not None:
            right += found.low <= rate <= found.high
            width += found.high - found.low
    return right / repeats, width / repeats


Paired = tuple[float, float, float]


def paired_coverage(
    templates: int, difference: float, *, rate: float = 0.5, tasks: int = 4, repeats: int = 1000, seed: int = 0
) -> Paired:
    """Share of intervals that hold the difference; the same for the published t-interval; and share that exclude 0
    (power, or false alarms where it is 0). `rate` is the mean success of the weaker agent, before it is scaled."""
    random = np.random.default_rng(seed)
    right = before = seen = 0
    for _ in range(repeats):
        shared = random.beta(2 * rate, 2 * (1 - rate), templates) * (1 - abs(difference))
        better, base = shared + max(difference, 0.0), shared + max(-difference, 0.0)
        test, reference = random.binomial(tasks, better) / tasks, random.binomial(tasks, base) / tasks
        sides = dict(enumerate(test)), dict(enumerate(reference))
        found, old = stats.paired_difference(*sides, templates * tasks).estimate, stats.t_interval(test - reference)
        right += _holds(found, difference)
        before += _holds(old, difference)
        seen += not _holds(found, 0.0)
    return right / repeats, before / repeats, seen / repeats


def _holds(found: stats.Estimate, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def coverage_table(templates: Iterable[int], rates: Iterable[float], repeats: int) -> Iterable[str]:
    margin = 1.96 * math.sqrt(0.95 * 0.05 / repeats)
    rates = list(rates)
    yield f"Nominal 95 %; {repeats} draws, so ± {100 * margin:.1f}. 4 tasks per template, correlation 0.3."
    yield "In each cell: share that holds the truth, and mean width in points."
    yield "| method | templates | " + " | ".join(f"rate {rate:.0%}" for rate in rates) + " |"
    yield "|---|---|" + "---|" * len(rates)
    for method in METHODS:
        for count in templates:
            found = [measured(method, count, rate, tasks=4, correlation=0.3, repeats=repeats) for rate in rates]
            cells = [f"{100 * right:.1f} ({100 * width:.0f})" if width or right else "–" for right, width in found]
            yield f"| {method} | {count} | " + " | ".join(cells) + " |"


def agents_of_known_ability(seed: int, agents: int = 8, step: float = 0.8, templates: int = 190) -> list[ResultRow]:
    """The logit of success is ability less difficulty, and agents stand one step apart."""
    random = np.random.default_rng(seed)
    sites = ("shopping", "shopping_admin", "reddit", "gitlab", "map")
    rows = []
    for template in range(templates):
        middle = random.normal(0, 1.2)
        where = ("gitlab", "reddit") if template % 17 == 0 else (sites[template % 5],)
        for instance in range(int(random.choice([2, 3, 4, 5, 5, 5, 6]))):
            difficulty = middle + random.normal(0, 0.4)
            for agent in range(agents):
                chance = 1 / (1 + math.exp(difficulty - step * (agent - (agents - 1) / 2)))
                rows.append(
                    ResultRow(
                        agent=f"agent-{agent}",
                        task_id=f"{template}.{instance}",
                        template=str(template),
                        sites=where,
                        status="pass" if random.random() < chance else "fail",
                    )
                )
    return rows


def subset_table(seeds: int) -> Iterable[str]:
    yield "| agents | step | mean tau-b | least | seeds with 0.9 or more |"
    yield "|---|---|---|---|---|"
    for step in (0.4, 0.6, 0.8):
        for agents in (6, 8):
            found = []
            for seed in range(seeds):
                rows = agents_of_known_ability(seed, agents, step)
                size = len({row.task_id for row in rows}) // 5
                found.append(select(rows, TEXT.model_copy(update={"size": size, "seed": seed})).ranking.value or 0.0)
            enough = sum(tau >= 0.9 for tau in found)
            yield f"| {agents} | {step} | {np.mean(found):.3f} | {min(found):.3f} | {enough} of {seeds} |"


def big_report(agents: int = 8, tasks: int = 500, seed: int = 0) -> list[ResultRow]:
    random = np.random.default_rng(seed)
    templates = tasks // 4
    difficulty = random.normal(0, 1, templates)
    rows = []
    for agent in range(agents):
        for task in range(tasks):
            template = task % templates
            chance = 1 / (1 + math.exp(difficulty[template] - 1.2 + 0.3 * agent))
            fate = random.random()
            status = (
                "fault"
                if fate < 0.01
                else "missing"
                if fate < 0.015
                else "pass"
                if random.random() < chance
                else "fail"
            )
            steps = int(random.integers(1, 30))
            rows.append(
                ResultRow(
                    agent=f"agent-{agent}",
                    task_id=f"task-{task}",
                    status=status,
                    benchmark="simulated",
                    template=f"template-{template}",
                    kind=("retrieve", "mutate", "navigate", "unachievable")[task % 4],
                    sites=(("shop", "forum", "wiki", "hosting", "shop_admin")[template % 5],),
                    groups={
                        "chore": (("massive_memory", "calculation", "long_term_memory", "others")[task % 4],),
                        "difficulty": (("easy", "medium", "hard")[task % 3],),
                    },
                    modality="tree",
                    claimed="SUCCESS" if fate < 0.8 else "NOT_FOUND_ERROR",
                    ending="answered",
                    steps=steps,
                    seconds=1.5 * steps,
                    cost_usd=0.01 * steps * (agents - agent),
                    actions={"click": steps // 2, "fill": steps // 4},
                    findings=(("response.results", "mismatch"),) if status == "fail" else (),
                    answered=True,
                    checkpoint_reach=float(random.random()),
                    fingerprint="rules 0.1.0 0123456789ab",
                    key_hash=f"k{task}",
                )
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    for line in coverage_table((1, 2, 3, 5, 10, 20, 50, 100, 200), (0.02, 0.1, 0.3, 0.5, 0.9), repeats):
        print(line, flush=True)
    print("\n| rate | templates | true difference | interval holds it | published | excludes 0 |")
    print("|---|---|---|---|---|---|")
    for rate in (0.05, 0.5):
        for templates in (2, 3, 5, 10, 20, 50, 200):
            for difference in (0.0, 0.03, 0.1):
                cells = [
                    f"{100 * share:.1f} %"
                    for share in paired_coverage(templates, difference, rate=rate, repeats=repeats)
                ]
                print(f"| {rate:.0%} | {templates} | {100 * difference:.0f} points | {' | '.join(cells)} |", flush=True)
    print("\nA fifth of the tasks, ranking against all of them:")
    for line in subset_table(12):
        print(line, flush=True)
    rows = big_report()
    started = time.perf_counter()
    report = summarize(rows, title="8 agents, 500 tasks")
    made = time.perf_counter()
    page = to_html(report)
    paged = time.perf_counter()
    print(f"\n8 agents x 500 tasks: computed in {made - started:.2f} s, drawn in {paged - made:.2f} s")
    print(f"page of {len(page.encode()) / 1e6:.2f} MB, JSON of {len(render.to_json(report)) / 1e6:.2f} MB")
    seconds = asyncio.run(opened(page))
    print(
        f"opened in Chromium, settled and with a screenshot taken, in {statistics.median(seconds):.2f} s (median of 5)"
    )


async def opened(page: str) -> list[float]:
    """Seconds from asking for the page to having seen it, each time in a session of its own."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "report.html").write_text(page, encoding="utf-8")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://report.localhost:{server.server_port}/report.html"
        async with Browser(find_chromium()) as browser:
            for _ in range(5):
                async with browser.session(allowed_hosts={f"report.localhost:{server.server_port}"}) as session:
                    await session.open(["about:blank"])
                    started = time.perf_counter()
                    await session.act(Action.of("goto", url))
                    await session.observe(("screenshot",))
                    found.append(time.perf_counter() - started)
        server.shutdown()
    return found


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    main()
