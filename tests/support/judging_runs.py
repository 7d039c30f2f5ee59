"""Runs over given pages, as a judge is told of them."""

import json

from tests.support.judging_samples import png, trajectory
from webassay.core.interaction import Action, Goal
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.trajectory import MemoryBlobs, RecordedObservation, Step
from webassay.judging.case import frames_of
from webassay.judging.record.pages import Book


def seen(blobs, number, tree, path):
    return RecordedObservation(
        url=f"http://shop.test:8000{path}",
        title=f"Page {number}",
        tree=blobs.write(tree.encode(), "text/plain"),
        screenshot=blobs.write(png(number), "image/png"),
    )


def run_over(blobs, trees, *, answer="", instruction="How much did I spend?", actions=(), rows=None):
    """`trees` by address; the last page is the one at the end."""
    pages = [seen(blobs, number, tree, path) for number, (path, tree) in enumerate(trees)]
    steps = tuple(
        Step(index=i, seen=page, actions=(actions[i],) if i < len(actions) else (Action.of("go_back"),))
        for i, page in enumerate(pages[:-1])
    )
    return trajectory(blobs, 1).model_copy(
        update={
            "goal": Goal(instruction=instruction, start_urls=("__SHOP__/",), protocol=ARENA_PROTOCOL),
            "bases": {"shop": "http://shop.test:8000"},
            "steps": steps,
            "last_seen": pages[-1],
            "answer": answer if isinstance(answer, str) else json.dumps(answer),
            "probes": (rows,) if rows is not None else (),
            "started_at": "2031-05-06T07:08:09+00:00",
        }
    )


def book_of(run, blobs):
    return Book.of(frames_of(run, text=True, merge=True), blobs)


def told_of(*pages):
    """Pages of one kind, as they are told one after the other."""
    blobs = MemoryBlobs()
    run = run_over(blobs, [("/list?sort=" + str(number), page) for number, page in enumerate(pages)])
    return book_of(run, blobs).blocks()
