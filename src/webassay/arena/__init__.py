"""Our own tasks: templates over seeded worlds, keys by SQL, reference solutions that prove them.

There is no list of the templates: every module of this package is searched for them (`template.templates_in`).
"""
