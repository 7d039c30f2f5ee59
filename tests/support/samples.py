"""Small records for tests that are about something else."""

from webassay.core.interaction import Goal
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.task import ResponseCheck, Task
from webassay.core.trajectory import AgentInfo, Ending, Trajectory
from webassay.core.verdict import Fingerprint, Verdict


def goal(**changes) -> Goal:
    given = {"instruction": "How many?", "start_urls": ("__SHOP__/",), "protocol": ARENA_PROTOCOL, "sites": ("shop",)}
    return Goal(**{**given, **changes})


def task(**changes) -> Task:
    given = {
        "id": "shop.count.0",
        "benchmark": "arena",
        "template": "shop.count",
        "kind": "retrieve",
        "goal": goal(),
        "checks": (ResponseCheck(action="retrieve"),),
        "sites": ("shop",),
    }
    return Task(**{**given, **changes})


def trajectory(**changes) -> Trajectory:
    given = {
        "id": "oracle/shop.count.0/0/0",
        "task_id": "shop.count.0",
        "goal": goal(),
        "agent": AgentInfo(name="oracle"),
        "ending": Ending(kind="answered"),
    }
    return Trajectory(**{**given, **changes})


def verdict(**changes) -> Verdict:
    given = {
        "trajectory_id": "oracle/shop.count.0/0/0",
        "task_id": "shop.count.0",
        "status": "pass",
        "fingerprint": Fingerprint(grader="rules", version="1", source="sha256:0"),
    }
    return Verdict(**{**given, **changes})
