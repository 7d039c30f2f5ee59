"""Our own tasks: templates over seeded worlds, keys by SQL, reference solutions that prove them."""

from webassay.benchmarks.arena.shop_changing import CHANGING
from webassay.benchmarks.arena.shop_reading import READING
from webassay.benchmarks.arena.template import Template

TEMPLATES: tuple[Template, ...] = (*READING, *CHANGING)
