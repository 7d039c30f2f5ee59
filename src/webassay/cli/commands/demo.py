"""`webassay demo`: agents evaluated end to end."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from webassay.cli import common
from webassay.cli.command import START, Command
from webassay.cli.options import OwnOut, Workers

DEMO_TEMPLATES = (
    "shop.returned-value", "shop.reviews-between", "shop.rating-distribution", "shop.change-address",
    "shop.open-cheapest", "shop.foreign-order", "admin.searches-in-vain", "admin.worst-average",
    "admin.busiest-buyers", "admin.reduce-price", "admin.comment-oldest", "admin.cancel-complete",
)  # fmt: skip
"""Short ones of every kind on both sites. An interval is one over templates, so many with one instance each say more
than a few with many, in the time that a newcomer gives us."""
DEMO_AGENTS = {
    "flawed[skill=0.95]": "has a 5 % chance of a mistake in each task",
    "flawed[skill=0.6,errors=answer]": "has a 40 % chance, mostly of reporting something false",
    "flawed[skill=0.2,errors=stop]": "has an 80 % chance, mostly of stopping early",
    "naive-link-follower": "a baseline that follows links without reading and should pass nothing",
}


def demo(
    out: OwnOut = None,
    workers: Workers = 2,
) -> None:
    """See four agents evaluated end to end: real browser, real sites, recorded trajectories, verdicts, a report.

    Three of them know how to do every task but make mistakes in a known share, each in its own way, such as
    misreporting what it found or stopping early. The fourth follows links without reading. No model or key is needed.
    """
    from webassay import PlayOptions, Selection, run_sync

    path = out or common.new_directory("demo")
    common.say(
        f"webassay measures how well web agents do their tasks. Here, four scripted agents stand in for real ones, on "
        f"{len(DEMO_TEMPLATES)} tasks in a shop and its back office. It takes a minute or two."
    )
    common.say(
        "Three know every solution and make mistakes on purpose: the rules must find out in which episodes (one agent, "
        "one task)."
    )
    for agent, does in DEMO_AGENTS.items():
        common.say(f"  {agent}: {does}")
    common.say("")
    with common.workbench() as bench:
        selection = Selection(instances=1, templates=DEMO_TEMPLATES)
        run_sync(bench.run(path, list(DEMO_AGENTS), selection, PlayOptions(workers=workers)))
        report = bench.report([path], title="webassay demo")
        page = path / "report.html"
        common.give(report, "summary")
        for agent, count in bench.mistakes(path).items():
            marked = "exactly those" if count.agreed == count.episodes else f"{count.failed}, and not just those,"
            erred = f"{agent} made a mistake in {count.erred} of {count.episodes} episodes"
            common.say(f"{erred}; the rules marked {marked} as failed.")
        bench.write_report(report, [path], page)
        failed = _worth_seeing(bench.rows([path]))
        if failed:
            common.write(path / "failed.html", bench.episode_page(path, failed))
    _where_to_look(path, page, failed)


def _worth_seeing(rows: Iterable[Mapping[str, Any]]) -> str:
    """A failed episode that claims a change nobody made, else any that failed: the longest, which has most to see."""
    wrong = [row for row in rows if row["status"] == "fail" and row["agent"].startswith("flawed")]
    if not wrong:
        return ""
    row = max(wrong, key=lambda row: (row["kind"] == "mutate" and row["claimed"] == "SUCCESS", row["steps"]))
    return f"{row['agent']}/{row['task_id']}/{row['trial']}"


def _where_to_look(path: Path, page: Path, failed: str) -> None:
    webassay, opener = common.program(), "open" if sys.platform == "darwin" else "xdg-open"
    run = common.quoted(path)
    common.say(f"\nOpen the report: {opener} {common.quoted(page)}")
    if failed:
        common.say(f"An episode that failed, and why: {opener} {common.quoted(path / 'failed.html')}")
        common.say(f"The same in the terminal: {webassay} show {run} '{failed}'")
    common.say(f"All of it in your browser, step by step: {webassay} view {run}")
    common.say("Look closer:")
    for command, does in (
        (f"show {run}", "all episodes; with the name of one: that one"),
        (f"report {run}", "all tables"),
        (f"grade {run} --explain", "every check"),
        ("run --help", "how to run your own agent"),
    ):
        common.say(f"  {webassay} {command}  # {does}")


DEMO = Command("demo", START, "See agents evaluated end to end.", demo, 1)
