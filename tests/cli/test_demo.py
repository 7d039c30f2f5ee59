"""Which failed episode the demo shows: README promises one that reports a change it never made."""

from typing import Any

from webassay.cli.commands.demo import _worth_seeing


def row(task: str, kind: str, claimed: str, steps: int, status: str = "fail", agent: str = "flawed[skill=0.6]") -> Any:
    return {
        "agent": agent,
        "task_id": task,
        "trial": 0,
        "kind": kind,
        "claimed": claimed,
        "steps": steps,
        "status": status,
    }


def test_a_claimed_change_goes_before_a_longer_episode() -> None:
    rows = [
        row("long", "retrieve", "SUCCESS", 30),
        row("stopped", "mutate", "UNKNOWN_ERROR", 20),
        row("short", "mutate", "SUCCESS", 4),
        row("claimed", "mutate", "SUCCESS", 9),
        row("passed", "mutate", "SUCCESS", 12, status="pass"),
        row("naive", "mutate", "SUCCESS", 12, agent="naive-link-follower"),
    ]
    assert _worth_seeing(rows) == "flawed[skill=0.6]/claimed/0"
    assert _worth_seeing(rows[:2]) == "flawed[skill=0.6]/long/0"
    assert _worth_seeing([]) == ""
