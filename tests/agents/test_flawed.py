"""Agents of known ability: how often they err, that they err on their own, and that every mistake is one."""

import asyncio
import inspect
import json
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webassay.agents.base import AgentRequest
from webassay.agents.flawed import slips
from webassay.agents.flawed.flawed import ERRORS, Flawed, FlawedOptions, errs
from webassay.agents.flawed.pacing import Pace, Paced, is_idle
from webassay.agents.flawed.slips import NoOccasionError, Scene
from webassay.compose.registries import AGENTS
from webassay.core.errors import InputError
from webassay.core.interaction import Action, Goal, Node, Observation, ResponseProtocol
from webassay.core.options import read_options

RESPONSES = {
    "retrieve": {"action": "retrieve", "status": "SUCCESS", "results": ["$12.50", "Ann K."]},
    "navigate": {"action": "navigate", "status": "SUCCESS", "results": None},
    "mutate": {"action": "mutate", "status": "SUCCESS", "results": None},
    "unachievable": {"action": "mutate", "status": "NOT_FOUND_ERROR", "results": None, "error_details": "No."},
}


def page(step=0):
    nodes = (
        Node("1", "link", "Ann K.", 1, url="http://shop.test/a"),
        Node("2", "button", "Save Address", 1),
        Node("3", "textbox", "City", 1),
        Node("4", "link", "Next", 1, url="http://shop.test/next"),
        Node("", "text", "It costs $12.50 in all", 1),
    )
    return Observation(url="http://shop.test/", title="Shop", tabs=(), active_tab=0, step=step, nodes=nodes)


def solution(kind):
    def walk(seen):
        yield Action.of("click", "1")
        yield Action.of("fill", "3", "Springfield")
        yield Action.of("click", "2")
        return RESPONSES[kind]

    return walk


def played(agent, most=40, modality="tree"):
    protocol = ResponseProtocol(name="arena", instructions="")
    goal = Goal(instruction="Do it.", start_urls=(), protocol=protocol, modality=modality)

    async def play():
        await agent.start(goal)
        made = []
        for step in range(most):
            decision = await agent.decide(page(step))
            made.append(decision)
            if not isinstance(decision, str) and decision.actions[0].name == "send_msg_to_user":
                return made, json.loads(decision.actions[0].get("text"))
        raise AssertionError("it never answers")

    return asyncio.run(play())


def flawed(kind, seed=1, name="flawed", **options):
    return Flawed(AgentRequest(name, FlawedOptions(**options), seed, solution=solution(kind), kind=kind))


@pytest.mark.parametrize("skill", [0.0, 0.1, 0.35, 0.6, 0.9, 1.0])
def test_the_share_of_mistakes_is_the_one_asked_for(skill):
    n = 20_000
    right = sum(not errs("flawed", seed, skill) for seed in range(n)) / n
    assert abs(right - skill) <= 4 * math.sqrt(skill * (1 - skill) / n)


def test_two_agents_err_independently():
    n = 20_000
    both = sum(errs("one", seed, 0.5) and errs("other", seed, 0.5) for seed in range(n)) / n
    assert abs(both - 0.25) < 0.02


@pytest.mark.parametrize("kind", RESPONSES)
def test_without_mistakes_it_answers_as_the_solution_does(kind):
    made, answer = played(flawed(kind, skill=1.0))
    assert answer == RESPONSES[kind]
    assert len(made) == 4
    assert "Ann K." in made[0].thought


def test_it_looks_at_what_the_reference_solution_needs():
    agent = flawed("retrieve", skill=1.0)
    played(agent)
    assert agent.wants == ("tree",)
    played(agent, modality="screenshot")
    assert set(agent.wants) == {"boxes", "screenshot"}


@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("errors", ["any", "answer", "claim", "stop"])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_a_mistake_shows_in_the_answer_or_in_what_was_done(kind, errors, seed):
    made, answer = played(flawed(kind, seed, skill=0.0, errors=errors))
    deeds = [one.actions[0].text for one in made[:-1]]
    right = [one.actions[0].text for one in played(flawed(kind, skill=1.0))[0][:-1]]
    assert answer != RESPONSES[kind] or deeds != right


@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("errors", ["any", "answer", "claim", "stop"])
@pytest.mark.parametrize("moves", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_a_course_that_is_over_soon_fails_and_does_not_crash(kind, errors, moves, seed):
    right = {**RESPONSES[kind], "results": [] if kind == "retrieve" else None}

    def walk(seen):
        for _ in range(moves):
            yield Action.of("click", "1")
        return right

    request = AgentRequest("flawed", FlawedOptions(skill=0.0, errors=errors), seed, solution=walk, kind=kind)
    made, answer = played(Flawed(request))
    assert answer != right or len(made) != moves + 1


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_a_change_that_is_claimed_or_given_up_is_never_made(seed):
    made, _ = played(flawed("mutate", seed, skill=0.0))
    assert "click(bid='2')" not in [one.actions[0].text for one in made]


def test_the_same_seed_makes_the_same_mistake():
    assert played(flawed("retrieve", 7, skill=0.0)) == played(flawed("retrieve", 7, skill=0.0))


def test_every_kind_of_task_has_mistakes():
    assert set(ERRORS) == set(RESPONSES)


def test_an_impossible_skill_is_refused_at_once():
    with pytest.raises(InputError, match="between 0 and 1"):
        read_options("flawed", FlawedOptions, {"skill": "1.5"})


def test_it_can_be_named():
    assert AGENTS.get("flawed").needs == ("solution",)


# --- slips --------------------------------------------------------------------------------------------------------

VALUES = st.one_of(
    st.integers(0, 10**6),
    st.decimals(0, 10_000, places=2).map(lambda amount: f"${amount:,}"),
    st.text("abcdefgh ", min_size=1, max_size=20).map(str.strip).filter(bool),
    st.sampled_from(["000123-45", "March 3, 2025", "A-1", "True Grit"]),
)


@given(value=VALUES, seed=st.integers(0, 10**6))
def test_a_near_miss_misses(value, seed):
    missed = slips.near_miss([value], random.Random(seed), ("Ann K.", "x y", "$1.00"))
    assert missed != [value]
    assert type(missed[0]) is type(value)


def run(course, shows=page):
    moves, seen, step = course(shows()), [], 0
    try:
        move = next(moves)
        while True:
            seen.append(move)
            step += 1
            move = moves.send(shows(step))
    except StopIteration as done:
        return seen, done.value


def with_more(*nodes):
    def shows(step=0):
        return replace(page(step), nodes=(*page(step).nodes, *nodes))

    return shows


def pressing(bid, results=None):
    """Fills in a form, presses a button, and looks at something else."""

    def walk(seen):
        yield Action.of("fill", "3", "Springfield")
        yield Action.of("fill", "3", "Shelbyville")
        yield Action.of("click", bid)
        yield Action.of("click", "1")
        return {"action": "mutate", "status": "SUCCESS", "results": results}

    return walk


def to_the_next_page(seen):
    """The list is long, and the way to it leads over another one."""
    seen = yield Action.of("click", "1")
    link = seen.find("link", "Next")
    if link is not None:
        yield Action.of("click", link.id)
    return RESPONSES["retrieve"]


def made_up(course, scene):
    return slips.made_up(["$12.50"], scene, course)


def besides(course, scene):
    return slips.besides(course, pressing("2"), scene)


CART = with_more(Node("5", "button", "Add to Cart", 1), Node("6", "button", "Add to Wish List", 1))
ORDER = with_more(Node("5", "button", "Place Order", 1))
AWAY = with_more(Node("5", "heading", "This page is not available at the moment", 1))

IN_THE_ANSWER = [
    (slips.misquoted, solution("retrieve"), page),
    (slips.miscalculated, pressing("2", ["$40.10"]), page),
    (slips.miscalculated, pressing("2", [{"name": "Ann K.", "all": [{"total": "$40.10"}]}]), page),
    (slips.misreported, solution("retrieve"), page),
    (slips.withheld, solution("retrieve"), page),
    (slips.partly_delivered, solution("retrieve"), page),
    (slips.feigned, solution("unachievable"), page),
    (slips.claimed, solution("mutate"), page),
    (slips.asked_again, pressing("5"), ORDER),
    (slips.cut_short, solution("retrieve"), page),
    (slips.gave_up, solution("retrieve"), AWAY),
    (made_up, solution("retrieve"), page),
]
IN_A_MOVE = [
    (slips.mistyped, pressing("2"), page),
    (slips.confused, pressing("5"), CART),
    (slips.unreadable, solution("retrieve"), page),
    (slips.unheard_of, solution("retrieve"), page),
    (slips.said_otherwise, solution("retrieve"), page),
    (slips.went_elsewhere, solution("retrieve"), page),
]
THROUGHOUT = [
    (slips.first_page_only, to_the_next_page, page),
    (slips.wandered_off, solution("navigate"), page),
]
EVERY_SEED = pytest.mark.parametrize("seed", range(6))


def slipped(slip, course, shows, seed):
    """Where it says that the mistake was made, what was done, and what would have been right."""
    scene = Scene(random.Random(seed), length=4)
    moves, _ = run(slip(course, scene), shows)
    assert scene.incident.happened
    return scene.incident, moves, run(course, shows)[0]


@EVERY_SEED
@pytest.mark.parametrize(("slip", "course", "shows"), IN_THE_ANSWER)
def test_a_slip_in_the_answer_is_in_no_step(slip, course, shows, seed):
    incident, moves, right = slipped(slip, course, shows, seed)
    assert (incident.step, incident.throughout) == (None, False)
    assert moves == right[: len(moves)]


@EVERY_SEED
@pytest.mark.parametrize(("slip", "course", "shows"), IN_A_MOVE)
def test_a_slip_in_a_move_is_in_the_first_step_that_differs(slip, course, shows, seed):
    incident, moves, right = slipped(slip, course, shows, seed)
    assert not incident.throughout
    assert moves[: incident.step] == right[: incident.step]
    assert moves[incident.step] != right[incident.step]


@pytest.mark.parametrize(("slip", "course", "shows"), THROUGHOUT)
def test_a_slip_without_a_move_leaves_the_step_to_a_comparison(slip, course, shows):
    incident, moves, right = slipped(slip, course, shows, 0)
    assert (incident.step, incident.throughout) == (None, True)
    assert moves != right and len(moves) > 0


def test_what_nobody_asked_for_begins_when_the_course_is_over():
    incident, moves, right = slipped(besides, solution("mutate"), page, 0)
    assert moves[: len(right)] == right
    assert incident.step == len(right) + 1, "after the way back"
    assert moves[incident.step :] == run(pressing("2"))[0]


def test_every_slip_is_tried():
    tried = {slip for slip, _, _ in (*IN_THE_ANSWER, *IN_A_MOVE, *THROUGHOUT)}
    known = {
        made
        for made in vars(slips).values()
        if inspect.isfunction(made) and [*inspect.signature(made).parameters] == ["course", "scene"]
    }
    assert known <= tried


def test_a_slip_is_the_only_difference():
    scene = Scene(random.Random(1), length=2)
    moves, answer = run(slips.unreadable(solution("mutate"), scene))
    right, same = run(solution("mutate"))
    place = scene.incident.step
    assert isinstance(moves[place], str)
    assert [*moves[:place], *moves[place + 1 :]] == right
    assert answer == same


@EVERY_SEED
def test_what_was_worked_out_is_found_wherever_it_stands_in_the_answer(seed):
    right = [{"name": "Ann K.", "read": "$12.50", "sums": {"count": 31, "last": True}}]
    _, answer = run(slips.miscalculated(pressing("2", right), Scene(random.Random(seed))))
    (made,) = answer["results"]
    assert made["sums"]["count"] != 31
    assert [{**made, "sums": {**made["sums"], "count": 31}}] == right
    assert right[0]["sums"]["count"] == 31, "the right answer stays as it is"


def test_another_value_is_entered_and_the_rest_is_right():
    scene = Scene(random.Random(0), kind="mutate")
    scene.rng.randrange = lambda *_: 0  # the first field
    moves, _ = run(slips.mistyped(solution("mutate"), scene))
    assert moves[1].get("value") != "Springfield"
    assert moves[2] == Action.of("click", "2")


@pytest.mark.parametrize(
    ("slip", "kind"),
    [
        (slips.miscalculated, "retrieve"),  # the amount stands on the page
        (slips.feigned, "retrieve"),
        (slips.withheld, "mutate"),
        (slips.asked_again, "mutate"),  # an address can be changed again
        (slips.gave_up, "retrieve"),
        (slips.confused, "mutate"),
    ],
)
def test_without_an_occasion_there_is_no_course(slip, kind):
    with pytest.raises(NoOccasionError):
        run(slip(solution(kind), Scene(random.Random(1), kind=kind)))


# --- pace ---------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(steps=st.integers(0, 20), more=st.integers(0, 6), seed=st.integers(0, 1000))
def test_a_paced_course_takes_the_steps_asked_for_and_does_the_same(steps, more, seed):
    agent = Paced("player", solution("mutate"), Pace(more=more, steps=steps, stays=True), random.Random(seed))
    made, answer = played(agent)
    assert answer == RESPONSES["mutate"]
    assert len(made) == max(steps, 4 + more)
    deeds = [one.actions[0] for one in made if not is_idle(one.thought)][:-1]
    assert deeds == run(solution("mutate"))[0]


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_scrolled_away_that_is_read_off_a_picture(seed):
    agent = Paced("player", solution("retrieve"), Pace(more=3, stays=True), random.Random(seed))
    made, _ = played(agent, modality="screenshot")
    assert [is_idle(one.thought) for one in made] == [False] * 3 + [True] * 3 + [False]


@pytest.mark.parametrize(
    ("name", "chosen", "made"),
    [("Action", "Approve", "Reject"), ("Action", "Mark as Paid", None), ("Size", "Hold", None)],
)
def test_another_deed_is_chosen_for_the_rows_that_are_ticked(name, chosen, made):
    grid = Observation(
        url="http://admin.test/", title="", tabs=(), active_tab=0, step=0, nodes=(Node("7", "combobox", name, 1),)
    )

    def walk(seen):
        yield Action.of("select_option", "7", chosen)
        return RESPONSES["mutate"]

    moves = slips.confused(walk, Scene(random.Random(1), kind="mutate"))(grid)
    first = next(moves)
    assert first == Action.of("select_option", "7", made or chosen)
    with pytest.raises(StopIteration if made else NoOccasionError):
        moves.send(grid)
