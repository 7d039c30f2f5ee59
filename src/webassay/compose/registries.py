"""Every kind of thing that can be named, and the registry of each. Nothing is imported before it is asked for."""

from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import Any

from webassay.agents.base import AgentFactory, as_factory
from webassay.analysis.results.formats import ReportFormat
from webassay.arena.kit.chores import SiteChores
from webassay.arena.kit.template import Template, templates_in
from webassay.benchmarks.base import Benchmark, as_benchmark
from webassay.core.groupings import Grouping
from webassay.core.registry import Registry, instances_of, modules_of, packages_in
from webassay.environments.base import EnvironmentFactory
from webassay.grading.grade import Grader
from webassay.importers.base import Importer
from webassay.judging.judges.base import Judge
from webassay.llm.providers import Provider
from webassay.play.door import Door
from webassay.sites.kit import Site

SITES: Registry[Site] = Registry(
    "site", instances_of(Site), modules=partial(packages_in, "webassay.sites"), group="webassay.sites"
)
CHORES: Registry[SiteChores] = Registry(
    "set of chores", instances_of(SiteChores), modules=partial(packages_in, "webassay.arena"), group="webassay.chores"
)
TEMPLATES: Registry[type[Template]] = Registry(
    "template",
    templates_in,
    modules=partial(modules_of, "webassay.arena"),
    group="webassay.templates",
    hint="`webassay list templates` lists them; one of your own is named FILE.py:CLASS.",
)
BENCHMARKS: Registry[Benchmark] = Registry(
    "benchmark",
    instances_of(Benchmark),
    modules=lambda: chain(modules_of("webassay.benchmarks"), modules_of("webassay.arena.benchmark")),
    group="webassay.benchmarks",
    hint="A JSON file of tasks works too, and so does module:function or file.py:function.",
    adapt=as_benchmark,
)
ENVIRONMENTS: Registry[EnvironmentFactory] = Registry(
    "environment",
    instances_of(EnvironmentFactory),
    modules=partial(modules_of, "webassay.environments"),
    group="webassay.environments",
)
AGENTS: Registry[AgentFactory] = Registry(
    "agent",
    instances_of(AgentFactory),
    modules=partial(modules_of, "webassay.agents"),
    group="webassay.agents",
    hint="Your own: --agent module:Class or file.py:Class.",
    adapt=as_factory,
)
JUDGES: Registry[Judge[Any]] = Registry(
    "judge",
    instances_of(Judge),  # type: ignore[type-abstract]
    modules=partial(modules_of, "webassay.judging.judges"),
    group="webassay.judges",
)
IMPORTERS: Registry[Importer] = Registry(
    "importer", instances_of(Importer), modules=partial(modules_of, "webassay.importers"), group="webassay.importers"
)
PROVIDERS: Registry[Provider] = Registry(
    "model provider",
    instances_of(Provider),
    modules=partial(modules_of, "webassay.llm"),
    group="webassay.providers",
)
GRADERS: Registry[Grader] = Registry(
    "grader", instances_of(Grader), modules=partial(modules_of, "webassay.grading"), group="webassay.graders"
)
FORMATS: Registry[ReportFormat] = Registry(
    "report format",
    instances_of(ReportFormat),
    modules=partial(modules_of, "webassay.analysis"),
    group="webassay.formats",
)
DOORS: Registry[Door] = Registry(
    "door", instances_of(Door), modules=partial(packages_in, "webassay.doors"), group="webassay.doors"
)

GROUPINGS: Registry[Grouping] = Registry(
    "grouping",
    instances_of(Grouping),
    modules=partial(modules_of, "webassay.core.groupings"),
    group="webassay.groupings",
)

KINDS: Mapping[str, Registry[Any]] = {
    "agents": AGENTS,
    "benchmarks": BENCHMARKS,
    "chores": CHORES,
    "doors": DOORS,
    "environments": ENVIRONMENTS,
    "formats": FORMATS,
    "graders": GRADERS,
    "groupings": GROUPINGS,
    "importers": IMPORTERS,
    "judges": JUDGES,
    "providers": PROVIDERS,
    "sites": SITES,
    "templates": TEMPLATES,
}
