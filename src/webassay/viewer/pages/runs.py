"""The first page: every run with its agents, their success, and what it took."""

from starlette.responses import Response

from webassay.viewer.page import Page, PageVisit


def runs(visit: PageVisit) -> Response:
    shelf = visit.shelf
    grader = visit.one("grader")
    made = []
    for name in visit.runs():
        rater = shelf.rater(grader, [name])
        run = shelf.run(name)
        made.append((run, rater, run.report(rater)))
    return visit.page("runs.html", "Runs", found=made)


RUNS = Page("runs", "/", "Every run, with success, faults, cost and time.", runs, title="Runs", place=1)
