"""What passes between an agent and the world: goals and observations in, decisions and answers out.

Agents may import this module and must not need more. Nothing here knows how a task is graded.
"""

import json
from collections.abc import Collection, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from pydantic import Field

from webassay.core.calls import Call as Call
from webassay.core.calls import read_calls as read_calls
from webassay.core.errors import ActionError
from webassay.core.record import Json, Record
from webassay.core.text import well_formed

Modality = Literal["tree", "screenshot", "tree+screenshot"]


class ResponseProtocol(Record):
    """The form that the agent's last message must have."""

    name: str
    """`arena` (ours), `verified-paper`, `verified-released` or `free`: selects the reader in `grading.response`."""
    instructions: str
    """Shown to the agent verbatim."""
    answer_schema: dict[str, Any] = Field(default_factory=dict)
    """JSON Schema (draft-07) of the whole response; empty for free text."""


class Goal(Record):
    """Everything the agent is told."""

    version: Literal[1] = 1
    instruction: str
    start_urls: tuple[str, ...]
    """May contain `__SITE__` placeholders (the site's name in capitals); `at()` fills them in."""
    protocol: ResponseProtocol
    sites: tuple[str, ...] = ()
    """The task's sites; requests to any other host are blocked and recorded."""
    modality: Modality = "tree"
    hints: tuple[str, ...] = ()
    """What a person would be told besides the task: user names, where the other sites are."""
    max_steps: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """How many steps there are before the episode ends; filled in when it starts."""

    def at(self, bases: Mapping[str, str]) -> Self:
        """The same goal with every `__SITE__` replaced by that site's base URL."""

        def fill(text: str) -> str:
            for site, base in bases.items():
                text = text.replace(f"__{site.upper()}__", base.rstrip("/"))
            return text

        return self.model_copy(
            update={
                "instruction": fill(self.instruction),
                "start_urls": tuple(fill(url) for url in self.start_urls),
                "hints": tuple(fill(hint) for hint in self.hints),
            }
        )


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie as environments hand it to the browser, and the browser to probes."""

    name: str
    value: str
    host: str
    """Without the port: browsers keep cookies by host name alone."""
    path: str = "/"


# --- what the agent sees -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node:
    """One line of the accessibility tree."""

    id: str
    """Empty for nodes that no action can name (static text)."""
    role: str
    name: str
    depth: int
    value: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    """In the order they are printed; a bare flag has the value `""`."""
    box: tuple[float, float, float, float] | None = None
    """x, y, width, height in CSS pixels of the viewport; None if not requested, or if there is none."""
    visible: float | None = None
    """Share of the box that is visible, 0 to 1; None if not requested."""
    clickable: bool = False
    marked: bool = False
    """Part of the set-of-marks overlay."""
    url: str = ""
    """Target of a link; empty for everything else. Part of the text if `links` are asked for."""

    def get(self, prop: str) -> str | None:
        for key, value in self.properties:
            if key == prop:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Tab:
    url: str
    title: str


ObservationPart = Literal["tree", "pruned", "boxes", "links", "screenshot", "full_screenshot", "marks", "text", "html"]


_SHOWN_BY: Mapping[str, frozenset[ObservationPart]] = {
    "tree": frozenset(("tree", "boxes", "marks")),
    "pruned": frozenset(("pruned",)),
    "screenshot": frozenset(("screenshot", "full_screenshot", "marks")),
    "text": frozenset(("text",)),
    "html": frozenset(("html",)),
}
"""A field of an observation, and the parts that fill it."""
_WITH_NODES = _SHOWN_BY["tree"] | _SHOWN_BY["pruned"]


PDF_NOTICE = "The page is a PDF file: its content is visible only in a screenshot."
_CUT_NOTICE = "The page is very long: the end of its {} was left out."


def cut_notice(part: str) -> str:
    return _CUT_NOTICE.format(part)


def tells_of_a_gap(notice: str) -> bool:
    """Whether the recorder says with it that the page held more than it could keep."""
    return notice == PDF_NOTICE or notice.startswith(_CUT_NOTICE.partition("{}")[0])


@dataclass(frozen=True, slots=True)
class Observation:
    """The page as the agent sees it. A part that was not requested is None: absent, not empty."""

    url: str
    title: str
    tabs: tuple[Tab, ...]
    active_tab: int
    step: int = 0
    tree: str | None = None
    """The accessibility tree as text; docs/observation.md specifies the format."""
    nodes: tuple[Node, ...] = ()
    """The same tree as data, for agents without a language model."""
    pruned: str | None = None
    screenshot: bytes | None = None
    screenshot_type: str = "image/jpeg"
    text: str | None = None
    html: str | None = None
    focused: str = ""
    """Id of the focused element, or empty."""
    last_error: str = ""
    """Why the previous action failed, or empty."""
    notices: tuple[str, ...] = ()
    """What happened on its own since the last step: dialogs answered, downloads, popups, blocked requests."""
    viewport: tuple[int, int] = (1280, 720)
    scroll: tuple[float, float] = (0.0, 0.0)

    def only(self, parts: Collection[ObservationPart]) -> "Observation":
        """Without what was computed for the record alone: an agent that asked for a tree must not get a picture."""
        absent: dict[str, Any] = {field: None for field, by in _SHOWN_BY.items() if by.isdisjoint(parts)}
        return replace(self, **absent, nodes=() if _WITH_NODES.isdisjoint(parts) else self.nodes)

    def find(self, role: str, name: str | None = None, *, contains: str | None = None) -> Node | None:
        """The first that `find_all` gives."""
        return next(self.find_all(role, name, contains=contains), None)

    def find_all(self, role: str, name: str | None = None, *, contains: str | None = None) -> Iterator[Node]:
        """Nodes of this role in the order of the page. `name`: exactly; `contains`: part of the name, in any case."""
        return (
            node
            for node in self.nodes
            if node.role == role
            and (name is None or node.name == name)
            and (contains is None or contains.casefold() in node.name.casefold())
        )


# --- what the agent does -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: Literal["id", "text", "number", "choice", "texts", "flag"]
    default: Any = None
    required: bool = True
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signature:
    name: str
    parameters: tuple[Parameter, ...]
    help: str
    ends_episode: bool = False

    def describe(self) -> str:
        def one(p: Parameter) -> str:
            kinds = {"number": "float", "texts": "str | list[str]", "flag": "bool"}
            return f"{p.name}: {kinds.get(p.kind, 'str')}" + ("" if p.required else f" = {p.default!r}")

        return f"{self.name}({', '.join(one(p) for p in self.parameters)})"


def _id(name: str = "bid") -> Parameter:
    return Parameter(name, "id")


def _text(name: str, default: str | None = None) -> Parameter:
    return Parameter(name, "text", default, default is None)


def _number(name: str, default: float | None = None) -> Parameter:
    return Parameter(name, "number", default, default is None)


STATUSES: Mapping[str, str] = {
    "SUCCESS": "the task is done",
    "ACTION_NOT_ALLOWED_ERROR": "the site does not offer or does not allow what is asked",
    "NOT_FOUND_ERROR": "what is asked about does not exist, or nothing fits the description",
    "PERMISSION_DENIED_ERROR": "this user may not do it",
    "DATA_VALIDATION_ERROR": "the data that the task gives is missing or is refused by the site",
    "UNKNOWN_ERROR": "it failed for any other reason",
}
"""The six status codes of the arena and their meanings; the released WebArena-Verified has the same codes."""

REFUSALS: tuple[str, ...] = tuple(code for code in STATUSES if code != "SUCCESS")
"""The codes of a task that cannot be done."""

_BUTTON = Parameter("button", "choice", "left", False, ("left", "middle", "right"))
_MODIFIERS = Parameter("modifiers", "texts", (), False)

ACTIONS: dict[str, Signature] = {
    s.name: s
    for s in (
        Signature("noop", (_number("wait_ms", 1000),), "Do nothing but let the page go on for a while."),
        Signature(
            "scroll",
            (_number("delta_x"), _number("delta_y"), Parameter("bid", "id", "", False)),
            "Scroll the page by so many pixels; with an id, the region that it names or stands in.",
        ),
        Signature("keyboard_press", (_text("key"),), "Press a key or combination, such as Enter or Control+a."),
        Signature("click", (_id(), _BUTTON, _MODIFIERS), "Click an element."),
        Signature(
            "fill",
            (_id(), _text("value"), Parameter("enable_autocomplete_menu", "flag", False, False)),
            "Replace the content of a text field; with True, the last character is typed, to open a menu of proposals.",
        ),
        Signature("hover", (_id(),), "Move the mouse over an element, to open a menu for example."),
        Signature("select_option", (_id(), Parameter("options", "texts")), "Choose in a list, by label or value."),
        Signature("tab_focus", (_number("index"),), "Bring the tab with this number (from 0) to the front."),
        Signature("new_tab", (), "Open an empty tab and bring it to the front."),
        Signature("tab_close", (), "Close the tab in front."),
        Signature("go_back", (), "Go back in the history of the tab."),
        Signature("go_forward", (), "Go forward in the history of the tab."),
        Signature("goto", (_text("url"),), "Open an address in the tab."),
        Signature("send_msg_to_user", (_text("text"),), "Give the final answer and stop.", True),
        Signature(
            "report_infeasible",
            (_text("reason"), Parameter("status", "choice", "UNKNOWN_ERROR", False, REFUSALS)),
            f"Say that the task cannot be done, and why, and stop. The status is one of {', '.join(REFUSALS)}.",
            True,
        ),
        Signature("dblclick", (_id(), _BUTTON, _MODIFIERS), "Double-click an element."),
        Signature("press", (_id(), _text("key_comb")), "Focus an element and press a key or combination."),
        Signature("focus", (_id(),), "Focus an element."),
        Signature("clear", (_id(),), "Empty a text field."),
        Signature("drag_and_drop", (_id("from_bid"), _id("to_bid")), "Drag one element onto another."),
        Signature("upload_file", (_id(), Parameter("file", "texts")), "Choose files in a file field."),
        Signature(
            "scroll_at",
            (_number("x"), _number("y"), _number("dx"), _number("dy")),
            "Scroll whatever lies under a point.",
        ),
        Signature("mouse_move", (_number("x"), _number("y")), "Move the mouse to a point."),
        Signature("mouse_down", (_number("x"), _number("y"), _BUTTON), "Press a mouse button at a point."),
        Signature("mouse_up", (_number("x"), _number("y"), _BUTTON), "Release a mouse button at a point."),
        Signature("mouse_click", (_number("x"), _number("y"), _BUTTON), "Click at a point."),
        Signature("mouse_dblclick", (_number("x"), _number("y"), _BUTTON), "Double-click at a point."),
        Signature(
            "mouse_drag_and_drop",
            (_number("from_x"), _number("from_y"), _number("to_x"), _number("to_y")),
            "Drag from one point to another.",
        ),
        Signature(
            "mouse_upload_file",
            (_number("x"), _number("y"), Parameter("file", "texts")),
            "Click at a point and choose files in the dialog that opens.",
        ),
        Signature("keyboard_down", (_text("key"),), "Press a key and hold it."),
        Signature("keyboard_up", (_text("key"),), "Release a key."),
        Signature("keyboard_type", (_text("text"),), "Type text into whatever has the focus, key by key."),
        Signature("keyboard_insert_text", (_text("text"),), "Insert text into whatever has the focus, at once."),
    )
}
"""Every action. The two baseline agents are given the first fifteen."""

BASIC_ACTIONS: tuple[str, ...] = tuple(ACTIONS)[:15]


class Action(Record):
    """One action, already validated against its signature. It is data and is never executed as code."""

    name: str
    args: dict[str, Json] = Field(default_factory=dict)

    @classmethod
    def of(cls, name: str, *args: Any, **named: Any) -> Self:
        """Validates the arguments; errors are worded for the agent that wrote them."""
        signature = ACTIONS.get(name)
        if signature is None:
            raise ActionError(f"There is no action {name!r}.", hint=f"Known actions: {', '.join(ACTIONS)}.")
        parameters = signature.parameters
        if len(args) > len(parameters):
            raise ActionError(f"{name} takes at most {len(parameters)} arguments: {signature.describe()}.")
        given: dict[str, Any] = {p.name: value for p, value in zip(parameters, args, strict=False)}
        for key, value in named.items():
            if key not in {p.name for p in parameters} or key in given:
                raise ActionError(f"{name} does not take the argument {key!r} here: {signature.describe()}.")
            given[key] = value
        checked: dict[str, Json] = {}
        for p in parameters:
            if p.name in given:
                checked[p.name] = _checked(name, p, given[p.name])
            elif p.required:
                raise ActionError(f"{name} needs {p.name!r}: {signature.describe()}.")
        return cls(name=name, args=checked)

    @property
    def text(self) -> str:
        """As an agent would write it."""
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.args.items())})"

    def get(self, name: str) -> Any:
        """The argument, or its default."""
        if name in self.args:
            return self.args[name]
        return next(p.default for p in ACTIONS[self.name].parameters if p.name == name)


def _checked(action: str, p: Parameter, value: Any) -> Json:
    # Models often write an element id as a number; this is the only repair made here.
    if p.kind == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if p.kind in ("id", "text") and isinstance(value, str):
        return well_formed(value)  # an escape such as '\\ud800' makes text that no file can hold
    if p.kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) > 1_000_000 or value != value:
            raise ActionError(f"{action}: {p.name} is out of range: {value!r}.")
        return value
    if p.kind == "flag" and isinstance(value, bool):
        return value
    if p.kind == "choice" and isinstance(value, str) and value in p.choices:
        return value
    if p.kind == "texts":
        if isinstance(value, str):
            return [well_formed(value)]
        if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            return [well_formed(item) for item in value]
    wanted = {
        "id": "an element id in quotes",
        "text": "text in quotes",
        "number": "a number",
        "texts": "a list of texts",
        "flag": "True or False",
    }
    expected = wanted.get(p.kind) or "one of " + ", ".join(p.choices)
    raise ActionError(f"{action}: {p.name} must be {expected}, not {value!r:.200}.")


def parse_actions(text: str) -> tuple[Action, ...]:
    """Reads one or more calls such as `click('12')`; see `read_calls`."""
    return tuple(Action.of(call.name, *call.args, **call.named) for call in read_calls(text, ACTIONS))


class Usage(Record):
    """What one decision cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """What the agent wants to do next. An action that ends the episode carries the answer."""

    actions: tuple[Action, ...]
    thought: str = ""
    memory: str = ""
    """The agent's own notes after this step."""
    raw: str = ""
    """The model's reply, unchanged."""
    usage: Usage | None = None
    info: Mapping[str, Json] = field(default_factory=dict)
    """Anything else worth recording: prompt hash, parse attempts, plan tree."""

    @classmethod
    def answer(cls, text: str, **rest: Any) -> Self:
        return cls(actions=(Action.of("send_msg_to_user", text),), **rest)


Walk = Generator[Action, Observation, Json]
"""A solution as a program: it yields actions, is sent the observations that follow, and returns the response."""


# --- what the agent answers ----------------------------------------------------------------------------


class Response(Record):
    """The agent's last message, read by the field names of either published protocol. Not yet graded."""

    action: Json = None
    status: Json = None
    results: Json = None
    error_details: Json = None

    @classmethod
    def strictly(cls, text: str) -> Self | None:
        """The response if the text is exactly one JSON object, else None; `grading.response` also repairs."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        return cls(
            action=value.get("action", value.get("task_type")),
            status=value.get("status"),
            results=value.get("results", value.get("retrieved_data")),
            error_details=value.get("error_details"),
        )
