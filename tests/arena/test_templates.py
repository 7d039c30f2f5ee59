"""What a template class must have, how keys are written, and what becomes of both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
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
from webassay.arena.kit.instances import in_words, instances
from webassay.arena.kit.key import Key, money
from webassay.arena.kit.shortcuts import bites, grafted
from webassay.arena.kit.template import Parts, Retrieve, Template, fair, templates_in
from webassay.arena.kit.walking import answer, click
from webassay.core.errors import AgentError, InputError, TaskError
from webassay.core.interaction import Goal, Node, Observation, Tab, Walk
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.record import Json
from webassay.core.registry import Registry
from webassay.core.task import ActivityCheck, Expectation, ExpectedChange, PagePattern, ResponseCheck, StateCheck
from webassay.core.trajectory import PageResult, RowChange, RowsResult
from webassay.sites.kit import Site, World, snapshot
from webassay.sites.rng import NothingToDraw, Stream

PAGE = PagePattern(site="notes", path="/")
SEEN = Key.seen("found", "on a page")


class Chore(Retrieve, abstract=True):
    sites = ("notes",)
    chore = "others"

    @classmethod
    def draw(cls, *worlds_and_stream: Any) -> Self:
        return cls(**{field.name: worlds_and_stream[-1].between(1, 1000) for field in fields(cls)})

    def end(self, *worlds: World, key: Key | None = None, **how: Any) -> Parts:
        yield (key or Key.answer("found")) & SEEN
        yield Effort(rows=1, pages=1, steps=3)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "More")
        return answer(page.title)


class Numbered(Chore):
    """Find a number.

    More about it.
    """

    name = "notes.numbered"
    instruction = "Find {number}."

    number: int


class Paired(Chore):
    """Copy a note from one site to the other."""

    name = "notes.paired"
    sites = ("notes", "other")
    kind = "mutate"
    instruction = "Copy {number}."

    user: str
    number: int

    @classmethod
    def draw(cls, notes: World, other: World, stream: Stream) -> Self:
        assert (notes.site, other.site) == (NOTES, OTHER)
        return cls("ada", stream.between(1, 1000))

    @property
    def logins(self) -> Mapping[str, str]:
        return {"notes": self.user, "other": "bob"}

    def end(self, notes: World, other: World, **how: Any) -> Parts:
        assert (notes.site, other.site) == (NOTES, OTHER)
        yield Key.insert("note", site="other", author=self.user, weight=self.number) & Key.visit(PAGE)
        yield Effort(rows=1, pages=1, steps=3)


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
        ({"end": Template.end}, "no method `end`"),
        ({"end": lambda self, world: Key.answer("found")}, "`end` does not yield"),
        ({"key": lambda self, worlds: SEEN}, "`key` is not for templates to define"),
        ({"shortcuts": {}}, "`shortcuts` is not for templates to define"),
        ({"__annotations__": {"effort": int}, "instruction": "Find."}, "`effort` is not for templates to define"),
        ({"misread": {"First Page": {}}}, "'First Page', which is not words-with-hyphens"),
        ({"misread": {"first": {"first": 1}}, "end": lambda self, world: (yield)}, "'first', which is neither"),
        ({"ways": {"by_menu": {}}}, "'by_menu', which is not words-with-hyphens"),
        ({"ways": {"by-menu": {"menu": True}}}, "'menu', which is neither a field nor a keyword of `solve`"),
        ({"ways": {"twice": {}}, "misread": {"twice": {}}}, "twice is named by both"),
        ({"may_agree": ("first",)}, "`may_agree` names first"),
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

        class Second(Numbered):
            """Another one."""


def test_abstract_helpers_are_not_found_and_concrete_templates_are():
    module = ModuleType("themes")
    vars(module).update(Chore=Chore, Numbered=Numbered, Template=Template, Paired=Paired, number=3)
    assert list(templates_in(module)) == [Numbered, Paired]


def test_templates_are_dataclasses_by_themselves():
    made = define(**GOOD)
    assert (made(3), made(3).number) == (made(3), 3)
    for decorator in (dataclass, dataclass(frozen=True)):
        with pytest.raises(TaskError, match="has the decorator @dataclass"):
            decorator(made)


def test_a_registry_loads_a_template_by_its_place():
    registry = Registry("template", templates_in, modules=lambda: (), group="webassay.nothing")
    assert registry.load(f"{__name__}:Numbered") is Numbered
    with pytest.raises(InputError, match="not a template"):
        registry.load(f"{__name__}:Chore")


# --- parameters -------------------------------------------------------------------------------------------


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

        def end(self, world: World) -> Parts:
            yield from super().end(world, key=key if key.results or key.pages else key & Key.answer("found"))

    with pytest.raises(TaskError) as error:
        instances(Wrong, worlds, 1)
    assert says in error.value.message


@pytest.mark.parametrize("values", [(), (0,), (0, 0), ("number",)])
def test_what_can_be_guessed_from_the_goal_is_not_drawn(worlds, values):
    class Guessable(Numbered):
        """Guessable."""

        name = "notes.guessable"

        def end(self, world: World) -> Parts:
            said = (self.number if value == "number" else value for value in values)
            yield from super().end(world, key=Key.answer(*said))

    with pytest.raises(TaskError, match="only 0 instances"):
        instances(Guessable, worlds, 1)


def test_the_status_is_success_unless_it_is_a_refusal(worlds):
    (task,) = instances(Numbered, worlds, 1)
    (check,) = (check for check in task.checks if isinstance(check, ResponseCheck))
    assert (check.action, check.status) == ("retrieve", ("SUCCESS",))


# --- drawing by difficulty --------------------------------------------------------------------------------


class Sized(Chore):
    """Read so many notes."""

    name = "notes.sized"
    instruction = "Read {number}."
    levels = ("easy", "medium", "hard", "extreme")

    number: int

    def end(self, world: World) -> Parts:
        yield Key.answer("found") & SEEN
        yield Effort(rows=self.number, pages=self.number // 20 + 1, steps=self.number // 20 + 3)


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
        def draw(cls, world: World, stream: Stream) -> Self:
            return cls(stream.choice(()))

    with pytest.raises(TaskError, match=r"World 3 has only 0 instances of notes\.nowhere, not 1"):
        instances(Nowhere, worlds, 1)


def test_it_says_how_many_instances_there_are(worlds):
    class Few(Numbered):
        """Few."""

        name = "notes.few"

        @classmethod
        def draw(cls, world: World, stream: Stream) -> Self:
            return cls(stream.between(1, 7))

    with pytest.raises(TaskError, match=r"World 3 has only 7 instances of notes\.few, not 8") as error:
        instances(Few, worlds, 8)
    assert "4000 draws gave 7 different fair ones. In 0 draws there was nothing" in error.value.message
    assert "at most 7" in error.value.hint
    with pytest.raises(TaskError, match=r"0 instances of notes\.few of difficulty hard"):
        instances(Few, worlds, 1, difficulty="hard")


def test_nobody_is_asked_the_same_as_somebody_else(worlds):
    class Asked(Numbered):
        """Asked of either."""

        name = "notes.asked"

        user: str

        @classmethod
        def draw(cls, world: World, stream: Stream) -> Self:
            return cls(stream.between(1, 7), stream.choice(("ada", "bob")))

    assert len({task.goal.instruction for task in instances(Asked, worlds, 7)}) == 7
    with pytest.raises(TaskError, match="another one asked the same"):
        instances(Asked, worlds, 8)


def test_days_are_written_as_people_write_them(worlds):
    class Dated(Chore):
        """Read a day."""

        name = "notes.dated"
        instruction = "What was there on {day}?"

        day: str
        number: int

    assert in_words(Dated("2026-03-01", 1)) == "What was there on March 1, 2026?"


# --- readings ---------------------------------------------------------------------------------------------


def reading(made: type[Template] = Numbered, **attributes: Any) -> type[Template]:
    """A template whose attributes are other ones."""
    return type(made)("Made", (made,), {"__doc__": "Made.", "name": "notes.made", **attributes})


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([], "yields nothing"),
        ([fair(True), SEEN], "yields Fair Key"),
        ([fair(True), Effort(1, 1, 3)], "yields Fair Effort"),
        ([SEEN, fair(True), Effort(1, 1, 3)], "yields Key Fair Effort"),
        ([SEEN, Effort(1, 1, 3), SEEN], "yields Key Effort Key"),
        (["found"], "yields str"),
    ],
)
def test_an_end_yields_fairness_then_keys_then_the_effort(worlds, parts, says):
    def end(self, world):
        yield from parts

    with pytest.raises(TaskError, match=says) as error:
        instances(reading(end=end), worlds, 1)
    assert "First `fair(…)`, then the key" in error.value.hint


def test_what_is_not_fair_is_not_drawn_but_may_be_misread(worlds):
    def end(self, world, *, off=0):
        yield fair(self.number % 2, not off)
        yield Key.answer(f"{self.number + off}") & SEEN
        yield Effort(rows=1, pages=1, steps=3)

    odd = reading(end=end, misread={"one-off": {"off": 1}, "another-field": {"number": 4}})
    tasks = instances(odd, worlds, 10)
    assert {task.parameters["number"] % 2 for task in tasks} == {1}
    wrong = odd(7).shortcuts(worlds)
    assert {name: key.results for name, key in wrong.items()} == {
        "one-off": Key.answer("8").results,
        "another-field": Key.answer("4").results,
    }


def test_an_instance_that_a_misreading_solves_is_not_drawn_unless_it_may_agree(worlds):
    def end(self, world, *, known=None):
        if known == "":
            raise NothingToDraw
        yield Key.answer(known or f"{self.number % 3}") & SEEN
        yield Effort(rows=1, pages=1, steps=3)

    how = {"first-page-only": {"known": "1"}, "another-site": {"known": "2"}, "never-applies": {"known": ""}}
    for may_agree, left in (((), {0}), (("another-site",), {0, 2})):
        counting = reading(end=end, misread=how, may_agree=may_agree)
        tasks = instances(counting, worlds, 20)
        assert {task.parameters["number"] % 3 for task in tasks} == left
    assert set(counting(2).shortcuts(worlds)) == {"first-page-only"}
    assert set(counting(3).shortcuts(worlds)) == {"first-page-only", "another-site"}


def test_sites_on_one_database_are_one_world(worlds):
    """Others are handed one world each: see `Paired`."""
    looks_in = replace(NOTES, name="other", shares=NOTES)
    both = {"notes": worlds["notes"], "other": World(looks_in, 3, worlds["notes"].snapshot, beside=worlds["notes"])}
    (task,) = instances(
        reading(sites=("notes", "other"), end=lambda self, world: (yield from Chore.end(self))), both, 1
    )
    assert task.sites == ("notes", "other")


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


def test_a_misreading_is_played_where_solve_takes_the_same_keywords(worlds):
    def solve(self, page, *, fast=False):
        yield

    def end(self, world, *, fast=False, kind=""):
        if fast and self.number > 500:
            raise NothingToDraw
        yield Key.insert("note", author="ada", weight=self.number + fast) & Key.visit(PAGE)
        yield Effort(rows=1, pages=1, steps=3)

    how = {"too-fast": {"fast": True}, "another-number": {"number": 0}, "another-kind": {"kind": "x"}}
    played = reading(kind="mutate", end=end, solve=solve, misread=how, ways={"by-menu": {"fast": False}})
    assert (set(played(1).routes()), set(played(1).hasty())) == ({"by-menu"}, {"too-fast", "another-number"})
    assert played(1).route("too-fast").keywords == {"fast": True}
    assert played(1).route("another-number").func.__self__ == played(0)
    assert played(1).route().__func__ is solve
    with pytest.raises(TaskError, match="no route 'by-search'") as error:
        played(1).route("by-search")
    assert "by-menu" in error.value.hint
    with pytest.raises(TaskError, match=r"'too-fast' of .* is played, but does not apply"):
        instances(played, worlds, 20)


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
