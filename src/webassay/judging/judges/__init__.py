"""One module per judge. Every public `Judge` in these modules is registered under its name; see docs/extending.md."""
