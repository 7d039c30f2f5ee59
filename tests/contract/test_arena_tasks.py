"""Every template, over several seeds: instances differ, keys hold, nothing gives the answer away."""

import re

import pytest

from tests.support.templates import TEMPLATES
from tests.support.worlds import bench
from tests.support.worlds import worlds as open_worlds
from webassay import Selection
from webassay.arena.kit.effort import DIFFICULTIES
from webassay.arena.kit.instances import instances
from webassay.arena.kit.shortcuts import bites
from webassay.compose.registries import CHORES
from webassay.core.errors import InputError
from webassay.core.task import ActivityCheck, EvidenceCheck, ResponseCheck, StateCheck, Task

SEEDS = (pytest.param((0, 0), id="world0-seed0"), pytest.param((1, 5), id="world1-seed5", marks=pytest.mark.slow))


@pytest.fixture(scope="module", params=SEEDS)
def tasks(request) -> dict[str, list[Task]]:
    world_seed, seed = request.param
    worlds = open_worlds(world_seed)
    return {template.name: instances(template, worlds, 2, seed) for template in TEMPLATES}


def test_there_are_enough_and_they_cover_every_kind_and_chore():
    assert len(TEMPLATES) >= 100
    assert {site for template in TEMPLATES for site in template.sites} == {*CHORES.built_in()}
    assert len([template for template in TEMPLATES if len(template.sites) > 1]) >= 6
    assert {template.kind for template in TEMPLATES} == {"retrieve", "navigate", "mutate", "unachievable"}
    assert {template.chore for template in TEMPLATES} == {"massive_memory", "calculation", "long_term_memory", "others"}


def test_no_two_have_the_same_name_and_each_says_what_it_is():
    assert len({template.name for template in TEMPLATES}) == len(TEMPLATES)
    assert len({template.summary for template in TEMPLATES}) == len(TEMPLATES)


def test_instances_are_different_and_the_same_every_time(tasks):
    for template in TEMPLATES:
        found = tasks[template.name]
        assert len({task.goal.instruction + str(task.logins) for task in found}) == 2
        worlds = open_worlds(found[0].world_seed)
        seed = int(re.search(r"s(\d+)\.\d+$", found[0].id).group(1))
        assert instances(template, worlds, 1, seed) == found[:1]


def test_a_task_gives_back_the_instance_that_it_was_made_from(tasks):
    for template in TEMPLATES:
        for task in tasks[template.name]:
            again = template.from_parameters(task.parameters)
            assert again.parameters == task.parameters
            assert again.logins == task.logins
            assert again.key(open_worlds(task.world_seed)).checkpoints == task.checkpoints


def test_the_goal_is_filled_in(tasks):
    for found in tasks.values():
        for task in found:
            assert not re.search(r"[{}]|\bNone\b", task.goal.instruction), task.goal.instruction


def test_every_task_asks_for_an_answer_watches_every_row_and_wants_proof_of_work(tasks):
    for found in tasks.values():
        for task in found:
            kinds = {type(check) for check in task.checks}
            assert {ResponseCheck, StateCheck, ActivityCheck} <= kinds
            changes = next(check for check in task.checks if isinstance(check, StateCheck)).changes
            assert bool(changes) == (task.kind == "mutate")
            assert EvidenceCheck in kinds
            assert task.checkpoints


def test_the_answer_does_not_stand_in_the_goal_or_among_the_parameters(tasks):
    """What the oracle is handed must not hold what it has to find."""
    for found in tasks.values():
        for task in found:
            results = next(check for check in task.checks if isinstance(check, ResponseCheck)).results
            for item in (results.items or ()) if results is not None else ():
                if isinstance(item.value, str) and len(item.value) > 3:
                    assert item.value not in task.goal.instruction
                    assert item.value not in str(task.parameters)


def test_every_condition_matters(tasks):
    """No hasty reading leads to the right end, and every template knows of some."""
    for template in TEMPLATES:
        for task in tasks[template.name]:
            worlds = open_worlds(task.world_seed)
            drawn = template.from_parameters(task.parameters)
            key, shortcuts = drawn.key(worlds).on(task.sites), drawn.shortcuts(worlds)
            assert shortcuts, template.name
            assert all(bites(key, wrong.on(task.sites)) for wrong in shortcuts.values())


def test_there_is_more_than_one_way_to_do_it(tasks):
    for template in TEMPLATES:
        drawn = template.from_parameters(tasks[template.name][0].parameters)
        assert drawn.routes(), template.name
        if template.kind == "mutate":
            assert drawn.hasty(), template.name


def test_the_limit_is_said_and_the_highest_difficulty_is_promised(tasks):
    for template in TEMPLATES:
        for task in tasks[template.name]:
            assert task.difficulty != "extreme" or "extreme" in template.levels, task.id
            assert f"at most {task.max_steps} steps" in task.goal.hints[0]


def test_a_limit_does_not_betray_a_refusal(tasks):
    """Whatever limit a task that cannot be done has, most tasks with that limit can be done."""
    everything = [task for found in tasks.values() for task in found]
    for limit in {task.max_steps for task in everything if task.kind == "unachievable"}:
        kinds = [task.kind == "unachievable" for task in everything if task.max_steps == limit]
        assert sum(kinds) * 2 < len(kinds)


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_templates_can_be_drawn_at_the_difficulties_that_they_name(difficulty):
    worlds = open_worlds(0)
    able = [template for template in TEMPLATES if difficulty in template.levels]
    assert len(able) >= 5
    for template in able:
        (task,) = instances(template, worlds, 1, 2, difficulty)
        assert task.difficulty == difficulty


# In the last one several coupons take off the same, end on the same day, and every search finds little.
@pytest.mark.parametrize("world_seed", [*(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 5)), 1, 20011])
def test_every_template_can_be_drawn_in_a_small_world(world_seed):
    worlds = open_worlds(world_seed, "small")
    for template in TEMPLATES:
        assert len(instances(template, worlds, Selection().instances)) == Selection().instances


def test_the_highest_difficulty_is_a_long_list_on_many_pages():
    worlds = open_worlds(0)
    for template in TEMPLATES:
        if "extreme" in template.levels:
            for task in instances(template, worlds, 3, 3, "extreme"):
                effort = template.from_parameters(task.parameters).effort(worlds)
                assert effort.rows >= 200
                assert effort.pages >= 10


def test_tasks_are_selected_by_difficulty_and_found_again_by_their_ids():
    found = bench().tasks(Selection(templates=("shop.orders-by-status",), difficulty="extreme", instances=2))
    assert [task.id for task in found] == [f"shop.orders-by-status.w0s0-extreme.{number}" for number in (0, 1)]
    other = "shop.change-address.w0s0.0"
    assert [task.id for task in bench().tasks(Selection(tasks=(found[1].id, other)))] == [found[1].id, other]
    assert bench().tasks(Selection(tasks=(found[1].id,))) == (found[1],)


def test_an_id_says_where_its_task_was_drawn():
    """World, seed, number, size and obstacles: nobody has to repeat them."""
    ids = ("shop.change-address.w1s4.1@small+slow", "shop.change-address.w0s2.4")
    names = ("shop.change-address",)
    made = [
        Selection(templates=names, world_seed=1, seed=4, instances=2, scale="small", obstacles=("slow",)),
        Selection(templates=names, seed=2, instances=5),
    ]
    assert bench().tasks(Selection(tasks=ids)) == tuple(bench().tasks(one)[-1] for one in made)


@pytest.mark.parametrize(
    ("selection", "says"),
    [
        (Selection(difficulty="lethal"), "no difficulty 'lethal'"),
        (Selection(difficulty="hard", templates=("shop.change-address",)), "shop.change-address is never hard"),
    ],
)
def test_a_difficulty_that_does_not_exist_is_refused(selection, says):
    with pytest.raises(InputError, match=says):
        bench().tasks(selection)


def test_tasks_of_a_file_are_selected_by_difficulty(tmp_path):
    (task,) = bench().tasks(Selection(templates=("shop.change-address",), instances=1))
    file = tmp_path / "tasks.json"
    file.write_text(f"[{task.to_json()}]")
    assert bench().tasks(Selection(benchmark=str(file), difficulty="easy")) == (task,)
    with pytest.raises(InputError, match="no tasks of difficulty 'hard'") as error:
        bench().tasks(Selection(benchmark=str(file), difficulty="hard"))
    assert error.value.hint == "It has easy."


def test_obstacles_are_part_of_the_task_and_of_its_id():
    chosen = Selection(templates=("shop.change-address",), instances=1, obstacles=("slow", "session-ends"))
    (task,) = bench().tasks(chosen)
    (plain,) = bench().tasks(Selection(templates=("shop.change-address",), instances=1))
    assert task.id == f"{plain.id}@slow+session-ends"
    assert task.obstacles == ("slow", "session-ends")
    assert task.checks == plain.checks
    assert any("log in again" in hint and plain.logins["shop"] in hint for hint in task.goal.hints)
    assert "obstacles" not in plain.to_json()
    (drawn,) = bench().tasks(Selection(templates=("shop.change-address",), instances=1, obstacles=("any",)))
    assert len(drawn.obstacles) == 1
