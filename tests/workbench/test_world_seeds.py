"""A seed that nobody can guess: drawn once for a run, and kept by it."""

from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support import samples
from webassay.benchmarks.base import GUESSABLE_SEEDS
from webassay.cli import app
from webassay.compose.tasks import select
from webassay.core.errors import InputError
from webassay.play.settings import remember, selection_of, with_drawn_seed, worlds_in_words
from webassay.store import Store
from webassay.workbench import RANDOM_WORLD, Selection, Setup

RANDOM = Selection(world_seed=RANDOM_WORLD)


@pytest.fixture
def store(tmp_path: Any) -> Any:
    with Store.create(tmp_path / "run") as made:
        yield made


def test_a_run_keeps_the_seed_that_it_drew(store):
    drawn = with_drawn_seed(RANDOM, store)
    assert GUESSABLE_SEEDS <= drawn.world_seed < 1 << 63
    assert with_drawn_seed(RANDOM, store) != drawn, "nothing was planned yet"
    remember(store, drawn)
    assert with_drawn_seed(RANDOM, store) == selection_of(store) == drawn
    remember(store, with_drawn_seed(RANDOM, store))
    assert with_drawn_seed(drawn, store) == drawn


def test_a_run_with_a_seed_of_its_own_does_not_change_it(store):
    remember(store, Selection(world_seed=7))
    with pytest.raises(InputError, match=r"world seed was 7, now \d{10,}"):
        remember(store, with_drawn_seed(RANDOM, store))


def test_the_report_says_whose_keys_could_be_computed(store):
    assert worlds_in_words(store) == ""
    remember(store, Selection(world_seed=7))
    assert worlds_in_words(store) == "seed 7: anybody with the package could have computed these keys"


@pytest.mark.parametrize("selection", [with_drawn_seed(RANDOM, None), Selection(benchmark="tasks.json")])
def test_it_says_nothing_of_what_nobody_can_compute(store, selection):
    remember(store, selection)
    assert worlds_in_words(store) == ""


def test_where_there_is_no_run_the_seed_is_told(tmp_path):
    (tmp_path / "tasks.json").write_text(f"[{samples.task().model_dump_json()}]")
    told: list[str] = []
    chosen = select(replace(RANDOM, benchmark=str(tmp_path / "tasks.json")), Setup(cache=tmp_path, tell=told.append))
    (said,) = told
    assert f"--world-seed {chosen.selection.world_seed} builds them again" in said


@pytest.mark.parametrize("given", ["-2", "x", "1.5", str(1 << 63), "²"])
def test_what_is_no_seed_is_refused(given):
    result = CliRunner().invoke(app, ["tasks", "list", "--world-seed", given])
    assert result.exit_code == 2 and "nor `random`" in " ".join(result.output.replace("│", " ").split())
