"""A careful reader's replies to every question of the verifier, blind, over right and wrong episodes: they must go on
to give the same verdicts.

The replies are matched by stage, screenshot and criterion, never by the words of a question. So a prompt may change and
these tests stay as they are: they hold the way from replies to a verdict, not what a reader would say to new words. If
the selection changes and a page is asked about that the reader never saw, the stand-in says that it shows nothing of
note; if a new stage asks, there is no reply, and the test fails by its name. Then a reader has to be asked again.
"""

import json
from pathlib import Path

import pytest

from tests.support.judging_samples import OUTSIDE, ByStage, png, prepared, replies_of, trajectory
from webassay.compose.registries import IMPORTERS
from webassay.core.interaction import Action, Goal
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.trajectory import MemoryBlobs, RecordedObservation, RowsResult, Step

FOLDER = Path(__file__).parents[1] / "golden" / "judging" / "reader"
CHORES = ("dearest-purchase", "month-spend", "price-range-total")
SITE = "http://shop.test:8000"


def chore(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def played(kept, answer, blobs):
    """The episode as the reader was told of it: the main text of its pages, one picture for each."""
    pages = [
        RecordedObservation(
            url=SITE + page["address"],
            title=page["title"],
            text=blobs.write("\n".join(page["lines"]).encode(), "text/plain"),
            screenshot=blobs.write(png(page["picture"]), "image/png"),
        )
        for page in kept["pages"]
    ]
    steps = [Step(index=i, seen=pages[one["page"]], action_text=one["action"]) for i, one in enumerate(kept["steps"])]
    steps[-1] = steps[-1].model_copy(update={"action_text": "", "actions": (Action.of("send_msg_to_user", answer),)})
    return trajectory(blobs, 0).model_copy(
        update={
            "goal": Goal(instruction=kept["task"], start_urls=("__SHOP__/",), protocol=ARENA_PROTOCOL),
            "bases": {"shop": SITE},
            "steps": tuple(steps),
            "last_seen": pages[kept["last"]],
            "answer": answer,
            "probes": (RowsResult(site="shop", changes=()),),
        }
    )


@pytest.mark.parametrize("which", ["right", "wrong"])
@pytest.mark.parametrize("name", CHORES)
async def test_the_replies_of_a_careful_reader_give_the_verdict_that_is_right(name, which):
    kept, blobs = chore(name), MemoryBlobs()
    case = kept["cases"][which]
    run = played(kept, case["answer"], blobs)
    model = ByStage(replies_of(case))
    verdict = await prepared("universal", model).judge(run.goal, run, blobs)
    assert not verdict.replies["degraded"]
    assert verdict.status == case["status"] == ("pass" if which == "right" else "fail")
    assert verdict.aspects["process_score"].value == pytest.approx(case["process"], abs=1e-6)
    known = {number for number, scores in enumerate(case["replies"]["relevance"], 1) if scores is not None}
    assert {int(number) for number in case["replies"]["evidence"]} <= known, "the frames are those the reader was shown"


@pytest.mark.parametrize("name", CHORES)
async def test_all_that_decides_is_in_front_of_whoever_decides(name):
    """The reader could tell right from wrong because every row stood in the question; it must go on standing there."""
    kept, blobs = chore(name), MemoryBlobs()
    case = kept["cases"]["wrong"]
    run = played(kept, case["answer"], blobs)
    model = ByStage(replies_of(case))
    await prepared("universal", model).judge(run.goal, run, blobs)
    rows = {line for page in kept["pages"] for line in page["lines"] if "$" in line and " | " in line}
    assert len(rows) > 20
    for stage in ("rescore", "outcome"):
        text = next(messages[-1].text for purpose, messages in model.asked if purpose.split("#")[0] == stage)
        assert not [row for row in rows if row not in text], stage


@pytest.mark.external
@pytest.mark.parametrize("folder", ["fara-example", "om2w-example/example/fb7b4f784cfde003e2548fdf4e8d6b4f"])
async def test_the_same_over_trajectories_of_other_people(folder):
    """Only the replies are kept here; the trajectories are not ours to ship."""
    if not (OUTSIDE / folder).is_dir():
        pytest.skip("the outside examples are not here")
    blobs = MemoryBlobs()
    importer = next(each for each in IMPORTERS if each.recognizes(OUTSIDE / folder))
    run = importer.read(OUTSIDE / folder, blobs)
    case = json.loads((FOLDER / "outside.json").read_text())[run.task_id]
    verdict = await prepared("universal", ByStage(replies_of(case))).judge(run.goal, run, blobs)
    assert not verdict.replies["degraded"] and verdict.status == case["status"]
    assert verdict.aspects["process_score"].value == pytest.approx(case["process"], abs=1e-6)
