"""Side by side with the published grader, in one run: verdicts, throughput, a large log, hard inputs.

    python -m scripts.bench_grading [--reference-python PATH] [--quick]

The published grader lives in an environment of its own, made in the user's cache on first use.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import verified_logs as logs

from webassay.benchmarks import verified
from webassay.compare import KINDS, compare
from webassay.grading.grade import Policy
from webassay.grading.logs import LogLayout, grade_log, grade_logs
from webassay.grading.reference import differences, reference_python, reference_verdicts

LAYOUT = LogLayout(bases={site: (url,) for site, url in logs.HOSTS.items()}, ports=verified.PORTS)
EXAMPLES = Path(__file__).parents[2] / "shared" / "data" / "webarena-verified" / "agent_logs" / "demo"
LARGE = 200_000_000
MANY = 400


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


# --- verdicts ---------------------------------------------------------------------------------------------


def cheat(make: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda entry: (logs.response(entry, make(entry), status="SUCCESS"), logs.wrong_trace(entry))


def items(entry: dict[str, Any], value: Any) -> list[Any]:
    return [value] * max(1, len(logs.response_of(entry)["expected"].get("retrieved_data") or ()))


SETS: dict[str, tuple[bool, Callable[[dict[str, Any]], Any]]] = {
    "the right answer": (True, logs.right_log),
    "the right answer, spelled otherwise": (True, logs.spelled_log),
    "a wrong answer": (False, logs.wrong_log),
    "a pattern for everything": (False, cheat(lambda entry: items(entry, "^.*$"))),
    "any of many guesses": (
        False,
        cheat(lambda entry: [[one, "x", 0, 1] for one in logs.right_data(entry) or ["x"]]),
    ),
    "the right answer, no browser": (
        False,
        lambda entry: (logs.right_log(entry)[0], [logs.request("http://localhost:1/")]),
    ),
    "the right deed, then a DELETE": (
        False,
        lambda entry: (
            logs.right_log(entry)[0],
            [*logs.right_trace(entry), logs.request(logs.HOSTS[entry["sites"][0]] + "/x", "DELETE", 204)],
        ),
    ),
}


def verdicts(folder: Path, path: Path, python: Path) -> None:
    heading("Verdicts on all 812 tasks (passes)")
    entries = json.loads(path.read_text())
    tasks = {str(verified.number_of(task)): task for task in verified.load(path)}
    print(f"{'':40}{'ours':>8}{'theirs':>8}{'should be':>12}")
    for name, (honest, make) in SETS.items():
        place = folder / name.replace(" ", "-").replace(",", "")
        for entry in entries:
            logs.write(place, entry["task_id"], *make(entry))
        policy = Policy(collateral="enforce") if "DELETE" in name else Policy()
        ours = list(grade_logs(place, tasks, LAYOUT, policy, processes=os.cpu_count() or 1))
        theirs = list(reference_verdicts(place, range(812), LAYOUT, python))
        passed = sum(log.verdict.status == "pass" for log in ours)
        they = sum(verdict.status == "success" for verdict in theirs)
        print(f"{name:40}{passed:8}{they:8}{812 if honest else 0:12}", flush=True)
        if honest:
            for one in differences(ours, theirs):
                print(f"    {one.number:4} {one.kind}: ours {one.ours}, theirs {one.theirs} ({one.why_theirs[:110]})")
        shutil.rmtree(place)


# --- speed ------------------------------------------------------------------------------------------------


def throughput(folder: Path, path: Path, python: Path) -> None:
    heading("Throughput on the published example logs (0.8 MB each)")
    if not EXAMPLES.is_dir():
        print("skipped: the external data is missing")
        return
    tasks = {str(verified.number_of(task)): task for task in verified.load(path)}
    layout = LogLayout(bases={"shopping_admin": ("http://192.168.1.35:7780/admin",)}, ports=verified.PORTS)
    copies = 200
    for number in range(copies):
        shutil.copytree(EXAMPLES / "108", folder / "copies" / str(number))
    same = {str(number): tasks["108"] for number in range(copies)}
    theirs = list(reference_verdicts(EXAMPLES, [107, 108] * 20, layout, python))[4:]
    reference = sum(verdict.seconds for verdict in theirs) / len(theirs)
    print(f"theirs, one process:   {reference * 1000:8.2f} ms of CPU time per log")
    alone = min(seconds_alone(folder / "copies", same, layout) for _ in range(3)) / copies
    print(f"ours, one process:     {alone * 1000:8.2f} ms of CPU time per log: {reference / alone:5.1f} times as fast")
    processes = os.cpu_count() or 1
    started = time.perf_counter()
    done = list(grade_logs(folder / "copies", same, layout, processes=processes))
    each = (time.perf_counter() - started) / copies
    assert all(log.verdict.status == "pass" for log in done)
    # Several processes can only be timed wall time, which says little while others use the machine.
    load = os.getloadavg()[0]
    how = f"{each * 1000:8.2f} ms by the clock a log: {reference / each:5.1f} times as fast"
    print(f"ours, {processes} processes:     {how} (load {load:.1f})")
    shutil.rmtree(folder / "copies")


def seconds_alone(folder: Path, tasks: dict[str, Any], layout: LogLayout) -> float:
    started = time.process_time()
    list(grade_logs(folder, tasks, layout))
    return time.process_time() - started


def commands(folder: Path, python: Path) -> None:
    """The two command lines as people use them, from a cold start, on the same directory of logs."""
    heading(f"The two commands on a directory of {MANY} logs, each with the published example's network log")
    if not EXAMPLES.is_dir():
        print("skipped: the external data is missing")
        return
    runs, config = folder / "many", folder / "config.json"
    environments = {"__SHOPPING_ADMIN__": {"urls": ["http://192.168.1.35:7780/admin"]}}
    config.write_text(json.dumps({"environments": environments}))
    for number in range(MANY):
        (runs / str(number)).mkdir(parents=True)
        (runs / str(number) / "network.har").symlink_to(EXAMPLES / "108" / "network.har")
        shutil.copyfile(EXAMPLES / "108" / "agent_response.json", runs / str(number) / "agent_response.json")
    own = [str(Path(sys.executable).parent / "webassay"), "grade", str(runs), "--benchmark", "webarena-verified"]
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    first = cores.partition(",")[0]
    ours = {which: timed(["taskset", "-c", which, *own, "--config", str(config)]) for which in (first, cores)}
    peer = [str(python.parent / "webarena-verified"), "eval-tasks", "--output-dir", str(runs)]
    wall, processor = timed(["taskset", "-c", cores, *peer, "--config", str(config)])
    print(f"theirs:             {wall:7.2f} s wall time, {processor:7.2f} s of processor time")
    for which, (clock, used) in ours.items():
        cores_used = f"ours, {len(which.split(','))} core(s):"
        print(
            f"{cores_used:19} {clock:7.2f} s by the clock ({wall / clock:4.1f} times as fast), "
            f"{used:7.2f} s of CPU time ({processor / used:4.1f} times less)"
        )
    shutil.rmtree(runs)


def timed(command: list[str]) -> tuple[float, float]:
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - started, os.times()
    if done.returncode not in (0, 1):  # 1: some logs did not pass, which is what was asked
        raise SystemExit(f"{' '.join(command[:4])} broke: {done.stderr.strip()[-400:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


def large_log(place: Path, with_bodies: bool) -> None:
    """A log of 200 MB: many small entries, or fewer with long bodies."""
    entries = [logs.request(f"{logs.HOSTS['shopping_admin']}/page") for _ in range(4)]
    entries[1]["request"]["headers"] += [{"name": f"X-Header-{n}", "value": "v" * 60} for n in range(12)]
    if with_bodies:
        entries[2]["response"]["content"]["text"] = '<p class="x">A line of a page.</p>\n' * 3000
    logs.write(place.parent, int(place.name), {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": []}, [])
    with (place / "network.har").open("w") as stream:
        stream.write('{"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [')
        size = number = 0
        while size < LARGE:
            entry = entries[number % 4]
            entry["request"]["url"] = f"{logs.HOSTS['shopping_admin']}/page/{number}?n={number}"
            size += stream.write((",\n" if number else "") + json.dumps(entry))
            number += 1
        stream.write("]}}")


def anonymous_megabytes() -> float:
    text = Path("/proc/self/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) / 1024


def measure_large(place: Path) -> None:
    """In a process of its own: seconds, and the peak of anonymous memory above the start."""
    task = next(one for one in verified.load(logs.published_file()) if verified.number_of(one) == 108)
    peak, stop = anonymous_megabytes(), threading.Event()
    start = peak

    def watch() -> None:
        nonlocal peak
        while not stop.wait(0.005):
            peak = max(peak, anonymous_megabytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.process_time()
    grade_log(place, task, LAYOUT)
    seconds = time.process_time() - started
    stop.set()
    watcher.join()
    print(json.dumps({"seconds": seconds, "megabytes": peak - start}))


def large(folder: Path, python: Path) -> None:
    heading("One log of 200 MB")
    for kind in ("many entries", "long bodies"):
        place = folder / kind.replace(" ", "-") / "108"
        large_log(place, kind == "long bodies")
        command = [sys.executable, "-m", "scripts.bench_grading", "--measure-large", str(place)]
        ours = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        theirs = next(iter(reference_verdicts(place.parent, [108], LAYOUT, python)))
        print(
            f"{kind:14} ours {ours['seconds']:6.2f} s, {ours['megabytes']:6.1f} MB above start; theirs "
            f"{theirs.seconds:6.2f} s: {theirs.seconds / ours['seconds']:5.1f} times as fast"
        )
        shutil.rmtree(place.parent)


# --- hard inputs ------------------------------------------------------------------------------------------

HARD = {
    "nines": "9" * 99_000,
    "power": "9**9**9 m",
    "brackets": "[" * 99_000,
    "spaces": " " * 99_000 + "x",
    "entities": "&amp;" * 19_000,
    "accents": "é" * 99_000,
    "fractions": "1/" * 49_000,
    "dashes": "a-" * 49_000,
    "links": "[a](" * 24_000,
    "quotes": '"' * 99_000,
    "colons": "1:" * 49_000,
    "slashes": "http://a/" + "../" * 6_000,
    "pairs": "http://a/?" + "a=1&" * 4_000,
    "commas": "1," * 49_000,
}


def hard_inputs() -> None:
    heading("The longest that any comparator takes over a hostile text (CPU seconds)")
    keys = {"date": "2020-01-01", "month": 5, "duration": "5 s", "coordinates": [1, 2], "boolean": True, "null": None}
    keys |= {"full_address": dict.fromkeys(("house_number", "street", "city", "state", "postcode"), "1")}
    keys |= {"json": "5", "base64": "YQ==", "url": "http://a/", "distance": "5 m"}
    keys |= dict.fromkeys(("location_name", "string_list", "markdown", "string"), "five")
    worst = (0.0, "", "")
    for kind in (*KINDS, "url"):
        for name, text in HARD.items():
            started = time.process_time()
            compare(kind, keys.get(kind, 5), text)
            worst = max(worst, (time.process_time() - started, kind, name))
    print(f"{worst[0]:.3f} s ({worst[1]}, {worst[2]})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference-python", type=Path, help="interpreter of an environment with the published grader")
    parser.add_argument("--measure-large", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="leave the 200 MB logs out")
    arguments = parser.parse_args()
    if arguments.measure_large:
        measure_large(arguments.measure_large)
        return
    path = verified.fetch(logs.cache_directory())
    python = arguments.reference_python or reference_python(logs.cache_directory())
    with tempfile.TemporaryDirectory(prefix="webassay-bench-") as name:
        verdicts(Path(name), path, python)
        throughput(Path(name), path, python)
        commands(Path(name), python)
        if not arguments.quick:
            large(Path(name), python)
    hard_inputs()


if __name__ == "__main__":
    main()
