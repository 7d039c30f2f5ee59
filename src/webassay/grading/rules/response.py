"""The last message: parsed, validated against the protocol's schema, compared with the key.

Parsing is strict first. Repairs are tried only if that fails, and the verdict names each one that was needed, so that a
report can say how many answers would have failed without it.
"""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jsonschema_rs

from webassay.compare import Sites, UnreadableValue, parse_json, shown
from webassay.compare.match import MAX_TEXT
from webassay.core.errors import GradingError
from webassay.core.protocols import PROTOCOLS, refusal
from webassay.core.task import ResponseCheck
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Finding
from webassay.grading.rules.evidence import keepable
from webassay.grading.rules.expect import fits, plain

_MAX_ITEMS = 10_000


class FieldNames(NamedTuple):
    """A protocol's names for its parts."""

    action: str
    results: str


FIELDS: dict[str, FieldNames] = {
    "arena": FieldNames("action", "results"),
    "verified-paper": FieldNames("action", "results"),
    "verified-released": FieldNames("task_type", "retrieved_data"),
}


class ReadResponse(NamedTuple):
    value: dict[str, Any] | None
    """None: the text contains no JSON object."""
    recovered: tuple[str, ...] = ()
    """Names of the repairs that were needed; empty if the text was strict JSON."""
    findings: tuple[Finding, ...] = ()
    """Violations of the format; empty if it conforms."""


def read_response(text: str, protocol_name: str) -> ReadResponse:
    if protocol_name not in PROTOCOLS:
        raise GradingError(f"There is no response protocol {protocol_name!r}.")
    if len(text) > MAX_TEXT:
        return ReadResponse(None, (), (_broken("not_json", f"The answer is longer than {MAX_TEXT} characters."),))
    try:
        value, recovered = _parse(text)
    except UnreadableValue as problem:
        found = f"{shown(text, 60)} is not JSON ({problem})" if text.strip() else "it is empty"
        message = f"The answer cannot be read: {found}. {_asked(protocol_name)}"
        return ReadResponse(None, (), (_broken("not_json", message, shown(text)),))
    if not isinstance(value, dict):
        message = f"The answer is {shown(value, 60)}, not a JSON object. {_asked(protocol_name)}"
        return ReadResponse(None, recovered, (_broken("not_an_object", message),))
    value, spelled = _respelled(value, protocol_name)
    return ReadResponse(value, recovered + spelled, _violations(value, protocol_name))


def _asked(protocol_name: str) -> str:
    fields = FIELDS[protocol_name]
    return f'The protocol asks for {{"{fields.action}": …, "status": …, "{fields.results}": …}}.'


def _broken(code: str, message: str, actual: str | None = None) -> Finding:
    return Finding(check="response.format", status="fail", message=message, actual=keepable(actual), code=code)


# --- repairs ----------------------------------------------------------------------------------------------

_FENCE = "```"
_LABELS = ("json", "JSON")
_SMART = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"'})


def _parse(text: str) -> tuple[Any, tuple[str, ...]]:
    """The value and the repairs it took: the mildest that work."""
    try:
        return parse_json(text), ()
    except UnreadableValue as problem:
        strict = problem
    repairs: list[str] = []
    for name, repair in _REPAIRS:
        repaired = repair(text)
        if repaired is None or repaired == text:
            continue
        text = repaired
        repairs.append(name)
        try:
            return parse_json(text), tuple(repairs)
        except UnreadableValue:
            continue
    raise strict


def _without_mark(text: str) -> str:
    bare = text.strip()
    return bare.removeprefix("\ufeff") if bare.startswith("\ufeff") else text


def _out_of_fence(text: str) -> str | None:
    """The text of the only fenced block; cut at the fences, as a pattern could take hours over a fence that never
    closes."""
    _, *fenced = text.split(_FENCE)
    blocks = {_unlabelled(block) for block in fenced[:-1:2]}
    return blocks.pop() if len(blocks) == 1 else None


def _unlabelled(block: str) -> str:
    block = block.lstrip(" \t")
    label = next((label for label in _LABELS if block.startswith(label)), "")
    return block.removeprefix(label).strip()


def _out_of_prose(text: str) -> str | None:
    """The only JSON object in a text. With two, the grader would have to choose, which it must not."""
    found: list[str] = []
    position = text.find("{")
    while position >= 0 and len(found) < 2:
        end = _end_of_object(text, position)
        if end is None:
            return None
        found.append(text[position:end])
        position = text.find("{", end)
    return found[0] if len(found) == 1 else None


def _end_of_object(text: str, start: int) -> int | None:
    """Where the brace opened at `start` closes, ignoring strings; linear in the text."""
    level, quoted, position = 0, False, start
    while position < len(text):
        char = text[position]
        if quoted:
            if char == "\\":
                position += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "{}":
            level += 1 if char == "{" else -1
            if level == 0:
                return position + 1
        position += 1
    return None


def _straight_quotes(text: str) -> str:
    return text.translate(_SMART)


_REPAIRS: tuple[tuple[str, Callable[[str], str | None]], ...] = (
    ("byte_order_mark", _without_mark),
    ("code_fence", _out_of_fence),
    ("object_in_prose", _out_of_prose),
    ("smart_quotes", _straight_quotes),
)


def _respelled(value: dict[str, Any], protocol_name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Accepts what the published grader accepts: codes in another case, an old field name, a result without a list."""
    fields, schema = FIELDS[protocol_name], PROTOCOLS[protocol_name].answer_schema["properties"]
    value, names = dict(value), []
    if protocol_name == "verified-released" and fields.action not in value and "performed_operation" in value:
        value[fields.action] = value.pop("performed_operation")
        names.append("old_field_name")
    for key in (fields.action, "status"):
        given = value.get(key)
        known = {word.casefold(): word for word in schema[key]["enum"]}
        if isinstance(given, str) and given not in known.values() and given.strip().casefold() in known:
            value[key] = known[given.strip().casefold()]
            names.append("letter_case")
    results = value.get(fields.results)
    if results is not None and not isinstance(results, list) and results != "":
        value[fields.results] = [results]
        names.append("single_result")
    elif results == "":
        value[fields.results] = None
        names.append("empty_text")
    return value, tuple(dict.fromkeys(names))


# --- the schema -------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _validator(protocol_name: str) -> Any:
    return jsonschema_rs.Draft7Validator(PROTOCOLS[protocol_name].answer_schema)


def _violations(value: dict[str, Any], protocol_name: str) -> tuple[Finding, ...]:
    results = value.get(FIELDS[protocol_name].results)
    if isinstance(results, list) and len(results) > _MAX_ITEMS:
        return (_broken("too_long", f"There are {len(results)} results, more than {_MAX_ITEMS}."),)
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return (_broken("lone_surrogate", "The answer contains half a character (a lone surrogate)."),)
    findings = []
    for error in _validator(protocol_name).iter_errors(value):
        place = ".".join(str(part) for part in error.instance_path) or "the response"
        said = error.message[:300]
        if error.schema_path and error.schema_path[-1] == "enum":
            # The validator's own message omits some of the choices.
            allowed = PROTOCOLS[protocol_name].answer_schema["properties"][place]["enum"]
            said = f"{shown(error.instance)} is not one of {', '.join(allowed)}"
        findings.append(_broken("schema", f"{place}: {said}.", shown(error.instance)))
        if len(findings) == 20:
            break
    if protocol_name == "verified-paper" and isinstance(results, list):
        findings += _uniform(results)
    return tuple(findings)


def _uniform(results: list[Any]) -> list[Finding]:
    """The paper asks for what no schema of its version can say: items of one type, and objects with equal keys."""
    kinds = sorted({_kind(item) for item in results if item is not None})
    if len(kinds) > 1:
        return [_broken("mixed_items", f"The results have different types: {', '.join(kinds)}.")]
    keys = {tuple(sorted(item)) for item in results if isinstance(item, dict)}
    if len(keys) > 1:
        return [_broken("unequal_keys", "The objects among the results have different keys.")]
    return []


def _kind(item: Any) -> str:
    known = ((bool, "boolean"), (int | float, "number"), (str, "string"), (dict, "object"), (list, "array"))
    return next((name for type_, name in known if isinstance(item, type_)), "null")


# --- the check --------------------------------------------------------------------------------------------


def applicable(check: ResponseCheck, read: ReadResponse, trajectory: Trajectory, protocol_name: str) -> ResponseCheck:
    """Without the action, where a task that cannot be done was refused with `report_infeasible`: the agent was not
    asked for one, and `refusal` had to put one in. An agent that wrote out the whole response is held to all of it."""
    if trajectory.ending.kind != "gave_up" or "SUCCESS" in check.status:
        return check
    value = read.value or {}
    written_for_it = refusal(protocol_name, str(value.get("error_details")), str(value.get("status")))
    return check.model_copy(update={"action": ""}) if trajectory.answer == written_for_it else check


def check_response(check: ResponseCheck, read: ReadResponse, protocol_name: str, sites: Sites) -> list[Finding]:
    """Format first: an answer that does not conform is not compared, so that no finding rests on a guess."""
    if read.findings:
        return list(read.findings)
    value, fields = read.value or {}, FIELDS[protocol_name]
    note = f" (after {', '.join(read.recovered)})" if read.recovered else ""
    conforms = f"The answer conforms to the protocol{note}."
    findings = [Finding(check="response.format", status="pass", message=conforms, code=",".join(read.recovered))]
    action, status = value.get(fields.action), value.get("status")
    if check.action:
        findings.append(_equal("response.action", (check.action,), action))
    findings.append(_equal("response.status", check.status, status))
    if findings[-1].status == "pass":
        findings.append(
            _results(check, value.get(fields.results), sites, strictly=protocol_name != "verified-released")
        )
    return findings


def _equal(name: str, accepted: tuple[str, ...], actual: Any) -> Finding:
    ok = isinstance(actual, str) and actual.casefold() in {word.casefold() for word in accepted}
    wanted = " or ".join(accepted)
    return Finding(
        check=name,
        status="pass" if ok else "fail",
        message=f"It is {shown(actual)}" + ("." if ok else f", not {wanted}."),
        expected=wanted,
        actual=keepable(actual),
        code="" if ok else "mismatch",
    )


def _results(check: ResponseCheck, actual: Any, sites: Sites, strictly: bool) -> Finding:
    name = "response.results"
    if check.results is None:
        empty = actual is None or actual == []
        if empty or (not strictly and check.action.casefold() != "retrieve"):
            return Finding(check=name, status="pass", message="No results, as expected." if empty else "Not checked.")
        message = f"Results were given, but none are expected: {shown(actual)}."
        return Finding(check=name, status="fail", message=message, actual=keepable(actual), code="unexpected_results")
    match = fits(check.results, actual, sites)
    if match:
        return Finding(check=name, status="pass", message=f"{match.reason}.")
    return Finding(
        check=name,
        status="fail",
        message=f"{match.reason}.",
        expected=keepable(plain(check.results)),
        actual=keepable(actual),
        code="mismatch",
    )
