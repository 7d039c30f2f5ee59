"""Names become things: found by looking, added by entry points, and never by what a file says."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from webassay import registry
from webassay.core.errors import InputError
from webassay.registry import Registry, instances_of, load_attribute, modules_of, packages_in


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
    monkeypatch.setattr("tests.unit.test_registry.KIWI", Fruit("kiwi"), raising=False)
    monkeypatch.setattr("tests.unit.test_registry.FALSE_APPLE", Fruit("apple", "Poisoned."), raising=False)
    installed(kiwi="tests.unit.test_registry:KIWI", apple="tests.unit.test_registry:FALSE_APPLE")
    found = made(Fruit("apple"))
    assert found.names() == ("apple", "kiwi")
    assert found.get("kiwi").summary == "A fruit."
    assert found.get("apple").summary == "A fruit."
    assert found.place("kiwi") == "tests.unit.test_registry:KIWI"


def test_a_broken_package_breaks_neither_the_list_nor_the_others(installed):
    installed(rotten="no.such.module:FRUIT", stone="tests.unit.test_registry:made")
    found = made(Fruit("apple"))
    said = found.summaries()
    assert said["apple"] == "A fruit."
    assert "could not be loaded" in said["rotten"] and "is not a fruit" in said["stone"]
    with pytest.raises(InputError, match="rotten"):
        found.get("rotten")


def test_get_never_loads_by_path_or_module(tmp_path):
    """A name out of somebody's run directory must not become an import."""
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nFRUIT = None\n")
    found = made(Fruit("apple"))
    for name in (f"{evil}:FRUIT", "os:system", "tests.unit.test_registry:made"):
        with pytest.raises(InputError, match="There is no fruit"):
            found.get(name)
    assert not (tmp_path / "ran").exists()


def test_load_follows_what_the_user_typed(tmp_path):
    own = tmp_path / "own.py"
    own.write_text("from tests.unit.test_registry import Fruit\nMINE = Fruit('mine')\n")
    assert made().load(f"{own}:MINE").name == "mine"
    with pytest.raises(InputError, match=r"could not be loaded.*nothing"):
        made().load(f"{own}:nothing")
    with pytest.raises(InputError, match="there is no file"):
        made().load(f"{tmp_path / 'gone.py'}:MINE")


def test_a_file_that_raises_is_an_input_error(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise RuntimeError('no')\n")
    with pytest.raises(InputError, match="could not be loaded: no"):
        load_attribute(f"{broken}:MINE")


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
