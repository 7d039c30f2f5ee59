"""A course that is played at a given pace: idle moves make an episode as long as another one.

On the way, on a page that has just been opened, nothing is done but scrolling, so that the course goes on where it was.
When it has its answer, it may look at further pages before it gives it.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from webassay.agents.flawed.flawed import Performer, spoken, thoughtful
from webassay.agents.flawed.slips import Course
from webassay.core.interaction import Action, Decision, Node, Observation
from webassay.core.record import Json

_LEAVE_ALONE = re.compile(r"log-?out|log out|delete|remove|cancel|reorder|print", re.IGNORECASE)
_IDLE_SHARE = 0.3
_LOOKING = "I look "
_MOST_NAMED = 30
"""Characters of a title."""


def is_idle(thought: str) -> bool:
    """Whether a step was there for the pace only."""
    return thought.startswith(_LOOKING)


@dataclass(frozen=True)
class Pace:
    more: int = 0
    """Idle steps beyond what the course takes, on the way or at the end."""
    more_pages: int = 0
    steps: int = 0
    """At least so many steps in all, the answer included."""
    pages: int = 0
    """At least so many different pages in all."""
    stays: bool = False
    """The page on which the course ends is part of the task, and is not left."""


class Paced(Performer):
    def __init__(self, name: str, course: Course, pace: Pace, rng: random.Random) -> None:
        super().__init__(name, course)
        self._pace, self._rng = pace, rng
        self._pages: set[str] = set()
        self._last = ""
        self._idle = 0
        self._answer: Json = None
        self._steps = self._wanted_pages = 0
        """Both are known when the course is over."""

    async def decide(self, observation: Observation) -> Decision | str:
        arrived = _place(observation.url) != self._last
        self._last = _place(observation.url)
        self._pages.add(self._last)
        if self._steps == 0:
            # A menu that is open, a form that is half filled in, or what is read off a picture, is not disturbed.
            may_scroll = arrived and "screenshot" not in self.wants and self._idle < self._pace.more
            if may_scroll and self._rng.random() < _IDLE_SHARE:
                return self._scroll(observation)
            try:
                if self._moves is None:
                    self._moves = self._course(observation)
                    move = next(self._moves)
                else:
                    move = self._moves.send(observation)
                return thoughtful(move, observation)
            except StopIteration as done:
                self._answer = done.value
                self._steps = max(self._pace.steps, observation.step + 1 + self._pace.more - self._idle)
                self._wanted_pages = max(self._pace.pages, len(self._pages) + self._pace.more_pages)
        if observation.step + 1 >= self._steps:
            return spoken(self._answer)
        links = [] if self._pace.stays else list(self._fresh(observation))
        if links and len(self._pages) < self._wanted_pages:
            link = self._rng.choice(links)
            return Decision(actions=(Action.of("click", link.id),), thought=f"{_LOOKING}at '{link.name}' as well.")
        return self._scroll(observation)

    def _scroll(self, page: Observation) -> Decision:
        """With about as many words as any other step: a run that is idle for longer must not be shorter to read."""
        self._idle += 1
        further = Action.of("scroll", 0, self._rng.choice((200, 300, 400)))
        return Decision(actions=(further,), thought=f"{_LOOKING}further down on '{page.title[:_MOST_NAMED]}'.")

    def _fresh(self, page: Observation) -> Iterator[Node]:
        """Links to pages of the same site that were not seen yet."""
        here = urlsplit(page.url)
        for node in page.find_all("link"):
            there = urlsplit(node.url)
            known = _place(node.url) in self._pages or there.fragment
            if there.netloc == here.netloc and not known and not _LEAVE_ALONE.search(f"{node.name} {node.url}"):
                yield node


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}?{parts.query}"
