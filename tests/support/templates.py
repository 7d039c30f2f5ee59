"""The arena's own templates, without those that installed packages may add."""

from webassay.arena.kit.template import Template, templates_in
from webassay.core.registry import modules_of

TEMPLATES: tuple[type[Template], ...] = tuple(
    dict.fromkeys(one for module in modules_of("webassay.arena") for one in templates_in(module))
)
