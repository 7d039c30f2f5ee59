"""What is written to disk keeps its shape, unless its version says otherwise.

To accept a deliberate change: raise the record's version, then `python -m tests.contract.test_schemas` writes the pins
again.
"""

import json
from pathlib import Path

import msgspec
import pytest

from webassay.core.interaction import Goal
from webassay.core.record import content_hash
from webassay.core.report import Report
from webassay.core.summary import TrajectorySummary, UnitSummary, VerdictSummary
from webassay.core.task import Task
from webassay.core.trajectory import Exchange, Trajectory
from webassay.core.verdict import Verdict
from webassay.faultbench.records import FaultBench, FaultLabel
from webassay.store import UnitOfWork
from webassay.store.schema import TABLES, VERSION

PINS = Path(__file__).parent / "schemas.json"
RECORDS = (Goal, Task, Trajectory, Verdict, Report, Exchange, UnitOfWork, FaultLabel, FaultBench)
SUMMARIES = (UnitSummary, TrajectorySummary, VerdictSummary)


def without_prose(schema):
    """Descriptions and titles may be reworded; the shape may not."""
    if isinstance(schema, dict):
        return {key: without_prose(value) for key, value in schema.items() if key not in ("description", "title")}
    return [without_prose(one) for one in schema] if isinstance(schema, list) else schema


def pins() -> dict[str, str]:
    found = {}
    for record in RECORDS:
        version = record.model_fields["version"].default if "version" in record.model_fields else 1
        found[f"{record.__name__} {version}"] = content_hash(without_prose(record.model_json_schema()))
    for summary in SUMMARIES:
        found[f"{summary.__name__} 1"] = content_hash(without_prose(msgspec.json.schema(summary)))
    found[f"ledger {VERSION}"] = content_hash(" ".join(TABLES.split()))
    return found


@pytest.mark.parametrize("name", sorted(pins()))
def test_schema_is_frozen(name):
    assert pins()[name] == json.loads(PINS.read_text()).get(name), f"{name} changed its shape"


def test_no_pin_is_left_over():
    assert set(json.loads(PINS.read_text())) == set(pins())


if __name__ == "__main__":
    PINS.write_text(json.dumps(pins(), indent=2) + "\n")
