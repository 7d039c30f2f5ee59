"""`verify` from the outside: single tasks, repeated trials, a model that takes too long, a verdict in words."""

import pytest

from tests.support.verifier_world import Faults, author, many
from webassay import VerifyOptions, Workbench
from webassay.core.errors import InputError
from webassay.core.unit import UnitOfWork
from webassay.llm.replay import Script, replaying
from webassay.store import Store
from webassay.workbench import in_words


@pytest.fixture
def run(tmp_path):
    with Store.create(tmp_path / "run") as store:
        for trajectory, _ in many(3, 6, blobs=store.blobs):
            unit = UnitOfWork(agent=trajectory.agent.name, task_id=trajectory.task_id)
            store.plan([unit])
            store.add_trajectory(unit.id, trajectory)
    return tmp_path / "run"


async def verified(run, url, **options):
    chosen = VerifyOptions(model=f"openai:judge@{url}", **options)
    bench = Workbench(cache=run.parent / "cache")
    with bench.verification([run], chosen) as verification:
        done = await verification.run()
        verdicts = [list(verification.verdicts(stamp)) for stamp in done.fingerprints]
        return done, verdicts, verification.repeated(done)


async def test_one_task_alone(run):
    async with replaying(Script(author(Faults(every=0)))) as server:
        done, ((only,),), _ = await verified(run, server.url, tasks=("task-1",))
        assert done.tally.judged == 1 and only[0].task_id == "task-1"
        with pytest.raises(InputError, match="no task 'task-9'"):
            await verified(run, server.url, tasks=("task-9",))


async def test_trials_ask_again_and_are_kept_apart(run):
    async with replaying(Script(author(Faults(every=0)))) as server:
        done, verdicts, repeated = await verified(run, server.url, trials=3)
        asked = len(server.asked)
        assert done.tally.judged == 9 and [len(found) for found in verdicts] == [3, 3, 3]
        assert len({stamp.content_hash() for stamp in done.fingerprints}) == 3
        assert (repeated.trials, repeated.split, repeated.undecided) == (3, 0, 0)
        assert repeated.outcome == (pytest.approx(1 / 3), 0.0) and "33.3 ± 0.0 %" in repeated.in_words
        first, *_ = await verified(run, server.url)
        assert first.tally.skipped == 3 and len(server.asked) == asked, "the first trial is a single judgement"


async def test_a_model_that_takes_too_long_is_a_fault(run):
    async with replaying(Script(author(Faults(every=0, delay=5.0)))) as server:
        done, ((one,),), _ = await verified(run, server.url, tasks=("task-0",), timeout=0.2)
        assert done.tally.faulted == 1 and "within 0.2 seconds" in one[0].fault.message


async def test_a_verdict_is_explained_with_everything_that_led_to_it(run):
    async with replaying(Script(author(Faults(every=0)))) as server:
        _, ((pair,),), _ = await verified(run, server.url, tasks=("task-1",))
    text = in_words(*pair)
    for part in (
        *("Task: Find the kettle number 1.", "Answer: Kettle 1 costs 12.", "Task validity: valid", "Criteria"),
        *("Critical point: NO_CRITICAL_POINT", "As pictures: ", "Relevance by screenshot", "Screenshot 6"),
        *("Rules that do not apply: entity_non_existence", "Critical issue: another kettle", "calls,", "tokens in"),
    ):
        assert part in text, part
