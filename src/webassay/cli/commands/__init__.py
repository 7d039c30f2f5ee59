"""One module a feature; each says its commands as values (`cli/command.py`), and no list of them stands anywhere."""
