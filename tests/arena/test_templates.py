"""What a template class must have, how keys are written, and what becomes of both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sites.notes_site import SITE as NOTES
from tests.sites.other_site import SITE as OTHER
from tests.support import samples
from webassay.agents.oracle import Oracle
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.shortcuts import Shortcuts, bites, grafted
from webassay.arena.kit.template import Route, Template, Worlds, instances, templates_in
from webassay.arena.kit.walking import answer, click
from webassay.core.errors import AgentError, InputError, TaskError
from webassay.core.interaction import Goal, Node, Observation, Tab, Walk
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.record import Json
from webassay.core.registry import Registry
from webassay.core.task import ActivityCheck, Expectation, ExpectedChange, PagePattern, ResponseCheck, StateCheck
from webassay.core.trajectory import PageResult, RowChange, RowsResult
from webassay.sites.kit import Site, World, snapshot
from webassay.sites.rng import Stream

PAGE = PagePattern(site="notes", path="/")
SEEN = Key.seen("found", "on a page")


class Chore(Template, abstract=True):
    sites = ("notes",)
    kind = "retrieve"
    chore = "others"

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        return cls(**{field.name: stream.between(1, 1000) for field in fields(cls)})

    def key(self, worlds: Worlds) -> Key:
        return Key.answer("found") & SEEN

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=1, steps=3)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "More")
        return answer(page.title)


@dataclass(frozen=True)
class Numbered(Chore):
    """Find a number.

    More about it.
    """

    name = "notes.numbered"
    instruction = "Find {number}."

    number: int


@dataclass(frozen=True)
class Paired(Chore):
    """Copy a note from one site to the other."""

    name = "notes.paired"
    sites = ("notes", "other")
    kind = "mutate"
    instruction = "Copy {number}."

    user: str
    number: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        assert set(worlds) == {"notes", "other"}
        return cls("ada", stream.between(1, 1000))

    @property
    def logins(self) -> Mapping[str, str]:
        return {"notes": self.user, "other": "bob"}

    def key(self, worlds: Worlds) -> Key:
        return Key.insert("note", site="other", author=self.user, weight=self.number) & Key.visit(PAGE)


def world(site: Site, seed: int = 3) -> World:
    return World(site, seed, snapshot(site, seed, None))


@pytest.fixture(scope="module")
def worlds() -> dict[str, World]:
    return {"notes": world(NOTES), "other": world(OTHER), "unasked": world(NOTES, 4)}


# --- the class --------------------------------------------------------------------------------------------


def test_the_first_line_of_the_docstring_is_the_summary():
    assert Numbered.summary == "Find a number."


def define(doc: str | None = "Something.", **attributes: Any) -> type[Template]:
    body = {"__doc__": doc, "__module__": __name__, "__annotations__": {"number": int}, **attributes}
    return type(Chore)("Made", (Chore,), {key: value for key, value in body.items() if value is not None})


GOOD = {"name": "notes.made", "instruction": "Find {number}."}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"name": None}, "no name"),
        ({"instruction": None}, "no instruction"),
        ({"sites": ()}, "no sites"),
        ({"doc": None}, "no docstring"),
        ({"name": "other.made"}, "'other.made' is not `notes."),
        ({"name": "notes.Two Words"}, "is not `notes."),
        ({"sites": "notes"}, "not a tuple"),
        ({"kind": "look"}, "`kind` is none of retrieve"),
        ({"chore": "work"}, "`chore` is none of"),
        ({"levels": ("easy", "lethal")}, "`levels` are not some of easy"),
        ({"levels": ()}, "`levels` are not some of easy"),
        ({"effort": Template.effort}, "no method `effort`"),
        ({"instruction": "Find {what}."}, "names {what}, which is not a field (number)"),
        ({"instruction": "Find {}."}, "names {}, which is not a field"),
        ({"instruction": "Find {number."}, "cannot be filled in"),
        ({"solve": Template.solve}, "no method `solve`"),
        ({"draw": Template.__dict__["draw"]}, "no method `draw`"),
    ],
)
def test_a_class_that_lacks_something_cannot_be_defined(wrong, says):
    define(**GOOD)
    with pytest.raises(TaskError) as error:
        define(**{**GOOD, **wrong})
    assert says in error.value.message
    assert "Made" in error.value.message


def test_a_template_that_inherits_from_another_needs_a_name_of_its_own():
    with pytest.raises(TaskError, match="no name of its own"):

        @dataclass(frozen=True)
        class Second(Numbered):
            """Another one."""


def test_abstract_helpers_are_not_found_and_concrete_templates_are():
    module = ModuleType("themes")
    vars(module).update(Chore=Chore, Numbered=Numbered, Template=Template, Paired=Paired, number=3)
    assert list(templates_in(module)) == [Numbered, Paired]


def test_a_forgotten_decorator_is_found_when_templates_are_looked_for():
    module = ModuleType("themes")
    module.made = define(**GOOD)
    with pytest.raises(TaskError, match="lacks the decorator"):
        list(templates_in(module))


def test_a_registry_loads_a_template_by_its_place():
    registry = Registry("template", templates_in, modules=lambda: (), group="webassay.nothing")
    assert registry.load(f"{__name__}:Numbered") is Numbered
    with pytest.raises(InputError, match="not a template"):
        registry.load(f"{__name__}:Chore")


# --- parameters -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mixed(Chore):
    """Everything that a parameter can be."""

    name = "notes.mixed"
    instruction = "{text} {number} {texts}"

    text: str
    number: int
    texts: tuple[str, ...]
    share: float = 0.5


@given(st.text(), st.integers(), st.lists(st.text()), st.floats(allow_nan=False, allow_infinity=False))
def test_parameters_go_there_and_back(text, number, texts, share):
    drawn = Mixed(text, number, tuple(texts), share)
    assert Mixed.from_parameters(drawn.parameters) == drawn


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({}, "number is missing"),
        ({"number": 1, "stars": 2}, "there is no stars"),
        ({"number": "1"}, "number: "),
        ({"number": True}, "number: "),
    ],
)
def test_parameters_of_another_version_are_refused(parameters: dict[str, Json], says: str):
    with pytest.raises(TaskError) as error:
        Numbered.from_parameters(parameters)
    assert says in error.value.message
    assert "notes.numbered" in error.value.message


# --- keys -------------------------------------------------------------------------------------------------


def test_answers():
    assert Key.answer(3).results == Expectation.of([3])
    assert Key.answer("a", "b", ordered=True).results == Expectation(
        type="list", items=(Expectation.of("a"), Expectation.of("b")), ordered=True
    )
    assert Key.answer(money(1205)).results.items[0].value == "12.05"
    total = Key.answer({"count": 2, "total": money(5)}).results.items[0].fields["total"]
    assert (total.type, total.value, total.currency) == ("currency", "0.05", "USD")
    with pytest.raises(TaskError, match="one by one"):
        Key.answer(["a", "b"])


def test_changes():
    assert Key.insert("notes", title="x", pages=2).changes == (
        ExpectedChange(
            site="",
            table="notes",
            operation="insert",
            values={"title": Expectation.of("x"), "pages": Expectation.of(2)},
        ),
    )
    (change,) = Key.update("notes", where={"id": 7}, site="other", title="y").changes
    assert (change.site, change.operation, change.where) == ("other", "update", {"id": 7})
    (gone,) = Key.delete("notes", where={"id": 7}).changes
    assert (gone.operation, gone.values) == ("delete", {})
    for careless in (Key.update, Key.delete):
        with pytest.raises(TaskError, match="which row"):
            careless("notes", where={})


def test_a_change_can_follow_the_id_of_another():
    key = Key.insert("orders", label="order", total=5) & Key.insert("items", order_id=Expectation(same_as="order.id"))
    StateCheck(changes=key.on(["shop"]).changes)


def test_refusals():
    key = Key.refusal("NOT_FOUND_ERROR", "UNKNOWN_ERROR", facts=SEEN)
    assert (key.status, key.evidence) == (("NOT_FOUND_ERROR", "UNKNOWN_ERROR"), SEEN.evidence)
    for status in ((), ("SUCCESS",), ("NOT_FOUND",)):
        with pytest.raises(TaskError, match="not a status"):
            Key.refusal(*status, facts=SEEN)
    for no_facts in (Key(), Key.answer(3), Key.visit(PAGE), SEEN & Key.answer(3)):
        with pytest.raises(TaskError, match="evidence"):
            Key.refusal("NOT_FOUND_ERROR", facts=no_facts)


parts = st.sampled_from(
    [Key.insert("a", x=1), Key.delete("b", where={"id": 1}), Key.visit(PAGE), Key.checkpoint("page", PAGE)]
)


@given(st.lists(parts), st.lists(parts), st.lists(parts))
def test_combining_keys_keeps_everything_and_does_not_depend_on_brackets(first, second, third):
    a, b, c = map(Key.all_of, (first, second, third))
    assert (a & b) & c == a & (b & c) == Key.all_of([*first, *second, *third])
    assert a & Key() == a == Key() & a
    assert len((a & b).changes) == len(a.changes) + len(b.changes)


@pytest.mark.parametrize("twice", [Key.answer(1), Key.page(PAGE), Key.refusal("UNKNOWN_ERROR", facts=SEEN)])
def test_what_can_only_be_said_once_cannot_be_combined(twice):
    assert (twice & Key.checkpoint("page", PAGE)).checkpoints
    with pytest.raises(TaskError, match="both give"):
        _ = twice & twice


def test_a_change_without_a_site_is_on_the_only_one():
    key = Key.insert("a", x=1) & Key.insert("b", site="other", x=1)
    assert [change.site for change in key.on(["notes"]).changes] == ["notes", "other"]
    with pytest.raises(TaskError, match="On which site is a"):
        key.on(["notes", "other"])


# --- tasks ------------------------------------------------------------------------------------------------


def test_one_site(worlds):
    first, second = instances(Numbered, worlds, 2, 9)
    assert (first.id, second.id) == ("notes.numbered.w3s9.0", "notes.numbered.w3s9.1")
    assert first.parameters != second.parameters
    assert first.goal.instruction == f"Find {first.parameters['number']}."
    assert first.goal.start_urls == ("__NOTES__/",)
    assert (first.sites, first.logins) == (("notes",), {})


def test_several_sites(worlds):
    (task,) = instances(Paired, worlds, 1)
    assert task.sites == task.goal.sites == ("notes", "other")
    assert task.goal.start_urls == ("__NOTES__/", "__OTHER__/")
    assert task.logins == {"notes": "ada", "other": "bob"}
    activity = [check for check in task.checks if isinstance(check, ActivityCheck)]
    assert [(check.site, check.logged_in, len(check.visits)) for check in activity] == [
        ("notes", True, 1),
        ("other", True, 0),
    ]
    with pytest.raises(TaskError, match="needs a world of other"):
        instances(Paired, {"notes": worlds["notes"]}, 1)
    with pytest.raises(TaskError, match="different seeds"):
        instances(Paired, {"notes": worlds["unasked"], "other": worlds["other"]}, 1)


def test_a_user_is_logged_in_on_the_first_site():
    @dataclass(frozen=True)
    class Personal(Chore):
        """Mine."""

        name = "notes.personal"
        sites = ("notes", "other")
        instruction = "Find mine."

        user: str

    assert Personal("ada").logins == {"notes": "ada"}
    assert Personal("").logins == {}


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (Key.insert("nowhere", x=1), "nowhere, which is not a table of notes"),
        (Key.insert("nowhere", site="other", x=1), "on other, which is not a site"),
        (Key.update("note", where={"id": 1}, colour="red"), "names note.colour, which does not exist"),
        (Key.delete("note", where={"number": 1}), "names note.number, which does not exist"),
        (Key.page(PAGE), "does not decide a task of the kind retrieve"),
        (Key.answer(1) & Key.refusal("UNKNOWN_ERROR", facts=SEEN), "is a refusal"),
    ],
)
def test_a_key_that_cannot_be_right_shows_when_the_task_is_made(worlds, key, says):
    class Wrong(Numbered):
        """Wrong."""

        name = "notes.wrong"

        def key(self, worlds: Worlds) -> Key:
            return (key if key.results or key.pages else key & Key.answer("found")) & SEEN

    with pytest.raises(TaskError) as error:
        instances(Wrong, worlds, 1)
    assert says in error.value.message


@pytest.mark.parametrize("values", [(), (0,), (0, 0), ("number",)])
def test_what_can_be_guessed_from_the_goal_is_not_drawn(worlds, values):
    class Guessable(Numbered):
        """Guessable."""

        name = "notes.guessable"

        def key(self, worlds: Worlds) -> Key:
            return Key.answer(*(self.number if value == "number" else value for value in values)) & SEEN

    with pytest.raises(TaskError, match="only 0 instances"):
        instances(Guessable, worlds, 1)


def test_the_status_is_success_unless_it_is_a_refusal(worlds):
    (task,) = instances(Numbered, worlds, 1)
    (check,) = (check for check in task.checks if isinstance(check, ResponseCheck))
    assert (check.action, check.status) == ("retrieve", ("SUCCESS",))


# --- drawing by difficulty --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sized(Chore):
    """Read so many notes."""

    name = "notes.sized"
    instruction = "Read {number}."
    levels = ("easy", "medium", "hard", "extreme")

    number: int

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=self.number, pages=self.number // 20 + 1, steps=self.number // 20 + 3)


def test_the_limit_and_the_difficulty_of_a_task_follow_from_its_effort(worlds):
    for task in instances(Sized, worlds, 30):
        effort = Sized.from_parameters(task.parameters).effort(worlds)
        assert (task.difficulty, task.max_steps) == (effort.difficulty(), effort.step_limit)
        assert f"at most {task.max_steps} steps" in " ".join(task.goal.hints)


def test_tasks_of_one_difficulty_have_ids_of_their_own(worlds):
    whole, hard = instances(Sized, worlds, 20), instances(Sized, worlds, 5, difficulty="hard")
    assert {task.difficulty for task in hard} == {"hard"}
    assert hard[0].id == "notes.sized.w3s0-hard.0"
    drawn = [task.parameters for task in whole if task.difficulty == "hard"]
    assert [task.parameters for task in hard][: len(drawn)] == drawn[:5]


def test_a_world_that_has_nothing_of_what_is_drawn_has_no_instance(worlds):
    class Nowhere(Numbered):
        """Nowhere."""

        name = "notes.nowhere"

        @classmethod
        def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
            return cls(stream.choice(()))

    with pytest.raises(TaskError, match=r"World 3 has only 0 instances of notes\.nowhere, not 1"):
        instances(Nowhere, worlds, 1)


def test_it_says_how_many_instances_there_are(worlds):
    class Few(Numbered):
        """Few."""

        name = "notes.few"

        @classmethod
        def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
            return cls(stream.between(1, 7))

    with pytest.raises(TaskError, match=r"World 3 has only 7 instances of notes\.few, not 8") as error:
        instances(Few, worlds, 8)
    assert "0 gave None and 7 were different; in 0 of them" in error.value.message
    assert "at most 7" in error.value.hint
    with pytest.raises(TaskError, match=r"0 instances of notes\.few of difficulty hard"):
        instances(Few, worlds, 1, difficulty="hard")


# --- shortcuts and routes ---------------------------------------------------------------------------------


def test_an_instance_that_a_shortcut_solves_is_not_drawn(worlds):
    class Counting(Numbered):
        """Count."""

        name = "notes.counting"

        def key(self, worlds: Worlds) -> Key:
            return Key.answer(f"{self.number % 3}") & SEEN

        def shortcuts(self, worlds: Worlds) -> Shortcuts:
            return {"first-page-only": Key.answer("1"), "another-site": Key.answer("2")}

    drawn = {task.parameters["number"] % 3 for task in instances(Counting, worlds, 20)}
    assert drawn == {0}


rights = st.sampled_from(
    [Key.answer(1, 2), Key.answer(1), Key.answer(money(5)), Key.page(PAGE), Key.insert("note", site="notes", id=1)]
)


@given(rights, rights)
def test_what_decides_the_same_does_not_bite_and_what_decides_otherwise_does(one, other):
    assert bites(one, other) == (one != other)
    assert not bites(one, one & Key.checkpoint("page", PAGE) & Key.visit(PAGE))


def test_a_unit_is_no_other_answer():
    assert not bites(Key.answer(3, unit="people"), Key.answer(3))
    assert bites(Key.answer(3, unit="people"), Key.answer(4))


def test_the_order_of_a_list_bites_only_where_it_counts():
    assert not bites(Key.answer("a", "b"), Key.answer("b", "a"))
    assert bites(Key.answer("a", "b", ordered=True), Key.answer("b", "a", ordered=True))


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ({"shortcuts": {"First Page": Key.answer("x")}}, "'First Page', which is not words-with-hyphens"),
        ({"routes": {"by_menu": None}}, "'by_menu', which is not words-with-hyphens"),
        ({"hasty": {"too-fast": None}}, "lack 'too-fast', which is played"),
        (
            {"routes": {"a": None}, "hasty": {"a": None}, "shortcuts": {"a": Key.answer("x")}},
            "include 'a', which is a route as well",
        ),
    ],
)
def test_routes_and_shortcuts_have_names_that_can_be_typed(worlds, own, says):
    class Routed(Numbered):
        """Routed."""

        name = "notes.routed"

        def shortcuts(self, worlds: Worlds) -> Shortcuts:
            return own.get("shortcuts", {})

        def routes(self) -> Mapping[str, Route]:
            return own.get("routes", {})

        def hasty(self) -> Mapping[str, Route]:
            return own.get("hasty", {})

    with pytest.raises(TaskError) as error:
        instances(Routed, worlds, 1)
    assert says in error.value.message


def test_a_route_is_found_by_its_name():
    class Menu(Numbered):
        """Menu."""

        name = "notes.menu"

        def routes(self) -> Mapping[str, Route]:
            return {"by-menu": self.solve}

    menu = Menu(1)
    assert menu.route("by-menu") == menu.route() == menu.solve
    with pytest.raises(TaskError, match="no route 'by-search'") as error:
        menu.route("by-search")
    assert "by-menu" in error.value.hint


def test_a_grafted_shortcut_ends_where_the_hasty_reader_ends(worlds):
    (task,) = instances(Paired, worlds, 1)
    note = worlds["other"].row("SELECT * FROM note ORDER BY id LIMIT 1")
    right = samples.trajectory(
        probes=(
            RowsResult(site="other", changes=(RowChange(table="note", key={"id": 9}, after={"id": 9}),)),
            PageResult(url="http://notes.test/", title="", tabs=()),
        ),
        bases={"notes": "http://notes.test", "other": "http://other.test"},
    )
    deleted = grafted(task, right, Key.delete("note", where={"id": note["id"]}, site="other"), worlds)
    ((change,),) = (rows.changes for rows in deleted.probed(RowsResult))
    assert (change.operation, change.key, change.before["author"]) == ("delete", {"id": note["id"]}, note["author"])
    elsewhere = grafted(task, right, Key.page(PagePattern(site="notes", path="/about")), worlds)
    assert next(elsewhere.probed(PageResult)).url == "http://notes.test/about"
    said = json.loads(grafted(task, right, Key.answer(money(1205), {"count": 2}), worlds).answer)
    assert said == {"action": "retrieve", "status": "SUCCESS", "results": ["$12.05", {"count": 2}]}


# --- the oracle -------------------------------------------------------------------------------------------


def page(title: str, *, error: str = "") -> Observation:
    link = Node(id="4", role="link", name="More", depth=1)
    tabs = (Tab("http://notes.test/", title),)
    return Observation(tabs[0].url, title, tabs, 0, nodes=(link,), last_error=error)


GOAL = Goal(instruction="Find it.", start_urls=("http://notes.test/",), protocol=ARENA_PROTOCOL)


async def test_the_oracle_walks_the_solution_and_starts_anew_with_every_goal():
    oracle = Oracle(Numbered(7).solve)
    for _ in range(2):
        await oracle.start(GOAL)
        (first,) = (await oracle.decide(page("One"))).actions
        assert first.text == "click(bid='4')"
        (last,) = (await oracle.decide(page("Two"))).actions
        assert '"results": ["Two"]' in last.args["text"]


async def test_the_oracle_gives_up_where_its_solution_does_not_fit_the_page():
    oracle = Oracle(Numbered(7).solve)
    await oracle.start(GOAL)
    await oracle.decide(page("One"))
    with pytest.raises(AgentError, match="no such element"):
        await oracle.decide(page("One", error="no such element"))
