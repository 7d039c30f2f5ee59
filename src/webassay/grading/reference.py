"""Runs the published grader on the same logs, in its own environment, to show where the two differ and why."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webassay.core.errors import InputError
from webassay.core.logs import LogLayout
from webassay.grading.logs import GradedLog

REFERENCE = "webarena-verified==1.2.3"
_INSTALL_SECONDS = 900

_PROGRAM = """
import json, logging, sys, time
from pathlib import Path
logging.disable(logging.CRITICAL)
from webarena_verified.api import WebArenaVerified
job = json.loads(sys.stdin.read())
grader = WebArenaVerified(config=Path(job["config"]) if job["config"] else None)
for number in job["numbers"]:
    place = Path(job["folder"]) / str(number)
    started = time.process_time()
    try:
        result = grader.evaluate_task(
            task_id=number, agent_response=place / job["response"], network_trace=place / job["trace"]
        )
        why = [result.error_msg or ""]
        for one in result.evaluators_results:
            if one.score != 1.0:
                messages = [text for said in one.assertions or () for text in said.assertion_msgs]
                why.append(f"{one.evaluator_name}: {one.error_msg or '; '.join(messages)}")
        line = {"status": str(result.status.value), "score": result.score, "why": " ".join(why).strip()}
    except Exception as error:
        line = {"status": "error", "score": 0.0, "why": f"{type(error).__name__}: {error}"}
    print(json.dumps({"task_id": number, "seconds": time.process_time() - started, **line}), flush=True)
"""


@dataclass(frozen=True)
class ReferenceVerdict:
    number: int
    status: str
    """`success`, `failure` or `error`."""
    score: float
    why: str
    seconds: float
    """Processor time, including reading the files."""


@dataclass(frozen=True)
class GraderDisagreement:
    """A log on which the graders disagree. As in the paper, a pass of theirs alone is a false positive."""

    number: int
    ours: str
    theirs: str
    why_ours: str
    why_theirs: str

    @property
    def kind(self) -> str:
        return "false positive" if self.theirs == "success" else "false negative"


def reference_python(cache: Path) -> Path:
    """The Python of an environment with the published grader and nothing of ours, created on first use."""
    home = cache / "reference" / REFERENCE.replace("==", "-")
    python = home / "bin" / "python"
    if not (home / "ready").is_file():
        install = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", REFERENCE]
        for command in ([sys.executable, "-m", "venv", str(home)], install):
            done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
            if done.returncode != 0:
                complaint = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
                raise InputError(f"The reference grader cannot be installed: {complaint[0]}")
        (home / "ready").touch()
    return python


def reference_verdicts(
    folder: Path, numbers: Iterable[int], layout: LogLayout, python: Path
) -> Iterator[ReferenceVerdict]:
    """The published grader's verdict on each log; the files are not changed."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        if layout.bases:
            environments = {f"__{site.upper()}__": {"urls": list(urls)} for site, urls in layout.bases.items()}
            config.write(json.dumps({"environments": environments}))
            config.flush()
        job = {
            "folder": str(folder.resolve()),
            "numbers": list(numbers),
            "config": config.name if layout.bases else "",
            "response": layout.response_file,
            "trace": layout.trace_file,
        }
        done = subprocess.run(
            [str(python), "-c", _PROGRAM], input=json.dumps(job), capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise InputError(f"The reference grader broke: {done.stderr.strip()[-500:]}")
    for line in done.stdout.splitlines():
        said: dict[str, Any] = json.loads(line)
        yield ReferenceVerdict(said["task_id"], said["status"], said["score"], said["why"], said["seconds"])


def differences(ours: Iterable[GradedLog], theirs: Iterable[ReferenceVerdict]) -> list[GraderDisagreement]:
    by_number = {verdict.number: verdict for verdict in theirs}
    found = []
    for log in ours:
        other = by_number.get(int(log.number)) if log.number.isdigit() else None
        if other is None or (log.verdict.status == "pass") == (other.status == "success"):
            continue
        why = "; ".join(one.message for one in log.verdict.findings if one.status in ("fail", "fault"))
        found.append(GraderDisagreement(other.number, log.verdict.status, other.status, why[:1000], other.why[:1000]))
    return found
