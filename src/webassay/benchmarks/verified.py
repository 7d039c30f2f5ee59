"""WebArena-Verified: its 812 tasks, its Hard subset, and its configuration file, as they were published.

The data lie inside a wheel whose exact pins would fight ours, so it is no dependency: `fetch` gets the wheel through
the user's own pip and keeps the two files; a path to either works as well.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from webassay.benchmarks.base import Benchmark, Logs, Selection, Sources, task_file
from webassay.benchmarks.wheels import wheel_member
from webassay.core.errors import InputError, TaskError
from webassay.core.files import read_regular
from webassay.core.interaction import Goal
from webassay.core.logs import LogLayout
from webassay.core.protocols import FINER_STATUSES, PAPER_PROTOCOL, RELEASED_PROTOCOL
from webassay.core.task import (
    ActivityCheck,
    Check,
    Expectation,
    NetworkCheck,
    PagePattern,
    ResponseCheck,
    Task,
    TaskKind,
    Tolerance,
    ValueType,
)

BENCHMARK = "webarena-verified"
HARD = "webarena-verified-hard"
PAPER = "webarena-verified-paper"
PACKAGE, VERSION = "webarena-verified", "1.2.3"
TASKS_MEMBER = "webarena_verified/assets/dataset/webarena-verified.json"
TASKS_SHA256 = "d65275660814663375028e9017e1f929e3c38321041b125795e2713b52243d30"
HARD_MEMBER = "webarena_verified/assets/dataset/subsets/webarena-verified-hard.json"
HARD_SHA256 = "3b0a4df231bb5a0c642215e521c3fa97701a384f52a734dc2db8f617ad0591a7"

TOLERANCES: dict[str, Tolerance] = {
    "currency": Tolerance(absolute=0.1),
    "duration": Tolerance(absolute=180, relative=0.1),
    "distance": Tolerance(absolute=10, relative=0.02),
    "coordinates": Tolerance(absolute=1e-5),
}
"""As published, so that scores stay comparable."""

PORTS: dict[str, tuple[int, str]] = {
    "shopping": (7770, ""),
    "shopping_admin": (7780, "/admin"),
    "reddit": (9999, ""),
    "gitlab": (8023, ""),
    "wikipedia": (8888, ""),
    "map": (3000, ""),
    "homepage": (4399, ""),
}
"""Where the published images listen, and the path below: what a log is read by when there is no configuration."""

_LOG_IN_PAGES: dict[str, tuple[str, ...]] = {
    "shopping": ("/customer/account/login.*",),
    "shopping_admin": ("/admin/auth/login.*",),
    "reddit": ("/login.*",),
    "gitlab": ("/users/sign_in.*",),
}


def fetch(cache: Path) -> Path:
    """The task file in the cache directory, downloaded where it is not there yet."""
    for member, sha256 in ((TASKS_MEMBER, TASKS_SHA256), (HARD_MEMBER, HARD_SHA256)):
        wheel_member(PACKAGE, VERSION, member, sha256, cache)
    return _fetched(cache)


def _fetched(cache: Path) -> Path:
    return cache / f"{PACKAGE}-{VERSION}" / Path(TASKS_MEMBER).name


def load(path: Path) -> tuple[Task, ...]:
    """Every task of a file in the published format."""
    entries = _read(path)
    if not isinstance(entries, list) or not entries:
        raise TaskError(f"{path} is not a list of tasks.", hint="Give the file webarena-verified.json of the wheel.")
    tasks = []
    for position, entry in enumerate(entries):
        try:
            tasks.append(_task(entry))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            name = entry.get("task_id", "?") if isinstance(entry, dict) else "?"
            detail = error.errors()[0]["msg"] if isinstance(error, ValidationError) else f"{error}"
            raise TaskError(f"{path}: entry {position} (task {name}) cannot be used: {detail}.") from error
    return tuple(tasks)


def load_subset(path: Path) -> frozenset[int]:
    """The numbers of the tasks in a published subset."""
    value = _read(path)
    numbers = value.get("task_ids") if isinstance(value, dict) else value
    if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
        raise TaskError(f"{path} is not a subset of WebArena-Verified.")
    return frozenset(numbers)


def number_of(task: Task) -> int:
    return int(task.id.rpartition(".")[2])


def _read(path: Path) -> Any:
    try:
        return json.loads(read_regular(path, hint="`webassay tasks fetch webarena-verified` gets it."))
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{path} is not JSON: {str(error)[:200]}.") from error


# --- tasks ------------------------------------------------------------------------------------------------


def _task(entry: dict[str, Any]) -> Task:
    sites = tuple(entry["sites"])
    response = next(one for one in entry["eval"] if one["evaluator"] == "AgentResponseEvaluator")
    action, status = response["expected"]["task_type"].lower(), response["expected"]["status"]
    kind = cast(TaskKind, action if status == "SUCCESS" else "unachievable")
    checks: list[Check] = [_response_check(response)]
    checks += [_network_check(one, action) for one in entry["eval"] if one["evaluator"] == "NetworkEventEvaluator"]
    if len(checks) != len(entry["eval"]):
        raise ValueError("an evaluator is not known")
    checks.append(_activity_check(sites))
    return Task(
        id=f"{BENCHMARK}.{entry['task_id']}",
        benchmark=BENCHMARK,
        template=f"{BENCHMARK}.{entry['intent_template_id']}",
        kind=kind,
        goal=Goal(
            instruction=entry["intent"],
            start_urls=tuple(entry["start_urls"]),
            protocol=RELEASED_PROTOCOL,
            sites=sites,
        ),
        checks=tuple(checks),
        sites=sites,
        parameters=entry["instantiation_dict"],
        revision=entry["revision"],
    )


def _activity_check(sites: tuple[str, ...]) -> ActivityCheck:
    forms = tuple(PagePattern(site=site, path=path) for site in sites for path in _LOG_IN_PAGES.get(site, ()))
    return ActivityCheck(site=sites[0], or_sites=sites[1:], counting="requests", not_counting=forms)


def _response_check(config: dict[str, Any]) -> ResponseCheck:
    expected, schema = config["expected"], config["results_schema"]
    data = expected.get("retrieved_data")
    results = None
    if data is not None:
        items = tuple(_expectation(item, schema.get("items", {})) for item in data)
        results = Expectation(type="list", items=items, ordered=config.get("ordered", False))
    return ResponseCheck(action=expected["task_type"].upper(), status=(expected["status"],), results=results)


def _network_check(config: dict[str, Any], action: str) -> NetworkCheck:
    expected = config["expected"]
    method = expected.get("http_method", "GET")
    posted = (config.get("post_data_schema") or {}).get("properties", {})
    queried = (config.get("query_params_schema") or {}).get("properties", {})
    ignored = config.get("ignored_post_data_params_patterns") or ()
    fields = {key: value for key, value in (expected.get("post_data") or {}).items() if not _matches(ignored, key)}
    return NetworkCheck(
        url=_alternatives(expected["url"], {"format": "url"}),
        method=method,
        response_status=expected.get("response_status", 200),
        headers={name: _header(name, value) for name, value in (expected.get("headers") or {}).items()},
        post_data={key: _field(value, posted.get(key)) for key, value in fields.items()},
        response_content={key: _field(value, None) for key, value in (expected.get("response_content") or {}).items()},
        response_cookies={
            name: _expectation(value, {}) for name, value in (expected.get("response_cookies") or {}).items()
        },
        query={
            key: _query(values, queried.get(key, {})) for key, values in (expected.get("query_params") or {}).items()
        },
        ignored_query=tuple(config.get("ignored_query_params") or ()),
        ignored_query_patterns=tuple(config.get("ignored_query_params_patterns") or ()),
        decode_base64_query=config.get("decode_base64_query", False),
        last_navigation=action == "navigate" and method == "GET",
        last_event_only=config.get("last_event_only", True),
        must_not_exist=config.get("should_not_exist", False),
    )


def _matches(patterns: tuple[str, ...], key: str) -> bool:
    return any(re.search(pattern, key) for pattern in patterns)


def _header(name: str, value: Any) -> Expectation:
    return _alternatives(value, {"format": "url"} if name.lower() in ("referer", "redirect_url") else {})


def _query(values: Any, schema: dict[str, Any]) -> Expectation:
    """The published form is a list of values; one of them is the rule."""
    item_schema = schema.get("items", {})
    if not isinstance(values, list):
        return _expectation(values, item_schema)
    if len(values) == 1:
        return _expectation(values[0], item_schema)
    return Expectation(type="list", items=tuple(_expectation(value, item_schema) for value in values))


def _field(value: Any, schema: dict[str, Any] | None) -> Expectation:
    """A posted field. Three published tasks give a list of one where nothing says that it is a list; it is."""
    if schema is None and isinstance(value, list) and len(value) == 1:
        return Expectation(type="list", items=(_field(value[0], None),))
    if schema is None and isinstance(value, int | float):
        return Expectation.of(value)
    return _expectation(value, schema or {})


# --- values -----------------------------------------------------------------------------------------------


def _expectation(value: Any, schema: Mapping[str, Any]) -> Expectation:
    """One published value, by its schema; a list where no list is expected is a choice."""
    if value is None:
        return Expectation(type="null")
    if schema.get("type") == "array":
        if not isinstance(value, list):
            raise ValueError(f"{value!r} should be a list")
        return Expectation(type="list", items=tuple(_expectation(item, schema.get("items", {})) for item in value))
    if isinstance(value, dict) and schema.get("format") not in ("coordinates", "full_address", "json"):
        properties = schema.get("properties", {})
        return Expectation(
            type="object", fields={key: _expectation(item, properties.get(key, {})) for key, item in value.items()}
        )
    return _alternatives(value, schema)


def _alternatives(value: Any, schema: Mapping[str, Any]) -> Expectation:
    if isinstance(value, list):
        return Expectation(any_of=tuple(_expectation(one, schema) for one in value))
    return _scalar(value, _type(schema))


def _type(schema: Mapping[str, Any]) -> ValueType:
    name = str(schema.get("format") or schema.get("type") or "string").replace("-", "_")
    return cast(ValueType, {"integer": "number"}.get(name, name))


def _scalar(value: Any, kind: ValueType) -> Expectation:
    if isinstance(value, str) and len(value) >= 2 and value.startswith("^") and value.endswith("$"):
        return Expectation(type=kind, pattern=value)
    return Expectation(type=kind, value=value, tolerance=TOLERANCES.get(kind))


# --- configuration ----------------------------------------------------------------------------------------


def layout(config: Path | None = None) -> LogLayout:
    """Where its harness writes logs and reaches the sites, by its own configuration file where there is one."""
    if config is None:
        return LogLayout(bases={}, ports=PORTS)
    value = _read(config)
    if not isinstance(value, dict):
        raise InputError(f"{config} is not a configuration of WebArena-Verified.")
    bases: dict[str, tuple[str, ...]] = {}
    for name, environment in (value.get("environments") or {}).items():
        urls = environment.get("urls") if isinstance(environment, dict) else None
        if not isinstance(urls, list) or not all(isinstance(url, str) and "://" in url for url in urls):
            raise InputError(f"{config}: environment {name!r} has no list of URLs.", hint='Write "urls": ["http://…"].')
        site = str(name).strip("_").lower()
        if site not in PORTS:
            raise InputError(f"{config}: there is no site {name!r}.", hint=f"Known sites: {', '.join(PORTS)}.")
        bases[site] = tuple(urls)
    return LogLayout(
        bases=bases,
        ports=PORTS,
        response_file=value.get("agent_response_file_name", "agent_response.json"),
        trace_file=value.get("trace_file_name", "network.har"),
    )


def published_bases(urls: Iterable[str]) -> dict[str, str]:
    """Where the sites were, judging by the ports that the published images listen on."""
    sites = {port: (site, path) for site, (port, path) in PORTS.items()}
    found: dict[str, str] = {}
    for url in urls:
        origin = re.match(r"(https?://[^/?#:]{1,300}):(\d{1,5})(?=[/?#]|$)", url)
        if origin is not None and int(origin[2]) in sites:
            site, path = sites[int(origin[2])]
            found.setdefault(site, f"{origin[0]}{path}")
    return found


# --- as benchmarks ----------------------------------------------------------------------------------------


def _load(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return load(task_file(BENCHMARK, selection, _fetched(sources.cache)))


def _load_hard(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    path = task_file(HARD, selection, _fetched(sources.cache))
    hard = load_subset(path.with_name(Path(HARD_MEMBER).name))
    return tuple(task for task in load(path) if number_of(task) in hard)


def _load_paper(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return tuple(map(_as_in_the_paper, load(task_file(PAPER, selection, _fetched(sources.cache)))))


def _as_in_the_paper(task: Task) -> Task:
    """The paper has finer codes than its release; a task takes the code of the release, or a finer one."""
    checks = tuple(
        check.model_copy(update={"status": (*check.status, *FINER_STATUSES.get(check.status[0], ()))})
        if isinstance(check, ResponseCheck)
        else check
        for check in task.checks
    )
    goal = task.goal.model_copy(update={"protocol": PAPER_PROTOCOL})
    return task.model_copy(update={"goal": goal, "checks": checks})


def _by_folder(tasks: Sequence[Task]) -> dict[str, Task]:
    return {str(number_of(task)): task for task in tasks}


LOGS = Logs(layout, _by_folder)

VERIFIED = Benchmark(
    BENCHMARK,
    "The 812 tasks of WebArena Verified (after `webassay tasks fetch`, or from a file).",
    _load,
    fetch,
    environment="live",
    logs=LOGS,
)
VERIFIED_PAPER = Benchmark(
    PAPER,
    "The same 812 tasks with the response protocol that the paper prints.",
    _load_paper,
    fetch,
    environment="live",
    logs=LOGS,
)
VERIFIED_HARD = Benchmark(
    HARD, "Its published Hard subset of 258 tasks.", _load_hard, fetch, environment="live", logs=LOGS
)
