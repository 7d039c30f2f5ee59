PYTHON ?= python3
VENV := .venv
UV ?= uv

.PHONY: lock
lock:  ## Resolve pyproject.toml again (needs uv on the PATH)
	$(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 -q \
	  --extra dev --extra plots pyproject.toml -o requirements.lock
