"""The AgentOccam-style agent: a short page, few actions, and a tree of plans.

Plans can be branched and pruned, and pruning really goes back to the page where the plan was made. The history shows
only the steps of the active plan, each with the part of the page the model pointed at. If an answer cannot be carried
out, the model is asked again, a bounded number of times. A judge may choose between candidate actions.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urljoin

from webassay.agents.models.conversation import ModelAnswer, ask_until_read, books, goal_values, picture_of
from webassay.agents.models.memory import Memory, MemoryName, PlanMemory
from webassay.agents.models.plans import PlanTree
from webassay.agents.models.prompts import hashes, render
from webassay.agents.models.thinking import ThinkingOptions, equip, thinking_factory, tips_of
from webassay.agents.models.tools import Tool, ToolResult, parse_calls
from webassay.core.errors import ActionError, AgentError
from webassay.core.interaction import REFUSALS, Action, Call, Decision, Goal, Node, Observation, ObservationPart
from webassay.core.options import Count, Positive
from webassay.core.record import Json, content_hash
from webassay.llm.client import Message, Model, Reply, UnusableReply, ask_json

MAX_HIGHLIGHT_LINES = 30
MAX_HIGHLIGHT_WORDS = 200


@dataclass(frozen=True, slots=True)
class OccamOptions(ThinkingOptions):
    modality: Literal["tree", "tree+screenshot"] | None = None
    """Whether a screenshot comes with the tree, which its actions need; none: if the task asks for a picture."""
    memory: MemoryName = "plans"
    max_steps: Count | None = None
    """Only to announce the final step; none: as many as there are."""
    validity_retries: Count = 10
    """Impossible actions allowed before the step is given up."""
    detailed_steps: Count | None = None
    """How many of the latest steps are shown with their page; none: all of them, as in WebChoreArena."""
    judge: bool = False
    """The model proposes several actions and chooses one in a second call."""
    candidates: Positive = 4
    """At most this many proposals for the judge."""
    coordinates: bool = False
    """Whether it may also point with the mouse; it then sees a screenshot beside the tree."""
    seed: Count = 0
    """For the order in which the judge sees the proposals."""


# --- what the model writes --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OccamCommand:
    """One action in AgentOccam's own notation."""

    name: str
    args: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join([self.name, *(f"[{arg}]" for arg in self.args)])


@dataclass(frozen=True, slots=True)
class Proposal:
    commands: tuple[OccamCommand | Call, ...]
    action_text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """A reply that could be read; several proposals only if a judge is to choose."""

    summary: str
    description: str
    highlight: tuple[str, ...]
    proposals: tuple[Proposal, ...]


_HEADINGS = ("INTERACTION HISTORY SUMMARY", "OBSERVATION DESCRIPTION", "REASON", "ACTION", "OBSERVATION HIGHLIGHT")
_HEADING = re.compile(rf"^[ \t#*]*({'|'.join(_HEADINGS)})[ \t*]*:[ \t*]*", re.MULTILINE)
_CANDIDATE = re.compile(r"^[ \t#*]*CANDIDATE \d+[ \t*]*:[ \t*]*", re.MULTILINE)
_POINTING = {"click_at": 2, "hover_at": 2, "drag": 4}
"""Commands with points, and how many numbers each takes; `type_at` takes two and a text."""
_WORDS = (
    *("click", "type", "go_back", "go_home", "goto", "tab_focus", "note", "stop"),
    *("report_infeasible", "branch", "prune", "type_at"),
    *_POINTING,
)
_NEXT_COMMAND = re.compile(rf"\n[ \t]*(?=(?:{'|'.join(_WORDS)})(?:\s|\[|$))")
_NUMBER = r"\[\s*(-?\d+(?:\.\d+)?)\s*\]\s*"
_REFUSAL = re.compile(r"(?:\[\s*([A-Za-z_]+)\s*\]\s*)?\[(.*)\]", re.DOTALL)


def sections(text: str) -> dict[str, str]:
    """The text under each heading; the last one if a heading occurs twice."""
    marks = list(_HEADING.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return {mark[1]: text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=False)}


def parse_command(text: str) -> OccamCommand:
    match = re.match(r"([a-z_]+)\s*(.*)", text.strip(), re.DOTALL)
    name, rest = match.groups() if match else ("", "")
    if name in ("go_back", "go_home") and not rest:
        return OccamCommand(name)
    if name == "click" and (found := re.fullmatch(r"\[([^\[\]]+)\]", rest)):
        return OccamCommand(name, (found[1].strip(),))
    if name == "tab_focus" and (found := re.fullmatch(r"\[\s*(\d+)\s*\]", rest)):
        return OccamCommand(name, (found[1],))
    if name == "goto" and (found := re.fullmatch(r"\[\s*(\S+)\s*\]", rest)):
        return OccamCommand(name, (found[1],))
    if name in ("note", "stop"):
        inner = re.fullmatch(r"\[(.*)\]", rest, re.DOTALL)
        if inner or (name == "stop" and rest):
            return OccamCommand(name, ((inner[1] if inner else rest).strip(),))
    if name == "report_infeasible" and (found := _REFUSAL.fullmatch(rest)):
        return OccamCommand(name, (found[1] or "", found[2].strip()))
    if name in ("branch", "prune") and (found := re.fullmatch(r"\[\s*(\d+)\s*\]\s*\[(.*)\]", rest, re.DOTALL)):
        return OccamCommand(name, (found[1], found[2].strip()))
    if name == "type" and (command := _parse_type(rest)) is not None:
        return command
    if name in _POINTING and (found := re.fullmatch(_NUMBER * _POINTING[name], rest)):
        return OccamCommand(name, found.groups())
    if name == "type_at" and (found := re.match(_NUMBER, rest)) and (command := _parse_type(rest[found.end() :])):
        return OccamCommand(name, (found[1], *command.args))
    raise ActionError(
        f"{text.strip()!r:.200} is not an action.",
        hint="Write one of the actions exactly as described, such as click [7] or stop [the answer].",
    )


def _parse_type(rest: str) -> OccamCommand | None:
    found = re.fullmatch(r"\[([^\[\]]+)\]\s*\[(.*)\]", rest, re.DOTALL)
    if not found:
        return None
    element, text, enter = found[1].strip(), found[2], "1"
    # The text may contain brackets, so the switch is searched for from the end.
    if switch := re.fullmatch(r"(.*)\]\s*\[\s*(?:press_enter_after\s*=\s*)?([01])\s*", text, re.DOTALL):
        text, enter = switch[1], switch[2]
    return OccamCommand("type", (element, text, enter))


# --- the page ---------------------------------------------------------------------------------------------


def highlight(page: str, ids: Sequence[str]) -> str:
    """The lines of these elements with their ancestors, descendants and named siblings; elements of large parts are
    left out."""
    lines = page.split("\n")
    depths = [len(line) - len(line.lstrip()) for line in lines]
    kept: set[int] = set()
    for element in ids:
        mark = f"[{element}]"
        at = next((index for index, line in enumerate(lines) if mark in line), None)
        if at is None:
            continue
        with_this = kept | _around(lines, depths, at)
        if len(with_this) < MAX_HIGHLIGHT_LINES:
            kept = with_this
    return "\n".join(lines[index] for index in sorted(kept))


def _around(lines: Sequence[str], depths: Sequence[int], at: int) -> set[int]:
    kept = {at}
    for index in range(at + 1, len(lines)):
        if depths[index] <= depths[at]:
            break
        kept.add(index)
    depth = depths[at]
    for index in range(at - 1, -1, -1):
        if depths[index] < depth:
            kept.add(index)
            depth = depths[index]
        elif depths[index] == depths[at] == depth and "'" in lines[index]:
            kept.add(index)
    for index in range(at + 1, len(lines)):
        if depths[index] < depths[at]:
            break
        if depths[index] == depths[at] and "'" in lines[index]:
            kept.add(index)
    return kept


@dataclass(frozen=True, slots=True)
class _Past:
    """A step as the history shows it."""

    step: int
    plan: int
    url: str
    page: str
    page_hash: str
    summary: str
    reason: str
    action: str


@dataclass(slots=True)
class _Work:
    replies: list[Reply] = field(default_factory=list)
    unreadable: int = 0
    notes: dict[str, Json] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    error: str = ""


class Occam:
    name = "occam"

    def __init__(
        self,
        model: Model,
        *,
        options: OccamOptions | None = None,
        memory: Memory | None = None,
        tools: Sequence[Tool] | None = None,
        judge: Model | None = None,
    ) -> None:
        """`memory` and `tools` replace what the options name, for some of your own."""
        self._model = model
        self._judge = judge or model
        self._options = options or OccamOptions()
        # Plans have commands of their own; only what another memory offers is a tool.
        equipment = equip(self._options, memory, tools, lambda own: () if isinstance(own, PlanMemory) else own.tools())
        self._memory, self._toolbox = equipment.memory, equipment.toolbox
        self.model = model.name
        self.settings = equipment.settings
        used = ["occam_system.md", "occam_user.md", "tool_results.md", f"memory_{self._memory.kind}.md"]
        self.prompts = hashes(*used, *(["occam_judge.md"] if self._options.judge else []))
        self.wants: Sequence[ObservationPart] = ("pruned",)

    async def start(self, goal: Goal) -> None:
        self._goal = goal
        modality = self._options.modality or goal.modality
        pictures = modality != "tree" or self._options.coordinates
        self.wants = ("pruned", "screenshot") if pictures else ("pruned",)
        self.settings["modality"] = "tree+screenshot" if pictures else "tree"
        self._memory.start(goal.instruction)
        own = isinstance(self._memory, PlanMemory)
        self._plans = self._memory.tree if isinstance(self._memory, PlanMemory) else PlanTree(goal.instruction)
        self._toolbox.uses.clear()
        self._past: list[_Past] = []
        self._failures = 0
        self._error = ""
        self._results: list[tuple[str, str]] = []
        self._home = _home(goal)
        self._last_step = self._options.max_steps if self._options.max_steps is not None else goal.max_steps
        self._system = Message.system(
            render(
                "occam_system.md",
                judge=self._options.judge,
                candidates=self._options.candidates,
                home=bool(self._home),
                tools=self._toolbox.guide,
                memory_guide="" if own else self._memory.guide(),
                response=goal.protocol.instructions,
                tips=tips_of(goal, self._options),
                several_sites=len(goal.sites) > 1,
                refusals=REFUSALS,
                coordinates=self._options.coordinates,
            )
        )

    async def decide(self, observation: Observation) -> Decision:
        self._memory.at(observation.url, observation.step)
        self._plans.at(observation.url, observation.step)
        self._observation = observation
        self._page = observation.pruned if observation.pruned is not None else observation.tree or ""
        messages = self._messages(observation)
        work = _Work()
        answer, chosen = await self._ask(messages, work)
        self._failures = self._failures + 1 if chosen is None else 0
        if self._failures > 1:
            raise AgentError(f"occam: no action could be carried out in two steps in a row. {answer.problem}")
        self._error, self._results = work.error, work.results
        if chosen is not None and answer.value is not None:
            self._plans.took_step()
            self._past.append(self._remembered(observation, answer.value, chosen))
        work.replies += await self._memory.tidy(self._model)
        usage, notes = books(messages, work.replies, work.unreadable)
        notes |= {**work.notes, "plans": self._plans.to_json()}
        if chosen is None:
            notes["problem"] = answer.problem
        if self._toolbox.tools:
            notes["tool_uses"] = self._toolbox.counts()
        return Decision(
            actions=tuple(work.actions),
            thought="" if chosen is None else chosen.reason,
            memory=self._memory.show(),
            raw=answer.raw,
            usage=usage,
            info=notes,
        )

    # --- asking ---

    async def _ask(self, messages: Sequence[Message], work: _Work) -> tuple[ModelAnswer[ReplyParts], Proposal | None]:
        talk = list(messages)
        for _ in range(self._options.tool_rounds + 1):
            answer = await ask_until_read(
                self._model, talk, self._read, retries=self._options.validity_retries, purpose="step"
            )
            work.replies += answer.replies
            work.unreadable += answer.unreadable
            if answer.value is None:
                return answer, None
            chosen = await self._choose(answer.value, work)
            results = self._carry_out(chosen, work)
            if work.actions or not results:
                return answer, chosen
            talk += [Message.assistant(answer.raw), Message.user(render("tool_results.md", results=results))]
        return answer, chosen

    async def _choose(self, reading: ReplyParts, work: _Work) -> Proposal:
        proposals = list(reading.proposals)
        if len(proposals) == 1:
            return proposals[0]
        # Shuffled, because a judge prefers what it reads first.
        random.Random(f"{self._options.seed}/{self._observation.step}").shuffle(proposals)
        schema = {
            "type": "object",
            "properties": {
                "ratings": {"type": "array", "items": {"type": "string"}},
                "choice": {"type": "integer", "minimum": 0, "maximum": len(proposals) - 1},
            },
            "required": ["ratings", "choice"],
            "additionalProperties": False,
        }
        question = render(
            "occam_judge.md",
            instruction=self._goal.instruction,
            plans=self._plans.show(),
            observation=self._page,
            candidates=[(proposal.reason, proposal.action_text) for proposal in proposals],
        )
        choice = 0
        try:
            verdict, replies = await ask_json(self._judge, [Message.user(question)], schema=schema, purpose="judge")
            choice = verdict["choice"]
            work.notes["ratings"] = verdict["ratings"]
        except UnusableReply as error:
            replies = error.replies
        work.replies += replies
        work.notes["candidates"] = [proposal.action_text for proposal in proposals]
        return proposals[choice]

    def _messages(self, observation: Observation) -> list[Message]:
        own = isinstance(self._memory, PlanMemory)
        text = render(
            "occam_user.md",
            **goal_values(self._goal),
            step=observation.step,
            last_step=None if self._last_step is None else self._last_step - 1,
            final=self._last_step is not None and observation.step + 1 >= self._last_step,
            plans=self._plans.show(),
            memory="" if own else self._memory.show(),
            history=self._history() or "(nothing yet)",
            url=observation.url,
            tabs=observation.tabs,
            active_tab=observation.active_tab,
            observation=self._page,
            picture="A screenshot of the part that is in view comes with it." if observation.screenshot else "",
            notices=observation.notices,
            error=" ".join(filter(None, (self._error, observation.last_error))),
        )
        return [self._system, Message.user(text, *picture_of(observation))]

    def _history(self) -> str:
        active = set(self._plans.active.steps)
        steps = [past for past in self._past if past.plan == self._plans.active_id and past.step in active]
        detailed = len(steps) if self._options.detailed_steps is None else self._options.detailed_steps
        now = content_hash(self._page)
        lines: list[str] = []
        for place, past in enumerate(steps):
            page = "(the same as the CURRENT OBSERVATION)" if past.page_hash == now else past.page
            shown = page if place >= len(steps) - detailed else past.summary
            lines.append(
                f"STEP {past.step}\nPAGE ({past.url}): {shown}\nREASON: {past.reason}\nACTION: {past.action}\n"
            )
        if self._results:
            lines += [f"{call} gave: {result}" for call, result in self._results]
        return "\n".join(lines).rstrip()

    def _remembered(self, observation: Observation, reading: ReplyParts, chosen: Proposal) -> _Past:
        pointed_at = highlight(self._page, reading.highlight)
        short = pointed_at and len(pointed_at.split()) < MAX_HIGHLIGHT_WORDS
        return _Past(
            step=observation.step,
            plan=self._plans.active_id,
            url=observation.url,
            page="\n" + pointed_at if short else reading.description,
            page_hash=content_hash(self._page),
            summary=reading.description,
            reason=chosen.reason,
            action=chosen.action_text,
        )

    # --- reading ---

    def _read(self, text: str) -> ReplyParts:
        blocks = _CANDIDATE.split(text) if self._options.judge else [text]
        parts = sections(text)
        proposals: list[Proposal] = []
        problem = ActionError("There is no action in your answer.", hint="Write it below the heading ACTION:")
        for block in blocks[1:] if len(blocks) > 1 else blocks:
            found = sections(block)
            if "ACTION" not in found:
                continue
            try:
                proposal = self._proposal(found["ACTION"], found.get("REASON", ""))
            except ActionError as error:
                problem = error
                continue
            if proposal.action_text not in [known.action_text for known in proposals]:
                proposals.append(proposal)
        if not proposals:
            raise problem
        return ReplyParts(
            summary=parts.get("INTERACTION HISTORY SUMMARY", ""),
            description=parts.get("OBSERVATION DESCRIPTION", ""),
            highlight=tuple(re.findall(r"[A-Za-z]*\d+", parts.get("OBSERVATION HIGHLIGHT", ""))),
            proposals=tuple(proposals[: self._options.candidates]),
        )

    def _proposal(self, text: str, reason: str) -> Proposal:
        text = text.strip().strip("`").strip()
        commands: list[OccamCommand | Call] = []
        if self._toolbox.tools and re.match(rf"(?:{'|'.join(self._toolbox.tools)})\(", text):
            commands += [item for item in parse_calls(text, self._toolbox.tools, ()) if isinstance(item, Call)]
        else:
            pieces = _NEXT_COMMAND.split(text)
            # The answer of a stop may contain anything, even lines that look like commands.
            if text.startswith(("stop", "report_infeasible")):
                pieces = [text]
            commands += [parse_command(piece) for piece in pieces]
        acting = [item for item in commands if not (isinstance(item, OccamCommand) and item.name == "note")]
        if len(acting) > 1 and not all(isinstance(item, Call) for item in acting):
            raise ActionError("Give one action only; beside it there may be notes.")
        for item in commands:
            if isinstance(item, OccamCommand):
                self._check(item)
        return Proposal(tuple(commands), text, reason)

    def _check(self, command: OccamCommand) -> None:
        if command.name in ("click", "type") and f"[{command.args[0]}]" not in self._page:
            raise ActionError(
                f"There is no element [{command.args[0]}] on the page, so {command.text!r:.200} cannot be done.",
                hint="Choose an id from the CURRENT OBSERVATION.",
            )
        if command.name in (*_POINTING, "type_at"):
            if not self._options.coordinates:
                raise ActionError(f"There is no {command.name} here: name elements by their ids.")
            _pointed(command)
        if command.name == "go_home" and not self._home:
            raise ActionError("There is no go_home in this task.")
        if command.name == "tab_focus" and int(command.args[0]) >= (tabs := len(self._observation.tabs)):
            raise ActionError(
                f"There is no tab {command.args[0]}.",
                hint=f"Tabs are counted from 0, and the last one is {tabs - 1}." if tabs > 1 else "Only one is open.",
            )
        if command.name == "goto":
            self._address(command.args[0])
        if command.name == "report_infeasible":
            _refused(command)
        if command.name in ("branch", "prune"):
            self._plans.visible(int(command.args[0]))

    # --- doing ---

    def _carry_out(self, proposal: Proposal, work: _Work) -> list[tuple[str, str]]:
        results: list[tuple[str, str]] = []
        for item in proposal.commands:
            try:
                if isinstance(item, Call):
                    outcome = self._toolbox.use(item)
                    results.append((item.name, outcome.text))
                else:
                    outcome = ToolResult("", self._do(item))
            except ActionError as error:
                outcome = ToolResult(str(error))
                if isinstance(item, Call):
                    results.append((item.name, f"an error: {error}"))
                else:
                    work.error = str(error)
            work.actions += outcome.actions
        work.results += results
        return results

    def _do(self, command: OccamCommand) -> tuple[Action, ...]:
        args = command.args
        if command.name == "click":
            return (Action.of("click", args[0]),)
        if command.name == "type":
            return self._type(*args)
        if command.name in (*_POINTING, "type_at"):
            return _pointed(command)
        if command.name == "go_back":
            return (Action.of("go_back"),)
        if command.name == "go_home":
            return (Action.of("goto", self._home),)
        if command.name == "goto":
            return (Action.of("goto", self._address(args[0])),)
        if command.name == "tab_focus":
            return (Action.of("tab_focus", int(args[0])),)
        if command.name == "stop":
            return (Action.of("send_msg_to_user", args[0]),)
        if command.name == "report_infeasible":
            return (_refused(command),)
        if command.name == "note":
            self._memory.remember(args[0])
        elif command.name == "branch":
            self._plans.branch(int(args[0]), args[1])
        else:
            plan = self._plans.prune(int(args[0]), args[1])
            if plan.url and plan.url != self._observation.url:
                return (Action.of("goto", plan.url),)
        return ()

    def _address(self, written: str) -> str:
        try:
            return urljoin(self._observation.url, written)
        except ValueError:
            raise ActionError(
                f"{written!r:.200} is not an address.",
                hint="Give a whole one, or a path of this site: goto [/orders/17].",
            ) from None

    def _type(self, element: str, text: str, enter: str) -> tuple[Action, ...]:
        nodes = self._observation.nodes
        at = next((index for index, node in enumerate(nodes) if node.id == element), None)
        if at is not None and _has_choices(nodes, at):
            return (Action.of("select_option", element, text),)
        typed = Action.of("fill", element, text)
        return (typed, Action.of("press", element, "Enter")) if enter == "1" else (typed,)


def _pointed(command: OccamCommand) -> tuple[Action, ...]:
    if command.name == "type_at":
        x, y, text, enter = command.args
        if not re.fullmatch(r"-?\d+(?:\.\d+)?", y):
            raise ActionError(f"{y!r} is not a number.", hint="Write type_at [x] [y] [text] [enter].")
        typed = (Action.of("mouse_click", float(x), float(y)), Action.of("keyboard_type", text))
        return (*typed, Action.of("keyboard_press", "Enter")) if enter == "1" else typed
    name = {"click_at": "mouse_click", "hover_at": "mouse_move", "drag": "mouse_drag_and_drop"}[command.name]
    return (Action.of(name, *map(float, command.args)),)


def _refused(command: OccamCommand) -> Action:
    status, reason = command.args
    return Action.of("report_infeasible", reason, *filter(None, [status]))


def _has_choices(nodes: Sequence[Node], at: int) -> bool:
    if nodes[at].role not in ("combobox", "listbox"):
        return False
    for node in nodes[at + 1 :]:
        if node.depth <= nodes[at].depth:
            return False
        if node.role in ("option", "menuitem"):
            return True
    return False


def _home(goal: Goal) -> str:
    """The page that lists the other sites, if there are any: the first address in the hints."""
    if len(goal.sites) < 2:
        return ""
    found = re.search(r"https?://[^\s)>\"']+", " ".join(goal.hints))
    return found[0].rstrip(".,;:") if found else goal.start_urls[0]


OCCAM_AGENT = thinking_factory(
    "occam",
    "AgentOccam-style: a pruned tree, plans that branch and prune, notes.",
    lambda model, options: Occam(model, options=options),
    OccamOptions,
)
