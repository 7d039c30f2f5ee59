"""The arena as a benchmark: instances of the templates, drawn from seeded worlds."""

from collections.abc import Sequence

from webassay.benchmarks.arena.template import instances
from webassay.benchmarks.base import Benchmark, Selection, Sources
from webassay.core.task import Task
from webassay.sites.kit import World


def _load(selection: Selection, sources: Sources) -> Sequence[Task]:
    # Naming a task is enough: only its template has to be drawn.
    named = tuple(dict.fromkeys(name.rsplit(".", 2)[0] for name in selection.tasks if name.count(".") > 2))
    worlds: dict[str, World] = {}
    tasks: list[Task] = []
    for template in sources.templates(selection.templates or named):
        for site in template.sites:
            if site not in worlds:
                worlds[site] = sources.world(site, selection.world_seed)
        own = {site: worlds[site] for site in template.sites}
        tasks += instances(template, own, selection.instances, selection.seed)
    return tasks


ARENA = Benchmark("arena", "Chores on the embedded sites, generated from templates, with keys computed by SQL.", _load)
