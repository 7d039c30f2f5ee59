"""The BrowserGym-style agent: the whole tree, the whole history of actions and memories, tags in the answer.

Each step it sees the task, the page, every action so far with its error and the note it made then (never an old page or
an old thought), the available actions, and the form of the answer. `agents.computer` is the same agent with another
style of seeing and acting.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from webassay.agents.models.conversation import (
    ModelAnswer,
    ask_until_read,
    books,
    cut_tree,
    estimate_tokens,
    goal_values,
    picture_of,
)
from webassay.agents.models.memory import Memory
from webassay.agents.models.prompts import hashes, render
from webassay.agents.models.thinking import ThinkingOptions, equip, thinking_factory, tips_of
from webassay.agents.models.tools import Tool, ToolResult, parse_calls
from webassay.core.errors import ActionError, AgentError
from webassay.core.interaction import (
    ACTIONS,
    BASIC_ACTIONS,
    Action,
    Call,
    Decision,
    Goal,
    Modality,
    Node,
    Observation,
    ObservationPart,
)
from webassay.core.options import Count
from webassay.llm.client import Message, Model, Reply


@dataclass(frozen=True, slots=True)
class Example:
    think: str
    memory: str
    action: str


@dataclass(frozen=True, slots=True)
class Style:
    """How an agent sees and acts."""

    name: str
    system: str
    actions: tuple[str, ...]
    example: Example
    sees_tree: bool = True


TREE_STYLE = Style(
    "generic",
    "generic_system.md",
    BASIC_ACTIONS,
    Example(
        "The form asks for a name and I know it from the order page. I fill it in and send the form.",
        "The order is number 000000189, of 2 May 2023; its total is $754.99.",
        "fill('237', 'Ana Castro')\nclick('241')",
    ),
)


@dataclass(frozen=True, slots=True)
class GenericOptions(ThinkingOptions):
    several_actions: bool = True
    """Whether one step may take more than one action."""
    parse_retries: Count = 4
    """Unreadable replies allowed before the step is given up."""
    prompt_tokens: Count = 126_000
    """Above this, lines are cut from the end of the tree."""


POINTER_ACTIONS = (
    "mouse_click",
    "mouse_dblclick",
    "mouse_move",
    "mouse_drag_and_drop",
    "scroll_at",
    "keyboard_type",
)


@dataclass(frozen=True, slots=True)
class TreeOptions(GenericOptions):
    coordinates: bool = False
    """Whether it may also point with the mouse; it then sees a screenshot beside the tree."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A reply that could be read."""

    think: str
    memory: str
    parsed: tuple[Action | Call, ...]


@dataclass(slots=True)
class _Work:
    """One step while it is being decided."""

    replies: list[Reply] = field(default_factory=list)
    unreadable: int = 0
    thoughts: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


class Generic:
    def __init__(
        self,
        model: Model,
        *,
        options: GenericOptions | None = None,
        memory: Memory | None = None,
        tools: Sequence[Tool] | None = None,
        style: Style = TREE_STYLE,
    ) -> None:
        """`memory` and `tools` replace what the options name, for some of your own."""
        self._model = model
        self._options = options or GenericOptions()
        self._points = isinstance(options, TreeOptions) and options.coordinates
        self._style = replace(style, actions=(*style.actions, *POINTER_ACTIONS)) if self._points else style
        equipment = equip(self._options, memory, tools)
        self._memory, self._toolbox = equipment.memory, equipment.toolbox
        self.name = style.name
        self.model = model.name
        self.settings = equipment.settings
        self.prompts = hashes(style.system, "generic_user.md", "tool_results.md", f"memory_{self._memory.kind}.md")
        self.wants: Sequence[ObservationPart] = ("tree",) if style.sees_tree else ("screenshot",)

    async def start(self, goal: Goal) -> None:
        self._goal = goal
        self._modality: Modality = self._options.modality or goal.modality
        if not self._style.sees_tree:
            self._modality = "screenshot"
        elif self._points and self._modality == "tree":
            self._modality = "tree+screenshot"  # Nobody can point at what they do not see.
        self.settings["modality"] = self._modality
        self.wants = _wants(self._modality) if self._style.sees_tree else ("screenshot",)
        self._memory.start(goal.instruction)
        self._toolbox.uses.clear()
        self._history: list[str] = []
        self._last: tuple[Observation, _Work] | None = None
        self._failures = 0
        self._system = Message.system(
            render(self._style.system, tips=tips_of(goal, self._options), several_sites=len(goal.sites) > 1)
        )
        self._fixed = {
            **goal_values(goal),
            "actions": _describe(self._style.actions),
            "tools": self._toolbox.guide,
            "several": self._options.several_actions,
            "memory_guide": self._memory.guide(),
            "example": self._style.example,
        }

    async def decide(self, observation: Observation) -> Decision:
        self._close_last_step(observation.last_error)
        self._memory.at(observation.url, observation.step)
        messages = self._messages(observation)
        work = _Work()
        answer = await self._ask(messages, work)
        self._failures = self._failures + 1 if answer.value is None else 0
        if self._failures > 1:
            raise AgentError(f"{self.name}: no reply could be read in two steps in a row. {answer.problem}")
        work.replies += await self._memory.tidy(self._model)
        self._last = (observation, work)
        usage, notes = books(messages, work.replies, work.unreadable)
        if answer.value is None:
            notes["problem"] = answer.problem
        if self._toolbox.tools:
            notes["tool_uses"] = self._toolbox.counts()
        return Decision(
            actions=tuple(work.actions),
            thought="\n".join(work.thoughts),
            memory=self._memory.show(),
            raw=answer.raw,
            usage=usage,
            info=notes,
        )

    async def _ask(self, messages: Sequence[Message], work: _Work) -> ModelAnswer[_Read]:
        """Asks until there is something for the browser to do, using tools on the way."""
        talk = list(messages)
        for _ in range(self._options.tool_rounds + 1):
            answer = await ask_until_read(
                self._model, talk, self._read, retries=self._options.parse_retries, purpose="step"
            )
            work.replies += answer.replies
            work.unreadable += answer.unreadable
            if answer.value is None:
                return answer
            results = self._carry_out(answer.value, work)
            if work.actions or not results:
                return answer
            talk += [Message.assistant(answer.raw), Message.user(render("tool_results.md", results=results))]
        return answer

    def _carry_out(self, read: _Read, work: _Work) -> list[tuple[str, str]]:
        if read.think:
            work.thoughts.append(read.think)
        results: list[tuple[str, str]] = []
        if read.memory and read.memory not in work.written:
            work.written.append(read.memory)
            try:
                self._memory.remember(read.memory)
            except ActionError as error:
                results.append(("<memory>", str(error)))
        for item in read.parsed:
            if isinstance(item, Action):
                work.actions.append(item)
                continue
            try:
                outcome = self._toolbox.use(item)
            except ActionError as error:
                outcome = ToolResult(f"an error: {error}")
            results.append((item.name, outcome.text))
            work.actions += outcome.actions
        work.results += results
        return results

    def _read(self, text: str) -> _Read:
        action = _tag(text, "action")
        if action is None:
            raise ActionError("There is no action in your answer.", hint="Write it between <action> and </action>.")
        parsed = parse_calls(action, self._toolbox.tools, self._style.actions)
        actions = [item for item in parsed if isinstance(item, Action)]
        if len(actions) > 1 and not self._options.several_actions:
            raise ActionError("Give exactly one action.")
        return _Read(_tag(text, "think") or "", _tag(text, "memory") or "", parsed)

    def _messages(self, observation: Observation) -> list[Message]:
        tree = observation.tree if self._modality != "screenshot" and self._style.sees_tree else None
        values = {
            **self._fixed,
            "tabs": observation.tabs,
            "active_tab": observation.active_tab,
            "picture": self._about_picture(observation, marked=tree is None and self._style.sees_tree),
            "focused": observation.focused if self._style.sees_tree else "",
            "notices": observation.notices,
            "error": observation.last_error,
            "history": "\n\n".join(self._history) or "Nothing yet.",
            "memory": "" if self._memory.in_history else self._memory.show(),
        }
        text = render("generic_user.md", tree=tree, **values)
        over = estimate_tokens(text) + estimate_tokens(self._system.text) - self._options.prompt_tokens
        if over > 0 and tree is not None:
            room = max(0, estimate_tokens(tree) - over)
            text = render("generic_user.md", tree=cut_tree(tree, room), **values)
        return [self._system, Message.user(text, *picture_of(observation))]

    def _about_picture(self, observation: Observation, *, marked: bool) -> str:
        if observation.screenshot is None:
            return ""
        width, height = observation.viewport
        marks = " The ids of the elements are drawn beside them." if marked else ""
        points = " Points are counted in its pixels, from the top left corner." if self._points else ""
        return f"The picture shows the {width} by {height} pixels that are in view.{marks}{points}"

    def _close_last_step(self, error: str) -> None:
        """A step's error is known only when the next page is seen."""
        if self._last is None:
            return
        seen, work = self._last
        shown = seen.nodes if self._modality != "screenshot" and self._style.sees_tree else ()
        lines = [f"## Step {seen.step}, on {seen.url}", "### Action", _told(work.actions, shown) or "(none)"]
        if work.results:
            lines += ["### Tools", *(f"{call}: {result}" for call, result in work.results)]
        if error:
            lines += ["### Error", error]
        if work.written and self._memory.in_history:
            lines += ["### Memory", *work.written]
        self._history.append("\n".join(lines))
        self._last = None


def _told(actions: Sequence[Action], nodes: Sequence[Node]) -> str:
    """With what each one was done to: on a later page, its id means something else or nothing."""
    names = {node.id: f"{node.role} {node.name!r:.100}" for node in nodes if node.id}
    lines = []
    for action in actions:
        targets = [names[value] for value in action.args.values() if isinstance(value, str) and value in names]
        lines.append(f"{action.text}  # {', '.join(targets)}" if targets else action.text)
    return "\n".join(lines)


def _wants(modality: Modality) -> tuple[ObservationPart, ...]:
    parts: dict[Modality, tuple[ObservationPart, ...]] = {
        "tree": ("tree",),
        "tree+screenshot": ("tree", "screenshot"),
        # Without a tree, the ids must be readable in the picture.
        "screenshot": ("screenshot", "marks"),
    }
    return parts[modality]


def _describe(names: Sequence[str]) -> str:
    return "\n".join(f"{ACTIONS[name].describe()}: {ACTIONS[name].help}" for name in names)


def _tag(text: str, name: Literal["think", "memory", "action"]) -> str | None:
    """The last one if there are several: models correct themselves as they go."""
    end = text.rfind(f"</{name}>")
    start = text.rfind(f"<{name}>", 0, max(end, 0))
    return text[start + len(name) + 2 : end].strip() if start >= 0 else None


GENERIC_AGENT = thinking_factory(
    "generic",
    "BrowserGym-style: the whole tree, the whole history of actions and memories.",
    lambda model, options: Generic(model, options=options),
    TreeOptions,
)
