"""A benchmark: three questions about the library's pages, graded by rule."""

from collections.abc import Sequence

from webassay.benchmarks.base import Benchmark, Selection, Sources
from webassay.core.interaction import Goal
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.task import ActivityCheck, Expectation, PagePattern, ResponseCheck, Task

READERS = {"The Weather Almanac": "Ines", "Bridges of the North": "Tomas", "A Field Guide to Moss": "Oluchi"}
SHELVES = {"Bridges of the North": "travel"}
LIST = PagePattern(site="library", path="/due.html")


def _task(number: int, title: str) -> Task:
    return Task(
        id=f"library.{number}",
        benchmark="library",
        template="library.reader",
        kind="retrieve",
        goal=Goal(
            instruction=f'Who has to return "{title}" this week? Answer with the name.',
            start_urls=("__LIBRARY__/",),
            protocol=ARENA_PROTOCOL,
            sites=("library",),
        ),
        checks=(
            ResponseCheck(action="retrieve", results=Expectation(type="list", items=(Expectation.of(READERS[title]),))),
            ActivityCheck(site="library", visits=((LIST,),)),
        ),
        sites=("library",),
        tags=(f"shelf:{SHELVES.get(title, 'nature')}",),
        max_steps=10,
    )


def _load(selection: Selection, sources: Sources) -> Sequence[Task]:
    return [_task(number, title) for number, title in enumerate(READERS)]


LIBRARY = Benchmark("library", "Three questions about a library's pages.", _load, environment="static-pages")
