"""A unit of work: one agent on one task, once. A plan is a list of these."""

from pydantic import Field

from webassay.core.record import Json, Record


class UnitOfWork(Record):
    """One episode to play. It fully determines the work, wherever it is done."""

    agent: str
    task_id: str
    trial: int = 0
    seed: int = 0
    metadata: dict[str, Json] = Field(default_factory=dict)
    """What reports need to know about the task and the agent (template, kind, sites, baseline); never the checks."""

    @property
    def id(self) -> str:
        return f"{self.agent}/{self.task_id}/{self.trial}"
