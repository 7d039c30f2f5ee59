"""webassay: find out, by test, what web agents are really made of.

    from webassay import Workbench

Names are loaded when they are first used, so that `import webassay` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webassay.core.interaction import Action, Decision, Goal, Observation
    from webassay.core.sync import run_sync
    from webassay.core.task import Task
    from webassay.core.trajectory import Trajectory
    from webassay.core.verdict import Verdict
    from webassay.play.episode import Episode, Limits
    from webassay.workbench import (
        GradeOptions,
        ModelOptions,
        PlayOptions,
        Selection,
        VerifyOptions,
        Workbench,
    )

__all__ = [
    "Action",
    "Decision",
    "Episode",
    "Goal",
    "GradeOptions",
    "Limits",
    "ModelOptions",
    "Observation",
    "PlayOptions",
    "Selection",
    "Task",
    "Trajectory",
    "Verdict",
    "VerifyOptions",
    "Workbench",
    "run_sync",
]

_HOMES = {
    "Episode": "webassay.play.episode",
    "Limits": "webassay.play.episode",
    "Task": "webassay.core.task",
    "Trajectory": "webassay.core.trajectory",
    "Verdict": "webassay.core.verdict",
    "run_sync": "webassay.core.sync",
    **dict.fromkeys(("Action", "Decision", "Goal", "Observation"), "webassay.core.interaction"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'webassay' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "webassay.workbench")), name)


def __dir__() -> list[str]:
    return __all__
