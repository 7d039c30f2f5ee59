"""Logs that satisfy (or do not satisfy) the published keys of WebArena-Verified, made from the raw task entries.

Independent of our own loader on purpose: what it writes, the published grader can read as well.
"""

import json
import os
import re
from datetime import date
from pathlib import Path
from re import _constants as codes  # the parse tree of a pattern has no public reader
from re import _parser as parser
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from webassay.benchmarks import verified
from webassay.core.errors import InputError

HOSTS = {site: f"http://localhost:{port}{path}" for site, (port, path) in verified.PORTS.items()}
CONFIG = {"environments": {f"__{site.upper()}__": {"urls": [url]} for site, url in HOSTS.items()}}


def cache_directory() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "webassay"


def outside_data() -> Path:
    folder = Path(__file__).parents[3] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the outside data are not here (../shared/data)")
    return folder


def published_file() -> Path:
    """The task file in the user's cache; the test is skipped, saying why, where it cannot be had."""
    try:
        return verified.fetch(cache_directory())
    except InputError as error:
        pytest.skip(f"the published tasks cannot be had: {error}")


def rendered(text: str) -> str:
    for site, url in HOSTS.items():
        text = text.replace(f"__{site.upper()}__", url)
    return text


def example_of(pattern: str) -> str:
    """A text that the pattern matches."""
    text = "".join(_piece(step) for step in parser.parse(pattern))
    if not re.fullmatch(pattern, text, re.IGNORECASE):
        raise ValueError(f"no example of {pattern!r}: {text!r}")
    return text


def _piece(step: Any) -> str:
    kind, value = step
    if kind is codes.LITERAL:
        return chr(value)
    if kind is codes.ANY:
        return "x"
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        low, _, inner = value
        filler = low == 0 and inner[0][0] is codes.ANY
        return "x" if filler else "".join(_piece(one) for one in inner) * low
    if kind is codes.SUBPATTERN:
        return "".join(_piece(one) for one in value[-1])
    if kind is codes.BRANCH:
        return "".join(_piece(one) for one in value[1][0])
    if kind is codes.IN:
        return _member(value)
    if kind is codes.ASSERT:
        return " " + "".join(_piece(one) for one in value[1]) + " "
    if kind in (codes.AT, codes.ASSERT_NOT):
        return ""
    raise ValueError(f"no example of {kind}")


def _member(choices: Any) -> str:
    kind, value = choices[0]
    if kind is codes.NEGATE:
        return "q"  # excluded by none of the published patterns, or the check in example_of says so
    if kind is codes.LITERAL:
        return chr(value)
    if kind is codes.RANGE:
        return chr(value[0])
    return {codes.CATEGORY_DIGIT: "7", codes.CATEGORY_WORD: "w", codes.CATEGORY_SPACE: " "}[value]


def is_pattern(value: Any) -> bool:
    return isinstance(value, str) and len(value) > 1 and value.startswith("^") and value.endswith("$")


def one_of(value: Any) -> Any:
    """A value that is accepted where alternatives or a pattern are given."""
    if isinstance(value, list):
        return one_of(value[0])
    return example_of(value) if is_pattern(value) else value


# --- answers ----------------------------------------------------------------------------------------------


def right_data(entry: dict[str, Any]) -> Any:
    config = response_of(entry)
    data = config["expected"].get("retrieved_data")
    if data is None:
        return None
    return [_right(item, config["results_schema"].get("items", {})) for item in data]


def _right(value: Any, schema: dict[str, Any]) -> Any:
    if schema.get("type") == "array":
        return [_right(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict) and schema.get("type") == "object":
        return {key: _right(item, schema.get("properties", {}).get(key, {})) for key, item in value.items()}
    if isinstance(value, str) and not is_pattern(value):
        return rendered(value)
    return one_of(value) if not isinstance(value, list) else _right(value[0], schema)


_SPELLED: dict[str, Any] = {
    "number": lambda value: f"{value:,}" if isinstance(value, int | float) else value,
    "currency": lambda value: f"${value:,.2f}" if isinstance(value, int | float) else value,
    "boolean": lambda value: "Yes" if value is True else "No" if value is False else value,
    "month": lambda value: str(value)[:3],
    "date": lambda value: date.fromisoformat(value).strftime("%B %d, %Y") if re.match(r"\d{4}-", str(value)) else value,
    "string": lambda value: f" {value.upper()}. " if isinstance(value, str) and value else value,
}
"""Other honest ways to write a value."""


def spelled_log(entry: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The right answer in other words."""
    right = response(entry, right_data(entry))
    schema = response_of(entry)["results_schema"].get("items", {})
    if right["retrieved_data"] is not None:
        right["retrieved_data"] = [_spelled(item, schema) for item in right["retrieved_data"]]
    return right, right_trace(entry)


def _spelled(value: Any, schema: dict[str, Any]) -> Any:
    if schema.get("type") == "array":
        return [_spelled(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict) and schema.get("type") == "object":
        return {key: _spelled(item, schema.get("properties", {}).get(key, {})) for key, item in value.items()}
    return _SPELLED.get(schema.get("format") or schema.get("type") or "string", lambda same: same)(value)


_WRONG = {
    "number": 987654321,
    "integer": 987654321,
    "currency": 98765.43,
    "date": "1955-11-05",
    "duration": "400 hours",
    "distance": "39999 km",
    "coordinates": {"latitude": -89.5, "longitude": 0.5},
    "url": "http://localhost:1/nowhere",
    "string": "zzz wrong zzz",
    "location-name": "Zzyzx Wrongville",
}


def wrong_data(entry: dict[str, Any]) -> Any:
    """Something else of the same type and shape."""
    config = response_of(entry)
    right = right_data(entry)
    schema = config["results_schema"].get("items", {})
    return [_wrong(right[0], schema), *right[1:]]


def _wrong(value: Any, schema: dict[str, Any]) -> Any:
    kind = schema.get("format") or schema.get("type") or "string"
    if kind == "array":
        return [_wrong(value[0], schema.get("items", {})), *value[1:]]
    if kind == "object":
        first = next(iter(value))
        return {**value, first: _wrong(value[first], schema.get("properties", {}).get(first, {}))}
    if kind == "boolean":
        return not value
    if kind == "month":
        return "January" if not str(value).lower().startswith("jan") else "February"
    return _WRONG[kind]


def response_of(entry: dict[str, Any]) -> dict[str, Any]:
    return next(one for one in entry["eval"] if one["evaluator"] == "AgentResponseEvaluator")


def response(entry: dict[str, Any], data: Any, **changes: Any) -> dict[str, Any]:
    expected = response_of(entry)["expected"]
    right = {"task_type": expected["task_type"].upper(), "status": expected["status"], "retrieved_data": data}
    return {**right, "error_details": None, **changes}


def right_log(entry: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return response(entry, right_data(entry)), right_trace(entry)


def wrong_log(entry: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Wrong data where data are asked for, another code where a code is, else the right words about nothing done."""
    expected = response_of(entry)["expected"]
    if expected["status"] != "SUCCESS":
        return response(entry, None, status="UNKNOWN_ERROR"), right_trace(entry)
    if expected["task_type"].lower() == "retrieve":
        return response(entry, wrong_data(entry)), right_trace(entry)
    return response(entry, None), wrong_trace(entry)


# --- traces -----------------------------------------------------------------------------------------------


def har(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries}}


def request(url: str, method: str = "GET", status: int = 200, **rest: Any) -> dict[str, Any]:
    headers = {"Accept": "text/html,application/xhtml+xml", **rest.get("headers", {})}
    posted = {"postData": rest["posted"]} if rest.get("posted") else {}
    return {
        "startedDateTime": "2025-10-19T14:40:28.342Z",
        "time": 1.0,
        "request": {
            "method": method,
            "url": url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
            "queryString": [],
            "headersSize": -1,
            "bodySize": -1,
            **posted,
        },
        "response": {
            "status": status,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": rest.get("cookies", []),
            "headers": [],
            "content": rest.get("content") or {"size": -1, "mimeType": "text/html; charset=UTF-8"},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": {"send": -1, "wait": -1, "receive": 1.0},
    }


def start_page(entry: dict[str, Any]) -> dict[str, Any]:
    return request(rendered(entry["start_urls"][0]))


def right_trace(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The start page, then every request that the key asks for."""
    configs = [one for one in entry["eval"] if one["evaluator"] == "NetworkEventEvaluator"]
    asked = [_asked(config) for config in configs if not config.get("should_not_exist")]
    return [start_page(entry), *asked]


def wrong_trace(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """As busy as the right one, and somewhere else."""
    return [start_page(entry), request(rendered(entry["start_urls"][0]).rstrip("/") + "/zzz-wrong-page")]


def _asked(config: dict[str, Any]) -> dict[str, Any]:
    expected = config["expected"]
    headers = {}
    for name, value in (expected.get("headers") or {}).items():
        headers[name] = rendered(one_of(value)).replace(" ", "%20") if name.lower() == "referer" else one_of(value)
    content = None
    if expected.get("response_content"):
        content = {
            "size": 1,
            "mimeType": "application/json",
            "text": json.dumps(_built(expected["response_content"], {})),
        }
    return request(
        _url(expected),
        expected.get("http_method", "GET"),
        expected.get("response_status", 200),
        headers=headers,
        posted=_posted(expected.get("post_data"), (config.get("post_data_schema") or {}).get("properties", {})),
        content=content,
        cookies=[
            {"name": name, "value": quote(one_of(value))}
            for name, value in (expected.get("response_cookies") or {}).items()
        ],
    )


def _url(expected: dict[str, Any]) -> str:
    url = rendered(one_of(expected["url"])).replace(" ", "%20")
    if not url.startswith("http"):
        url = HOSTS["map"] + "/" + url
    if expected.get("query_params"):
        pairs = [(key, one_of(value)) for key, values in expected["query_params"].items() for value in values]
        url = url.partition("?")[0] + "?" + urlencode(pairs)
    return url


def _posted(data: dict[str, Any] | None, schemas: dict[str, Any]) -> dict[str, Any] | None:
    if not data:
        return None
    body = _built(data, schemas)
    body = body or {"form_key": "k"}  # every form has something in it
    if any(isinstance(value, dict | list) for value in body.values()):
        return {"mimeType": "application/json", "text": json.dumps(body)}
    return {"mimeType": "application/x-www-form-urlencoded", "text": urlencode(body)}


def _built(data: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The object in which every path of the key leads to its value."""
    body: dict[str, Any] = {}
    for path, value in data.items():
        is_list = schemas.get(path, {}).get("type") == "array" or (isinstance(value, list) and len(value) == 1)
        given = value if is_list else one_of(value)
        given = rendered(given) if isinstance(given, str) else given
        if value is None:
            continue
        if "?(" in path:
            body[re.findall(r"\['([^']+)'\]", path)[0]] = [{"newProduct": 1, "attributes": one} for one in given]
        elif is_pattern(path.removeprefix("$.")):
            body[example_of(path.removeprefix("$.").replace("|file_name", ""))] = given
        elif path.startswith("$"):
            _place(body, [name or int(index) for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path)], given)
        else:
            body[path.strip()] = given
    return body


def _place(body: Any, steps: list[Any], value: Any) -> None:
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        fresh = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(step, int):
            while len(body) <= step:
                body.append({})
            if following is None:
                body[step] = value
        elif following is None or step not in body:
            body[step] = fresh
        body = body[step]


# --- directories ------------------------------------------------------------------------------------------


def write(folder: Path, number: int, answer: Any, entries: Any) -> None:
    place = folder / str(number)
    place.mkdir(parents=True)
    (place / "agent_response.json").write_text(answer if isinstance(answer, str) else json.dumps(answer))
    (place / "network.har").write_text(entries if isinstance(entries, str) else json.dumps(har(entries)))
