# Two commands are enough on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
UV ?= uv
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/pytest
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-full check check-arena docs lock bench clean

help:  ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY)  ## The environment in .venv, from the lock, and a Chromium

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "webassay needs Python 3.11 or newer with the venv module (Debian: apt-get install python3-venv). Set PYTHON=... to choose one."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/webassay setup
	@touch $(READY)

demo: setup  ## Agents evaluated end to end on the embedded shop
	$(BIN)/webassay demo

test: setup check  ## Everything that must hold, in minutes
	$(PYTEST) -n $(WORKERS) -m "not slow" -q

test-full: setup check  ## Also what takes long
	$(PYTEST) -n $(WORKERS) -q

check: setup  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-arena: setup  ## Every template: the oracle passes, mistakes fail
	$(BIN)/webassay check arena

docs: setup  ## Write the generated pages again
	$(BIN)/python scripts/generate_docs.py

bench: setup  ## Reset, row diff, steps a second, episodes a minute, memory
	$(BIN)/python scripts/bench_state.py
	$(BIN)/python scripts/bench_episodes.py

lock:  ## Resolve pyproject.toml again (needs uv)
	$(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 -q \
	  --extra dev --extra plots pyproject.toml -o requirements.lock

clean:  ## Remove what was built; runs stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
