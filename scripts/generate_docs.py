"""Writes docs/reference/ from the code. A test fails where a page is stale: `make docs` writes them again."""

import ast
import inspect
import os
import re
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

from webassay.core import task
from webassay.core.interaction import ACTIONS, BASIC_ACTIONS, REFUSALS, STATUSES

ROOT = Path(__file__).resolve().parents[1]
HEAD = "<!-- Written by scripts/generate_docs.py; edit the code and run `make docs`. -->\n\n"


def actions() -> str:
    lines = [
        "# Actions",
        "",
        "Agents write calls such as `click('12')`; several are separated by new lines or semicolons. They are parsed,",
        "never executed. The first fifteen are what the two baseline agents are given.",
        "",
        "| action | what it does |",
        "|---|---|",
    ]
    for name, signature in ACTIONS.items():
        mark = "" if name in BASIC_ACTIONS else " †"
        lines.append(f"| `{signature.describe().replace('|', chr(92) + '|')}`{mark} | {signature.help} |")
    lines += ["", "† beyond the basic fifteen.", "", "## A task that cannot be done", ""]
    lines += [
        "`report_infeasible` is an answer of the protocol; its status says why:",
        "",
        "| status | meaning |",
        "|---|---|",
    ]
    return "\n".join([*lines, *(f"| `{code}` | {STATUSES[code]} |" for code in REFUSALS)])


def field_notes(model: type) -> dict[str, str]:
    """The text under each field."""
    body = ast.parse(inspect.cleandoc("\n" + inspect.getsource(model))).body[0]
    notes, last = {}, ""
    assert isinstance(body, ast.ClassDef)
    for statement in body.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            last = statement.target.id
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and last:
            notes[last] = " ".join(str(statement.value.value).split())
    return notes


def shape(annotation: object) -> str:
    text = annotation.__name__ if isinstance(annotation, type) and not typing.get_args(annotation) else str(annotation)
    for noise in ("webassay.core.task.", "typing.", "<class '", "'>"):
        text = text.replace(noise, "")
    return text.replace("|", "\\|")


def checks() -> str:
    members = typing.get_args(typing.get_args(task.Check)[0])
    helpers = (task.Expectation, task.Tolerance, task.PagePattern, task.ExpectedChange, task.Checkpoint)
    lines = ["# Checks", "", "What a task file may hold under `checks`; unknown keys are refused. How each is"]
    lines += ["decided: [../checks.md](../checks.md).", ""]
    for model in (*members, *helpers):
        kind = model.model_fields["kind"].default if "kind" in model.model_fields else ""
        lines += [f"## {model.__name__}" + (f" (`kind: {kind}`)" if kind else ""), "", model.__doc__ or "", ""]
        lines += ["| field | type | default | |", "|---|---|---|---|"]
        notes = field_notes(model)
        for name, field in model.model_fields.items():
            if name == "kind":
                continue
            if field.is_required():
                default = "required"
            else:
                default = f"`{field.get_default(call_default_factory=True)!r}`"
            lines.append(f"| `{name}` | `{shape(field.annotation)}` | {default} | {notes.get(name, '')} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def cli() -> str:
    os.environ.update(COLUMNS="100", TERM="dumb", NO_COLOR="1")
    from webassay.cli.command import COMMANDS, GROUPS

    lines = ["# Command line"]
    commands = sorted(map(COMMANDS.get, COMMANDS.built_in()), key=lambda one: (one.place, one.name))

    def describe(command: Any, name: str) -> None:
        if children := getattr(command, "commands", None):
            for child, one in children.items():
                describe(one, f"{name} {child}")
            return
        first = inspect.cleandoc(command.help or "").split("\n\n")[0]
        lines.append(f"- `{name}`: {' '.join(first.split())}")

    for group in GROUPS:
        lines.extend(["", f"## {group}", ""])
        for command in commands:
            if command.group == group:
                describe(command.build(), f"webassay {command.name}")
    return "\n".join(lines).rstrip()


def names() -> str:
    """What is built in; packages that happen to be installed are left out."""
    from webassay.compose.registries import KINDS

    lines = [
        "# Names",
        "",
        "Everything built in that can be named, by kind. `webassay list KIND --options` prints the settings, which are",
        "written `NAME[key=value,key=value]`, and `webassay list templates` the arena's templates.",
    ]
    lines += ["To add your own: [../extending.md](../extending.md).", ""]
    for kind, registry in KINDS.items():
        if kind == "templates":
            continue
        lines += [f"## {kind}", "", f"Entry point group `{registry.group}`.", "", "| name | what it is |", "|---|---|"]
        lines += [f"| `{name}` | {escaped(registry.get(name).summary)} |" for name in registry.built_in()]
        lines.append("")
    return "\n".join(lines).rstrip()


def prompts() -> str:
    """What the verifier says to a model, and why."""
    from webassay.judging.prompts import Prompts
    from webassay.judging.universal.profile import PROFILES
    from webassay.judging.universal.verify import stages

    used = list(dict.fromkeys(stage for profile in PROFILES.values() for stage in stages(profile)))
    built_in = Prompts()
    reasons = built_in.reasons
    parts = [name for name in reasons if name not in used]
    lines = ["# What the verifier says to a model, and why", ""]
    lines += ["The prompts of the Universal Verifier, in the order in which they are used: a link to the words, and"]
    lines += ["the reason for each rule. Tables and figures are those of arXiv 2604.06240. Parts that several prompts"]
    lines += ["share come last; every prompt ends with the part `fence`.", ""]
    for name in (*used, *parts):
        shared = " (a part of others)" if name in parts else ""
        lines += [f"## [{name}](../src/webassay/judging/prompts/{name}.md){shared}", ""]
        if name in reasons:
            lines += ["| rule | why |", "|---|---|"]
            lines += [f"| {escaped(rule)} | {escaped(why)} |" for rule, why in reasons[name].items()]
            lines.append("")
    return "\n".join(lines).rstrip()


def writing_kit() -> str:
    """What templates are made of, as the modules declare it."""
    from webassay.arena.kit import template, walking
    from webassay.arena.kit.effort import Effort
    from webassay.arena.kit.key import Key
    from webassay.compose.registries import CHORES
    from webassay.core.interaction import Observation
    from webassay.sites.kit import World
    from webassay.sites.rng import Stream

    lines = ["# What templates are made of", ""]
    lines += ["For [../writing-tasks.md](../writing-tasks.md): the classes and functions that a template may use."]
    lines += ["`webassay tasks tables SITE` prints the tables of a site.", ""]
    lines += [
        "What `-> Reading[X]` returns is used with `yield from`, which gives an X. A `Sight` is what a page shows,"
    ]
    lines += [
        "a `Fact` is known from any one of several sights, and a `Key` is what a task asks for: `facts.seen` makes"
    ]
    lines += ["a key of sights, `Key.seen_share(1, facts)` one of facts that all have to be known.", ""]
    for kind, only in (
        (template.Template, ("draw", "end", "solve", "start_pages", "logins")), (Key, ()),
        (World, ("row", "rows", "scalar")), (Stream, ()), (Observation, ("find", "find_all")),
    ):  # fmt: skip
        lines += [f"## {kind.__name__}", "", f"`from {kind.__module__} import {kind.__name__}`", ""]
        lines += [*table_of(dict(vars(kind)), only, kind.__name__ + "."), ""]
    helpers = table_of(vars(template), ("fair", "clear", "top", "first_page"), "")
    lines += ["## For `draw` and `end`", "", f"`from {template.__name__} import fair`", "", *helpers, ""]
    for record in (template.Template, Effort):
        lines += [f"## Fields: {record.__name__}", "", f"`from {record.__module__} import {record.__name__}`", ""]
        lines += ["| | |", "|---|---|", *(f"| `{name}` | {said} |" for name, said in field_notes(record).items()), ""]
    for module in (walking, *(module for name in CHORES.built_in() for module in helpers_of(name))):
        own = {name: one for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__}
        if len(rows := table_of(own, (), "")) > 2:
            lines += [f"## {module.__name__}", "", (module.__doc__ or "").strip(), "", *rows, ""]
    return "\n".join(lines).rstrip()


def helpers_of(site: str) -> list[ModuleType]:
    """The modules of a site's chores that its templates are made of."""
    from webassay.arena.kit.template import templates_in
    from webassay.compose.registries import CHORES
    from webassay.core.registry import modules_of

    folder = CHORES.place(site).partition(":")[0]
    return [module for module in modules_of(folder) if not list(templates_in(module))]


def table_of(things: dict[str, Any], only: tuple[str, ...], prefix: str) -> list[str]:
    rows = ["| | |", "|---|---|"]
    for name, thing in things.items():
        function = thing.__func__ if isinstance(thing, classmethod | staticmethod) else thing
        if name.startswith("_") or (only and name not in only):
            continue
        if inspect.isfunction(function):
            signature = inspect.signature(function)
            given = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
            shown = signature.replace(parameters=given)
            said = " ".join((inspect.getdoc(function) or "").split())
            rows.append(f"| `{prefix}{name}{escaped(plain(str(shown)))}` | {escaped(said)} |")
        elif isinstance(thing, type) and hasattr(thing, "_fields"):
            rows.append(f"| `{name}` | a tuple of {', '.join(thing._fields)} |")
    return rows


def plain(signature: str) -> str:
    """Without the modules in which types stand, and without addresses in memory."""
    shorter = (
        re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", signature).replace("~", "").replace("Optional[Self]", "Self | None")
    )
    shorter = shorter.replace("Generator[Action, Observation, JsonValue]", "Walk")
    shorter = re.sub(
        r"Generator\[Action, Observation, ((?:[^][]|\[(?:[^][]|\[[^][]*\])*\])*)\]", r"Reading[\1]", shorter
    )
    return re.sub(r"<function .*?<lambda> at 0x\w+>", "…", shorter)


# The 532 tasks of WebChoreArena: on its shop, on its back office, on several sites, and all. Types are the main ones of
# its Figure 2, input is that of its Table A; its kinds follow from how a task is evaluated.
CHOREARENA = {
    "tasks": (117, 132, 65, 532),
    "massive memory": (35, 27, 37, 168),
    "calculation": (20, 45, 0, 100),
    "long-term memory": (57, 46, 28, 222),
    "others": (5, 14, 0, 42),
    "retrieve": (102, 132, 0, 423),
    "navigate": (10, 0, 0, 10),
    "mutate": (5, 0, 65, 99),
    "unachievable": (0, 0, 0, 0),
    "any": (67, 125, 60, 451),
    "needs the tree": (50, 0, 0, 69),
    "needs a screenshot": (0, 7, 5, 12),
}


def templates() -> str:
    """What the arena's templates are, counted, beside WebChoreArena."""
    from webassay.arena.kit.effort import DIFFICULTIES
    from webassay.arena.kit.template import Template
    from webassay.compose.registries import CHORES, TEMPLATES

    every: list[type[Template]] = [TEMPLATES.get(name) for name in TEMPLATES.built_in()]
    sites = CHORES.built_in()
    columns = [[one for one in every if one.sites == (site,)] for site in sites]
    columns += [[one for one in every if len(one.sites) > 1], every]
    chores = ("massive memory", "calculation", "long-term memory", "others")
    kinds = ("retrieve", "navigate", "mutate", "unachievable")
    parts: dict[str, dict[str, typing.Callable[[type[Template]], bool]]] = {
        "type": {name: lambda one, name=name: one.chore == name.replace(" ", "_").replace("-", "_") for name in chores},
        "kind": {name: lambda one, name=name: one.kind == name for name in kinds},
        "can be drawn as": {name: lambda one, name=name: name in one.levels for name in DIFFICULTIES},
        "input": {
            "any": lambda one: not {"tree", "screenshot"} & set(one.tags),
            "needs the tree": lambda one: "tree" in one.tags,
            "needs a screenshot": lambda one: "screenshot" in one.tags,
        },
    }
    lines = [
        "# Templates of the arena, counted",
        "",
        "Templates of ours, and tasks of WebChoreArena (its 532; 218 are on two further sites). Percent are of",
        "the column. A template that can be drawn at several difficulties counts for each; WebChoreArena has none.",
        "",
        f"| | {' | '.join(sites)} | several | all | WebChoreArena: shopping | shopping admin | cross-site | all |",
        f"|---|{'---:|' * (len(columns) + len(CHOREARENA['tasks']))}",
        f"| **count** | {' | '.join(str(len(column)) for column in columns)} | "
        f"{' | '.join(map(str, CHOREARENA['tasks']))} |",
    ]
    for part, rows in parts.items():
        lines.append(f"| **{part}** |{' |' * (len(columns) + len(CHOREARENA['tasks']))}")
        for name, fits in rows.items():
            ours = [share(sum(map(fits, column)), len(column)) for column in columns]
            given = CHOREARENA.get(name)
            theirs = [share(*pair) for pair in zip(given, CHOREARENA["tasks"], strict=True)] if given else [""] * 4
            lines.append(f"| {name} | {' | '.join((*ours, *theirs))} |")
    return "\n".join(lines)


def share(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.0f} %)" if whole else "0"


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


PAGES = {
    "actions.md": actions, "checks.md": checks, "cli.md": cli, "names.md": names, "writing-kit.md": writing_kit,
    "templates.md": templates,
}  # fmt: skip


def rendered() -> dict[Path, str]:
    pages = {ROOT / "docs" / "reference" / name: HEAD + page() + "\n" for name, page in PAGES.items()}
    return {**pages, ROOT / "docs" / "prompts.md": HEAD + prompts() + "\n"}


if __name__ == "__main__":
    for path, text in rendered().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
