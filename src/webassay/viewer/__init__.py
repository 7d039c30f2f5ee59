"""Pages about runs, served on this machine: what the agents saw, what they changed, and why they got their verdicts.

shelf = Workbench().shelf(["runs/first"])
run_sync(serve(shelf, ready=print))
"""

from webassay.viewer.serving import serve

__all__ = ["serve"]
