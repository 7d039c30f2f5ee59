"""The response protocols: how the agent is told to phrase its last message, and the schema it is held to.

The wording is ours; for the two published protocols, the field names, codes and conditions are theirs.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from webassay.core.interaction import STATUSES, ResponseProtocol

PAPER_STATUSES: Mapping[str, str] = {
    **STATUSES,
    "SEARCH_CRITERIA_NO_MATCH_ERROR": "a valid search finds nothing",
    "RESOURCE_NOT_FOUND_ERROR": "the one thing that the task names does not exist",
    "NOT_SUPPORTED_BY_PLATFORM_ERROR": "the site has no such function",
}
"""The paper prints two lists, in its Table 9 and in its appendix I; a response may use either."""

FINER_STATUSES: Mapping[str, tuple[str, ...]] = {
    "NOT_FOUND_ERROR": ("SEARCH_CRITERIA_NO_MATCH_ERROR", "RESOURCE_NOT_FOUND_ERROR"),
    "ACTION_NOT_ALLOWED_ERROR": ("NOT_SUPPORTED_BY_PLATFORM_ERROR",),
}
"""What Table 9 says in place of a code of appendix I."""

MAX_DETAILS = 500
"""Characters of `error_details`."""

_ITEM = {"type": ["null", "boolean", "number", "string", "object"]}
_NOTHING = {"anyOf": [{"type": "null"}, {"type": "array", "maxItems": 0}]}


def _schema(
    action: str, actions: tuple[str, ...], statuses: tuple[str, ...], results: str, required: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "required": list(required),
        "properties": {
            action: {"enum": list(actions)},
            "status": {"enum": list(statuses)},
            results: {"anyOf": [{"type": "null"}, {"type": "array", "items": _ITEM}]},
            "error_details": {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": MAX_DETAILS}]},
        },
    }


def _succeeded(action: str, retrieve: str) -> dict[str, Any]:
    return {
        "properties": {action: {"const": retrieve}, "status": {"const": "SUCCESS"}},
        "required": [action, "status"],
    }


def _arena_schema() -> dict[str, Any]:
    schema = _schema("action", ("retrieve", "mutate", "navigate"), tuple(STATUSES), "results", ("action", "status"))
    schema["allOf"] = [
        {
            "if": _succeeded("action", "retrieve"),
            "then": {"required": ["results"], "properties": {"results": {"type": "array"}}},
            "else": {"properties": {"results": _NOTHING}},
        }
    ]
    return schema


def _paper_schema() -> dict[str, Any]:
    required = ("action", "status", "results")
    schema = _schema("action", ("retrieve", "mutate", "navigate"), tuple(PAPER_STATUSES), "results", required)
    schema["allOf"] = [
        {
            "if": _succeeded("action", "retrieve"),
            "then": {"properties": {"results": {"type": "array", "minItems": 1}}},
            "else": {"properties": {"results": {"type": "null"}}},
        },
        {
            "if": {"properties": {"status": {"const": "SUCCESS"}}},
            "else": {"required": ["error_details"], "properties": {"error_details": {"type": "string"}}},
        },
    ]
    return schema


def _released_schema() -> dict[str, Any]:
    return _schema(
        "task_type", ("RETRIEVE", "MUTATE", "NAVIGATE"), tuple(STATUSES), "retrieved_data", ("task_type", "status")
    )


def _instructions(action: str, results: str, capitals: bool, statuses: Mapping[str, str] = STATUSES) -> str:
    def word(text: str) -> str:
        return text.upper() if capitals else text

    codes = "\n".join(f"- {code}: {meaning}." for code, meaning in statuses.items())
    return (
        "Your last message must be one JSON object and nothing else, with these keys:\n"
        f'"{action}": "{word("retrieve")}" when you were asked for information, "{word("mutate")}" when you were '
        f'asked to change something, "{word("navigate")}" when you were asked to open a page.\n'
        '"status": one of the codes below.\n'
        f'"{results}": for a {word("retrieve")} with the status SUCCESS a list of what was asked for, one element '
        "for each thing, all of the same form (a list also where it is one thing only); null in every other case.\n"
        '"error_details": null, or at most 500 characters about what went wrong when the status is not SUCCESS.\n'
        f"The codes:\n{codes}"
    )


ARENA_PROTOCOL = ResponseProtocol(
    name="arena", instructions=_instructions("action", "results", capitals=False), answer_schema=_arena_schema()
)
READ_WHOLE = "*"
"""In place of a field's name: the result is one value, and it was read."""


def reading(protocol: ResponseProtocol, fields: Collection[str]) -> ResponseProtocol:
    """The same protocol, whose schema says which fields of a result are copied off a page and not worked out."""
    if not fields:
        return protocol
    mark = {"x-origin": "read"}
    named = {field: mark for field in fields if field != READ_WHOLE}
    item = _ITEM | (mark if READ_WHOLE in fields else {}) | ({"properties": named} if named else {})
    results = {"anyOf": [{"type": "null"}, {"type": "array", "items": item}]}
    schema = protocol.answer_schema
    return protocol.model_copy(
        update={"answer_schema": schema | {"properties": schema["properties"] | {"results": results}}}
    )


PAPER_PROTOCOL = ResponseProtocol(
    name="verified-paper",
    instructions=_instructions("action", "results", capitals=False, statuses=PAPER_STATUSES)
    + "\nAll results have the same type, and objects the same keys, with null for a value that is missing. "
    "An error needs error_details.",
    answer_schema=_paper_schema(),
)
RELEASED_PROTOCOL = ResponseProtocol(
    name="verified-released",
    instructions=_instructions("task_type", "retrieved_data", capitals=True),
    answer_schema=_released_schema(),
)

PROTOCOLS: dict[str, ResponseProtocol] = {
    protocol.name: protocol for protocol in (ARENA_PROTOCOL, PAPER_PROTOCOL, RELEASED_PROTOCOL)
}


_STATUS = re.compile(r'"status"\s*:')


def refusal(protocol_name: str, reason: str, status: str = "") -> str:
    """The answer that `report_infeasible` stands for.

    A task that cannot be done has no action to name, but every protocol wants one; it is the first, and our grader does
    not compare it. An agent that wrote the whole response as its reason meant that response.
    """
    known = PROTOCOLS.get(protocol_name)
    if known is None:
        return f"{status}: {reason}" if status else reason
    start = reason.find("{")
    if not status and start >= 0 and _STATUS.search(reason, start):
        return reason
    action, _, results, details = known.answer_schema["properties"]
    response = {
        action: known.answer_schema["properties"][action]["enum"][0],
        "status": status or "UNKNOWN_ERROR",
        results: None,
        details: reason if len(reason) <= MAX_DETAILS else f"{reason[: MAX_DETAILS - 1]}…",
    }
    return json.dumps(response, ensure_ascii=False)
