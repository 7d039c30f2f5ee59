"""Every template, over several seeds: the oracle passes, and nobody else does."""

from pathlib import Path

import pytest

from tests.support.worlds import CACHE
from webassay import PlayOptions, Selection, Task, Workbench, run_sync
from webassay.agents.flawed.naive import CONSTANTS, WALKERS
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.mistakes import mistakes
from webassay.arena.kit.walking import click, done
from webassay.arena.shop.account import ChangeAddress
from webassay.compose.registries import TEMPLATES
from webassay.core.task import PagePattern
from webassay.core.trajectory import MemoryBlobs
from webassay.grading.grade import grade
from webassay.play.episode import Recording
from webassay.store import Store

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

# One of each kind of page and form. `make check-arena` proves every template, this file's slow half too.
A_FEW = (
    "shop.critical-reviewers", "shop.cart-cheapest-well-rated", "shop.cancel-too-late", "admin.disable-scarce",
    "admin.price-not-allowed", "admin.restock-cheapest",
)  # fmt: skip
MORE = (
    "shop.price-range-total", "shop.open-cheapest", "shop.review-dearest", "shop.order-to-address",
    "shop.coupon-refused", "shop.return-article", "admin.ship-oldest", "admin.new-color", "admin.approve-reviews-with",
)  # fmt: skip
ALL = TEMPLATES.names()

SEEDS = (
    pytest.param(0, 9, A_FEW, id="world0"),
    pytest.param(1, 5, MORE, id="world1", marks=pytest.mark.long),
    pytest.param(0, 9, ALL, id="world0-all", marks=pytest.mark.slow),
    pytest.param(1, 5, ALL, id="world1-all", marks=pytest.mark.slow),
    pytest.param(23, 11, ALL, id="world23-all", marks=pytest.mark.slow),
)


BENCH = Workbench(cache=CACHE)
NO_PICTURES = PlayOptions(recording=Recording(parts=()))


def played(out: Path, selection: Selection, agents: list[str]) -> tuple[Store, dict[str, Task]]:
    """A run, as `webassay run` plays it, without pictures; and its tasks."""
    run_sync(BENCH.run(out, agents, selection, NO_PICTURES))
    return Store.open(out, writable=True), {task.id: task for task in BENCH.tasks(selection)}


def failures(store: Store) -> list[str]:
    found = []
    for unit, trajectory in store.trajectories():
        verdict = store.verdict(trajectory.id, "rules")
        if verdict.status != "pass":
            why = [finding.message for finding in verdict.findings if finding.status != "pass"]
            found.append(f"{unit.id}: {verdict.status}: {trajectory.ending.message} {why}")
    return found


@pytest.mark.parametrize(("world_seed", "seed", "templates"), SEEDS)
def test_the_oracle_passes_every_template_and_every_mistake_fails(tmp_path, world_seed, seed, templates):
    chosen = Selection(instances=1, world_seed=world_seed, seed=seed, templates=templates)
    store, tasks = played(tmp_path / "run", chosen, ["oracle"])
    with store:
        assert len(list(store.trajectories())) == len(templates)
        assert failures(store) == []
        blobs = store.blobs
        for _, trajectory in store.trajectories():
            task = tasks[trajectory.task_id]
            wrong = dict(mistakes(task, trajectory, blobs))
            became = {name: grade(task, one, blobs).status for name, one in wrong.items()}
            # A fault would mean that nobody looked.
            assert {name: status for name, status in became.items() if status != "fail"} == {}, task.id
            assert len(became) >= 8
            assert any(name.startswith("is logged out") for name in became) == bool(task.logins)
            assert "answers at step 0" in became
            assert any(name.startswith("never saw fact") for name in became)
            idle = grade(task, wrong["does nothing on the site"], blobs)
            failed = {one.check for one in idle.findings if one.status == "fail" and one.check != "checkpoint"}
            assert "activity.pages" in failed <= {"activity.pages", "activity.evidence"}


SHORT = ("shop.cart-sold-out", "shop.change-address")
BY_ROUTE = (
    pytest.param(SHORT, "", id="two"),
    pytest.param(
        ("shop.rating-distribution", "shop.orders-by-status"), "extreme", id="extreme", marks=pytest.mark.slow
    ),
    pytest.param(ALL, "", id="all", marks=pytest.mark.slow),
)


@pytest.mark.parametrize(("templates", "difficulty"), BY_ROUTE)
def test_every_route_passes_and_every_shortcut_fails(tmp_path, templates, difficulty):
    chosen = Selection(instances=1, seed=8, templates=templates, difficulty=difficulty)
    proofs = run_sync(BENCH.check(tmp_path / "run", chosen, NO_PICTURES))
    assert [problem for proof in proofs for problem in proof.problems] == []
    for proof in proofs:
        assert {name for name, tally in proof.columns.items() if not tally.tried} == set(), proof.template


@pytest.mark.long
def test_a_route_that_does_not_lead_there_and_a_shortcut_that_does_are_found(tmp_path, monkeypatch):
    """The proof itself: a template whose route is wrong, and whose shortcut is right."""

    def solve(self, page, *, default="shipping", from_account=False):
        if from_account:
            yield from click(page, "link", "My Account")
            return done("mutate")
        return (yield from right(self, page))

    right, key = ChangeAddress.solve, ChangeAddress.key
    moon = Key.checkpoint("the moon", PagePattern(site="shop", path="/moon"))
    monkeypatch.setattr(ChangeAddress, "key", lambda self, worlds: key(self, worlds) & moon)
    monkeypatch.setattr(ChangeAddress, "solve", solve)
    monkeypatch.setattr(ChangeAddress, "effort", lambda self, worlds: Effort(rows=1, pages=1, steps=4))
    chosen = Selection(instances=1, templates=("shop.change-address",))
    (proof,) = run_sync(BENCH.check(tmp_path / "run", chosen, NO_PICTURES))
    problems = "\n".join(proof.problems)
    assert "the route from-account does not pass" in problems
    assert "a wrong episode does not fail (pass): played first-address" in problems
    assert "the shortcut does not lead where its key says" in problems
    assert "it took 7 steps, and `steps` of its effort says 4" in problems
    assert "the oracle passes without reaching its checkpoint: the moon" in problems
    assert (proof.columns["oracle"].held, proof.columns["routes"].held) == (1, 0)


@pytest.mark.long
@pytest.mark.parametrize("templates", [A_FEW, pytest.param(ALL, marks=pytest.mark.slow)], ids=["few", "all"])
def test_no_constant_passes_any_template(tmp_path, templates):
    """One constant is played on every template; what the others would have said is grafted onto its episodes."""
    store, tasks = played(tmp_path / "run", Selection(instances=1, templates=templates), ["naive-zero"])
    with store:
        for _, trajectory in store.trajectories():
            task = tasks[trajectory.task_id]
            assert trajectory.ending.kind == "answered"
            for name, answer in CONSTANTS.items():
                said = trajectory.model_copy(update={"answer": answer(task.goal)})
                assert grade(task, said, store.blobs).status == "fail", f"{name} on {task.id}"


ONE_OF_EACH_KIND = (
    "shop.critical-reviewers", "shop.open-cheapest", "shop.cancel-order-with", "shop.cart-sold-out",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    "templates", [ONE_OF_EACH_KIND[1:2], pytest.param(ONE_OF_EACH_KIND, marks=pytest.mark.slow)], ids=["one", "four"]
)
def test_no_walker_passes_a_task_of_any_kind(tmp_path, templates):
    store, _ = played(tmp_path / "run", Selection(instances=1, templates=templates), list(WALKERS))
    with store:
        statuses = {unit.id: store.verdict(trajectory.id, "rules").status for unit, trajectory in store.trajectories()}
    assert len(statuses) == len(WALKERS) * len(templates)
    assert set(statuses.values()) == {"fail"}


def test_a_run_without_its_blobs_faults_and_never_passes(tmp_path):
    """What cannot be read is neither right nor wrong."""
    store, tasks = played(tmp_path / "run", Selection(instances=1, templates=("shop.open-cheapest",)), ["oracle"])
    with store:
        (_, trajectory), task = next(store.trajectories()), next(iter(tasks.values()))
        assert grade(task, trajectory, store.blobs).status == "pass"
        assert grade(task, trajectory, MemoryBlobs()).status == "fault"
