"""A tree of plans: what is being tried, why earlier attempts were given up, and the notes of each."""

from dataclasses import dataclass, field

from webassay.core.errors import ActionError
from webassay.core.record import Json

MAX_PLANS = 200


@dataclass(slots=True)
class PlanNode:
    id: int
    intent: str
    parent: int | None
    url: str
    """Where the agent was when it made the plan; going back to the plan goes back there."""
    level: int
    visible: bool = True
    notes: list[str] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    """Why its subplans were given up."""


class PlanTree:
    """Plan 0 is the task. Ids are never reused, so a mention of an old plan cannot mean a new one."""

    def __init__(self, objective: str = "") -> None:
        self._url = ""
        self._step = 0
        self.plans: dict[int, PlanNode] = {0: PlanNode(0, objective, None, "", 0)}
        self.active_id = 0

    @property
    def active(self) -> PlanNode:
        return self.plans[self.active_id]

    def at(self, url: str, step: int) -> None:
        self._url, self._step = url, step
        if not self.plans[0].url:
            self.plans[0].url = url

    def took_step(self) -> None:
        self.active.steps.append(self._step)

    def note(self, text: str) -> None:
        line = f"STEP {self._step}: {text}"
        if any(old.partition(": ")[2] == text for old in self.active.notes):
            raise ActionError("That note is already there.", hint="Do something else.")
        self.active.notes.append(line)

    def branch(self, parent_id: int, intent: str) -> PlanNode:
        parent = self.visible(parent_id)
        if not intent.strip():
            raise ActionError("A plan needs an intent.")
        if len(self.plans) >= MAX_PLANS:
            raise ActionError(f"There are {MAX_PLANS} plans already.")
        plan = PlanNode(len(self.plans), intent.strip(), parent.id, self._url, parent.level + 1)
        self.plans[plan.id] = plan
        self.active_id = plan.id
        return plan

    def prune(self, plan_id: int, reason: str) -> PlanNode:
        """Back to that plan as it was when it was made: what followed is hidden, the reason stays."""
        plan = self.visible(plan_id)
        for other in self.plans.values():
            later_sibling = other.parent == plan.parent and other.id > plan.id
            if self._is_below(other, plan) or (later_sibling and plan.parent is not None):
                other.visible = False
        for other in self.plans.values():
            if other.parent is not None and not self.plans[other.parent].visible:
                other.visible = False
        plan.notes.clear()
        plan.steps.clear()
        plan.given_up.append(reason.strip() or "no reason given")
        self.active_id = plan.id
        return plan

    def show(self) -> str:
        return "\n".join(self._lines(self.plans[0]))

    def to_json(self) -> list[Json]:
        return [
            {
                "id": plan.id,
                "parent": plan.parent,
                "intent": plan.intent,
                "url": plan.url,
                "visible": plan.visible,
                "active": plan.id == self.active_id,
                "notes": list(plan.notes),
                "steps": list(plan.steps),
                "given_up": list(plan.given_up),
            }
            for plan in self.plans.values()
        ]

    def visible(self, plan_id: int) -> PlanNode:
        plan = self.plans.get(plan_id)
        if plan is None or not plan.visible:
            known = ", ".join(str(p.id) for p in self.plans.values() if p.visible)
            raise ActionError(f"There is no plan [{plan_id}].", hint=f"Plans: {known}.")
        return plan

    def _is_below(self, plan: PlanNode, top: PlanNode) -> bool:
        while plan.parent is not None:
            if plan.parent == top.id:
                return True
            plan = self.plans[plan.parent]
        return False

    def _lines(self, plan: PlanNode) -> list[str]:
        indent = "  " * plan.level
        active = " (active)" if plan.id == self.active_id else ""
        lines = [f"{indent}[{plan.id}] {plan.intent}{active}"]
        lines += [f"{indent}  given up below: {reason}" for reason in plan.given_up]
        lines += [f"{indent}  note: {note}" for note in plan.notes]
        for child in self.plans.values():
            if child.parent == plan.id and child.visible:
                lines += self._lines(child)
        return lines
