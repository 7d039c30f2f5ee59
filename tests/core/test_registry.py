"""Names become things: found by looking, added by entry points, and never by what a file says."""

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from webassay.core import registry
from webassay.core.errors import InputError
from webassay.core.options import read_options
from webassay.core.registry import Registry, instances_of, load_attribute, modules_of, packages_in


@dataclass(frozen=True)
class Fruit:
    name: str
    summary: str = "A fruit."


def orchard(*fruits: Fruit) -> ModuleType:
    module = ModuleType("orchard")
    for fruit in fruits:
        setattr(module, fruit.name.upper(), fruit)
    return module


def made(*fruits: Fruit, **rest) -> Registry[Fruit]:
    return Registry("fruit", instances_of(Fruit), modules=lambda: [orchard(*fruits)], group="webassay.fruits", **rest)


@pytest.fixture
def installed(monkeypatch):
    """Entry points as an installed package would declare them."""

    def install(**places: str) -> None:
        points = [EntryPoint(name, place, "webassay.fruits") for name, place in places.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "webassay.fruits" else [])

    return install


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package on Python's path, with one module and its entry points."""

    def install(name: str, code: str, **points: str) -> None:
        place = tmp_path / name
        about = place / f"{name}-1.0.dist-info"
        about.mkdir(parents=True)
        (place / f"{name}_module.py").write_text(f"from tests.core.test_registry import Fruit\n{code}\n")
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = (f"{point} = {name}_module:{attribute}" for point, attribute in points.items())
        (about / "entry_points.txt").write_text("\n".join(["[webassay.fruits]", *lines]))
        monkeypatch.syspath_prepend(place)

    yield install
    for name in [name for name in sys.modules if name.endswith("_module")]:
        del sys.modules[name]


def test_whatever_a_module_holds_is_found_also_in_tuples():
    module = orchard(Fruit("apple"))
    module.MORE = (Fruit("pear"), Fruit("quince"))
    module._HIDDEN = Fruit("medlar")
    module.number = 3
    found = Registry("fruit", instances_of(Fruit), modules=lambda: [module], group="none")
    assert found.names() == ("apple", "pear", "quince")


def test_an_unknown_name_says_what_was_probably_meant():
    with pytest.raises(InputError, match=r"no fruit 'aple'.*Did you mean apple"):
        made(Fruit("apple"), Fruit("pear")).get("aple")


def test_an_installed_package_adds_one_and_cannot_replace_a_built_in(installed, monkeypatch):
    monkeypatch.setattr("tests.core.test_registry.KIWI", Fruit("kiwi"), raising=False)
    monkeypatch.setattr("tests.core.test_registry.FALSE_APPLE", Fruit("apple", "Poisoned."), raising=False)
    installed(kiwi="tests.core.test_registry:KIWI", apple="tests.core.test_registry:FALSE_APPLE")
    found = made(Fruit("apple"))
    assert found.names() == ("apple", "kiwi")
    assert found.get("kiwi").summary == "A fruit."
    assert found.get("apple").summary == "A fruit."
    assert found.place("kiwi") == "tests.core.test_registry:KIWI"


def test_a_broken_package_breaks_neither_the_list_nor_the_others(installed):
    installed(rotten="no.such.module:FRUIT", stone="tests.core.test_registry:made")
    found = made(Fruit("apple"))
    said = found.summaries()
    assert said["apple"] == "A fruit."
    assert "could not be loaded" in said["rotten"] and "is not a fruit" in said["stone"]
    with pytest.raises(InputError, match="rotten"):
        found.get("rotten")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise RuntimeError('rotten')", "rotten"),
        ("import sys; sys.exit('bye')", "it tried to end the process (bye)"),
        ("FRUIT = 3", "broken_module:FRUIT is not a fruit"),
    ],
)
def test_whoever_wants_all_of_them_is_told_of_a_broken_package_and_gets_the_others(package, code, why):
    package("broken", code, medlar="FRUIT")
    package("whole", "KIWI = Fruit('kiwi')", kiwi="KIWI")
    found, told = made(Fruit("apple")), []
    assert [fruit.name for fruit in found.usable(told.append)] == ["apple", "kiwi"]
    assert [fruit.name for fruit in found] == ["apple", "kiwi"]
    (said,) = told
    assert said.startswith("Left out: The fruit medlar (package broken) cannot be used: ") and why in said
    with pytest.raises(InputError, match=r"medlar \(package broken\)"):
        found.get("medlar")


def test_an_entry_point_has_the_name_of_what_it_points_at(package):
    package("named", "KIWI = Fruit('hayward')", kiwi="KIWI")
    with pytest.raises(InputError, match=r"'kiwi'.*'hayward'.*Give both the same name") as error:
        made(Fruit("apple")).get("kiwi")
    assert "package named" in error.value.message


def test_what_is_adapted_may_have_another_name(package):
    package("plain", "class Plum: ...", plum="Plum")
    found = made(adapt=lambda thing, name: Fruit(thing.__name__))
    assert found.get("plum").name == "Plum"


def test_names_that_are_taken_are_listed_with_what_hides_them(package):
    package("second", "KIWI = Fruit('kiwi', 'Of the second.')\nAPPLE = Fruit('apple')", kiwi="KIWI", apple="APPLE")
    package("first", "KIWI = Fruit('kiwi', 'Of the first.')", kiwi="KIWI")
    found = made(Fruit("apple"))
    assert found.names() == ("apple", "kiwi")
    assert found.get("kiwi").summary == "Of the first."
    assert found.hidden() == {
        "kiwi (package second)": "hidden by the one of package first",
        "apple (package second)": "hidden by the built-in one",
    }


def test_options_for_a_kind_that_takes_none():
    with pytest.raises(InputError, match=r"The fruit apple takes no options\. Write apple without brackets"):
        made(Fruit("apple")).load("apple[ripe=yes]")
    with pytest.raises(InputError, match=r"There is no fruit 'medlar\[ripe=yes\]'"):
        made(Fruit("apple")).load("medlar[ripe=yes]")


def test_get_never_loads_by_path_or_module(tmp_path):
    """A name out of somebody's run directory must not become an import."""
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nFRUIT = None\n")
    found = made(Fruit("apple"))
    for name in (f"{evil}:FRUIT", "os:system", "tests.core.test_registry:made"):
        with pytest.raises(InputError, match="There is no fruit"):
            found.get(name)
    assert not (tmp_path / "ran").exists()


def test_load_follows_what_the_user_typed(tmp_path):
    own = tmp_path / "own.py"
    own.write_text("from tests.core.test_registry import Fruit\nMINE = Fruit('mine')\n")
    assert made().load(f"{own}:MINE").name == "mine"
    with pytest.raises(InputError, match=r"could not be loaded.*nothing"):
        made().load(f"{own}:nothing")
    with pytest.raises(InputError, match="there is no file"):
        made().load(f"{tmp_path / 'gone.py'}:MINE")


def test_a_file_that_raises_is_an_input_error_and_leaves_no_module_behind(tmp_path):
    broken = tmp_path / "half_done.py"
    broken.write_text("raise RuntimeError('no')\n")
    with pytest.raises(InputError, match="could not be loaded: no"):
        load_attribute(f"{broken}:MINE")
    assert not [name for name in sys.modules if name.startswith("half_done")]


def test_a_file_that_ends_the_process_ends_only_its_own_loading(tmp_path):
    exiting = tmp_path / "exiting.py"
    exiting.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(InputError, match=r"it tried to end the process \(3\).*line 2: sys.exit\(3\)"):
        load_attribute(f"{exiting}:MINE")


def test_two_files_of_one_name_are_two_modules(tmp_path):
    """Annotations that are text are looked up in the module of the class, by the name of the module."""
    options = []
    for folder, alias in (("one", "Steps"), ("two", "Depth")):
        file = tmp_path / folder / "agent.py"
        file.parent.mkdir()
        file.write_text(
            "from __future__ import annotations\nfrom dataclasses import dataclass\n"
            f"{alias} = int\n@dataclass(frozen=True)\nclass Options:\n    number: {alias} = 3\n"
        )
        options.append(load_attribute(f"{file}:Options"))
    assert [read_options("mine", kind, {"number": "4"}).number for kind in options] == [4, 4]


def test_something_else_may_be_adapted(tmp_path):
    own = tmp_path / "plain.py"
    own.write_text("class Plum: ...\n")
    found = made(adapt=lambda thing, name: Fruit(name, f"From {thing.__name__}.") if isinstance(thing, type) else None)
    assert found.load(f"{own}:Plum").summary == "From Plum."


def test_every_module_below_a_package_is_looked_at():
    names = {module.__name__ for module in modules_of("webassay.compare")}
    assert {"webassay.compare", "webassay.compare.text", "webassay.compare.dates"} <= names
    packages = {module.__name__ for module in packages_in("webassay.sites")}
    assert {"webassay.sites.home", "webassay.sites.shop", "webassay.sites.web"} <= packages


def test_a_file_is_not_a_thing_and_says_what_it_holds(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class First: pass\ndef second(): pass\nnumber = 3\n")
    with pytest.raises(InputError) as error:
        load_attribute(f"{file}:Third")
    assert "the file has no Third" in error.value.message
    assert error.value.hint == "It has First, second."
