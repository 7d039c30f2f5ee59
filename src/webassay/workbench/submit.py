"""A run as others expect results: WebArena-Verified's submission package, and a table like AgentLab's."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from webassay.analysis.output.document import Document, Section
from webassay.benchmarks.base import Selection
from webassay.benchmarks.verified import BENCHMARK, HARD, number_of
from webassay.compose.given import AnyPath, Paths
from webassay.compose.setup import Setup
from webassay.compose.tasks import select
from webassay.core.errors import InputError
from webassay.core.progress import Progress
from webassay.core.summary import TrajectorySummary
from webassay.importers.originals import write_files
from webassay.importers.webarena_verified import log_files
from webassay.store.runs import open_run
from webassay.workbench.report import read_runs


@dataclass(frozen=True)
class Submission:
    """What a submission says of itself."""

    name: str
    reference: str
    """A page about the agent."""
    agent: str = ""
    """Whose episodes; empty: the only one of the run."""
    version: str | None = None
    contact: str | None = None
    verified_tasks: str = ""
    """The task file; empty: the fetched one."""


def package_submission(setup: Setup, run: AnyPath, out: AnyPath, told: Submission) -> dict[str, Any]:
    """A package for WebArena-Verified's leaderboard: task folders, `submission.json` and `manifest.json`. Returns what
    `submission.json` says."""
    out = Path(out)
    if not re.match(r"https?://", told.reference):
        raise InputError(
            f"{told.reference!r} is not a web address.", hint="The reference is a page about the agent: https://…"
        )
    if out.exists():
        raise InputError(f"{out} already exists.", hint="Choose a new folder.")
    scopes = {"full": _numbers(setup, BENCHMARK, told), "hard": _numbers(setup, HARD, told)}
    there: set[int] = set()
    with open_run(Path(run), setup.tell) as store:
        agent = _agent([unit.agent for unit in store.units()], told.agent)
        for unit, trajectory in store.trajectories():
            number = re.search(r"\.(\d+)$", unit.task_id)
            if unit.agent != agent or unit.trial or number is None or int(number[1]) not in scopes["full"]:
                continue
            write_files(out / number[1], log_files(trajectory, store.blobs))
            there.add(int(number[1]))
            setup.on_progress(Progress("packing", len(there)))
    if not there:
        raise InputError(f"{run} has no episodes by {agent} on WebArena-Verified's tasks.")
    said = {
        "name": told.name,
        "leaderboard": "both",
        "reference": told.reference,
        "version": told.version,
        "contact_info": told.contact,
        "packaged_tasks": {name: _coverage(there, numbers) for name, numbers in scopes.items()},
    }
    (out / "submission.json").write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n")
    (out / "manifest.json").write_text(json.dumps(_manifest(out), indent=2) + "\n")
    return said


def _numbers(setup: Setup, benchmark: str, told: Submission) -> set[int]:
    return set(map(number_of, select(Selection(benchmark=benchmark, file=told.verified_tasks), setup).tasks))


def _agent(known: Sequence[str], wanted: str) -> str:
    agents = sorted(set(known))
    if wanted and wanted not in agents:
        raise InputError(f"The run has no agent {wanted!r}.", hint=f"It has {', '.join(agents)}.")
    if not wanted and len(agents) != 1:
        raise InputError(f"The run has {len(agents)} agents.", hint=f"Name one with --agent: {', '.join(agents)}.")
    return wanted or agents[0]


def _coverage(there: set[int], expected: set[int]) -> Mapping[str, int]:
    valid = len(there & expected)
    return {"valid": valid, "incomplete": 0, "missing": len(expected) - valid, "expected": len(expected)}


def _manifest(folder: Path) -> dict[str, Any]:
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {
        "schema_version": "1.0",
        "created_at_utc": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "files": [
            {
                "path": name,
                "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
                "size_bytes": (folder / name).stat().st_size,
            }
            for name in files
        ],
    }


# --- AgentLab -----------------------------------------------------------------------------------------------------

COLUMNS = (
    *("agent.agent_name", "agent.chat_model.model_name", "env.benchmark", "env.task_name", "env.task_seed"),
    *("err_msg", "stack_trace", "cum_reward", "n_steps", "terminated", "truncated"),
    *("stats.cum_steps", "stats.cum_n_token_agent_messages", "stats.cum_input_tokens", "stats.cum_output_tokens"),
    *("stats.cum_cost", "stats.cum_step_elapsed"),
)
"""As AgentLab's result tables call them."""


def agentlab_table(setup: Setup, runs: Paths, grader: str = "") -> Document:
    """One line an episode, with the columns of AgentLab's result tables. No verdict is an empty reward, not a 0."""
    lines = []
    with read_runs(setup, runs, grader) as (stores, _, rater):
        for store in stores.values():
            for result in store.rows(rater.name, raters=rater.counting):
                status = result.verdict.status if result.verdict else ""
                reward = {"pass": "1.0", "fail": "0.0"}.get(status, "")
                score = result.verdict.aspects.get("legacy_score") if result.verdict else None
                reward = str(score) if isinstance(score, float) else reward
                about = (result.agent, result.unit.benchmark, result.task_id, str(result.unit.seed))
                lines.append(_line(about, reward, result.trajectory))
    data = json.dumps([dict(zip(COLUMNS, line, strict=True)) for line in lines], indent=1)
    return Document("AgentLab", [Section("Episodes", COLUMNS, lines)], data)


def _line(about: tuple[str, str, str, str], reward: str, played: TrajectorySummary | None) -> tuple[str, ...]:
    agent, benchmark, task, seed = about
    if played is None:
        return (agent, "", benchmark, task, seed, "not played", "", reward, *([""] * 9))
    error = played.ending if played.ending in ("agent_crashed", "fault") else ""
    done = played.ending in ("answered", "gave_up", "imported")
    output = _shown(played.output_tokens)
    return (
        *(agent, played.model, benchmark, task, seed, error, "", reward, str(played.steps), str(done)),
        *(str(played.ending in ("step_limit", "time_limit")), str(played.steps), output),
        *(_shown(played.input_tokens), output, _shown(played.cost_usd), f"{played.seconds:g}"),
    )


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
