"""The first page: every run with its agents, their success, and what it took."""

from starlette.responses import Response

from webassay.viewer.page import Page, PageVisit

SOON = 20_000
"""Units of a run whose whole report takes no time; that of a larger one is made when somebody asks for it."""


def runs(visit: PageVisit) -> Response:
    shelf = visit.shelf
    grader = visit.one("grader")
    made = []
    for name in visit.runs():
        rater = shelf.rater(grader, [name])
        run = shelf.run(name)
        made.append((run, rater, run.overview(rater)))
    return visit.page("runs.html", "Runs", found=made, soon=SOON)


def run_notes(visit: PageVisit) -> Response:
    run = visit.run()
    return visit.page("run_notes.html", run.name, report=run.report(visit.shelf.rater(visit.one("grader"), [run.name])))


RUNS = Page("runs", "/", "Every run, with success, faults, cost and time.", runs, title="Runs", place=1)
RUN_NOTES = Page("run notes", "/run-notes", "What to know before quoting a number of a run.", run_notes)
