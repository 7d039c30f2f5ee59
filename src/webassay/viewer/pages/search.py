"""Words found in episodes."""

from starlette.responses import Response

from webassay.viewer.page import Page, PageVisit
from webassay.viewer.pages.episodes import wanted_of
from webassay.workbench import look
from webassay.workbench.search import search as find

LONGEST = 300


def search(visit: PageVisit) -> Response:
    shelf = visit.shelf
    visit.runs()
    rater = shelf.rater(visit.one("grader"))
    wanted = wanted_of(visit, look.facet_names(shelf, rater))
    text = visit.one("q")[:LONGEST]
    found = find(shelf, rater, text, wanted, since=visit.one("since"))
    facets = {name: own for name, own in look.narrow(shelf, rater, wanted).facets.items() if name != "task"}
    return visit.page("search.html", "Search", text=text, found=found, wanted=wanted, facets=facets)


SEARCH = Page("search", "/search", "Words in pages, answers, thoughts and findings.", search, title="Search", place=5)
