"""Data in requests and answers (forms, JSON, multipart), and the paths by which keys point into it."""

import json
import re
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from webassay.compare import UnreadableValue, depth
from webassay.compare.text import MAX_DEPTH, parse_json
from webassay.core.errors import GradingError
from webassay.grading.rules.patterns import matches

MAX_BODY = 5_000_000
_MAX_FIELDS = 10_000

Missing = object()
"""What a path yields if it leads nowhere."""


class Several(list[Any]):
    """Several values of one name, in the order given."""


def parsed(mime_type: str, text: str) -> dict[str, Any] | None:
    """Fields by name; None if there are none that can be read."""
    if not text or len(text) > MAX_BODY:
        return None
    kind = mime_type.lower()
    if "application/x-www-form-urlencoded" in kind:
        return _gathered(_form(text))
    if "multipart/form-data" in kind:
        boundary = re.search(r'boundary="?([^";\s]{1,200})', mime_type)
        return _gathered(_multipart(text, boundary[1])) if boundary else None
    if "json" in kind:
        value = _json(text)
        return value if isinstance(value, dict) else None
    return None


def _form(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        return []


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if depth(value) <= MAX_DEPTH else None


_NAME = re.compile(r'(?i)^content-disposition:[^\r\n]*?\bname="([^"\r\n]{1,1000})"', re.MULTILINE)


def _multipart(text: str, boundary: str) -> list[tuple[str, str]]:
    fields = []
    for part in text.split(f"--{boundary}")[1 : _MAX_FIELDS + 1]:
        head, gap, body = part.partition("\r\n\r\n") if "\r\n\r\n" in part else part.partition("\n\n")
        name = _NAME.search(head[:10_000].strip())
        if gap and name:
            fields.append((name[1], body.rstrip("\r\n")))
    return fields


def _gathered(fields: list[tuple[str, str]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields:
        if name not in found:
            found[name] = value
        elif isinstance(found[name], Several):
            found[name].append(value)
        else:
            found[name] = Several((found[name], value))
    return found


# --- paths ------------------------------------------------------------------------------------------------

_STEP = re.compile(
    r"""\.(?P<name>[\w-]+)|\[(?P<index>\d{1,6})\]|\[(?P<quote>['"])(?P<quoted>[^'"]+)(?P=quote)\]|(?P<all>\[\*\]|\.\*)
    |\[\?\(\s*@\.(?P<field>[\w-]+)\s*==\s*(?P<literal>-?\d+(?:\.\d+)?|'[^']*'|"[^"]*"|true|false|null)\s*\)\]""",
    re.VERBOSE,
)


def reached(data: dict[str, Any], path: str) -> Any:
    """The value at a path of the key: a field, a pattern over field names, or a JSONPath; else `Missing`."""
    if path.startswith("$.^") and path.endswith("$"):
        return _by_pattern(data, path[2:])
    if path.startswith("^") and path.endswith("$"):
        return _by_pattern(data, path)
    if path.startswith("$"):
        found = _follow(data, path)
        if not found:
            found = _follow(_opened(data), path)
        if not found:
            return Missing
        return found[0] if len(found) == 1 and "?(" not in path else Several(found)
    return _field(data, path)


def _field(data: dict[str, Any], name: str) -> Any:
    """A field by name, or a list that the form spreads over `name[]` or `name[0]`, `name[1]`..."""
    if name in data:
        return data[name]
    spread = [value for key, value in data.items() if re.fullmatch(re.escape(name) + r"\[\d{0,6}\]", key)]
    flat = [one for value in spread for one in (value if isinstance(value, Several) else [value])]
    return Several(flat) if flat else Missing


def _by_pattern(data: dict[str, Any], pattern: str) -> Any:
    found = [value for key, value in data.items() if matches(pattern, key[:1000], how="match")]
    return Missing if not found else found[0] if len(found) == 1 else Several(found)


@lru_cache(maxsize=512)
def _steps(path: str) -> tuple[dict[str, str | None], ...]:
    steps, position = [], 1
    while position < len(path):
        step = _STEP.match(path, position)
        if not step:
            raise GradingError(f"The key's path {path!r} is not supported, from character {position} on.")
        steps.append(step.groupdict())
        position = step.end()
    return tuple(steps)


def _follow(data: Any, path: str) -> list[Any]:
    here = [data]
    for step in _steps(path):
        here = [found for value in here for found in _stepped(value, step)]
    return here


def _stepped(value: Any, step: dict[str, str | None]) -> list[Any]:
    name = step["name"] or step["quoted"]
    if name is not None:
        return [value[name]] if isinstance(value, dict) and name in value else []
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if step["index"] is not None:
        position = int(step["index"])
        return [value[position]] if isinstance(value, list) and position < len(value) else []
    if step["field"] is not None:
        literal = step["literal"] or ""
        wanted = literal[1:-1] if literal[0] in "'\"" else json.loads(literal)
        return [one for one in inside if isinstance(one, dict) and one.get(step["field"]) == wanted]
    return list(inside)


def _opened(data: Any) -> Any:
    """Parses strings that are JSON themselves, one level deep: forms often carry them."""
    if isinstance(data, dict):
        return {key: _opened(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_opened(value) for value in data]
    if isinstance(data, str) and data[:1] in "[{":
        try:
            return parse_json(data)
        except UnreadableValue:
            return data
    return data
