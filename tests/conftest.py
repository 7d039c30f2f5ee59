"""Settings for every test."""

from hypothesis import settings

# How long an example takes depends on what else the machine does; timing belongs in the benches.
settings.register_profile("webassay", deadline=None)
settings.load_profile("webassay")
