# simdist: every target does its own set-up; only Python (3.11 or newer) and git have to be there.
# Another Python: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NOTEBOOKS_READY := $(VENV)/.ready-notebooks
SOURCES := simdist tests benchmarks

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv demo test check fix notebooks lab bench clean

help: ## print this list
	@echo "make TARGET, where TARGET is one of:"
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

venv: $(READY) ## make the virtual environment .venv and install everything the tests need

# One rule makes the environment, so that `make -j demo test` makes it once. The stamp is written last: an installation that
# was interrupted is done again.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "simdist needs Python 3.11 or newer; \"$(PYTHON)\" is $$($(PYTHON) --version 2>&1 || echo missing)."; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

$(NOTEBOOKS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[test,notebooks]'
	@touch $@

demo: $(READY) ## train on a simulated node and on real processes, compare; pictures and trace into demo/
	$(BIN)/simdist demo --out demo

test: $(READY) ## run the whole test suite
	$(BIN)/python -m pytest

check: $(READY) ## format, lint and types, without changing a file
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

fix: $(READY) ## let ruff format the code and repair what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

notebooks: $(READY) ## execute every notebook from top to bottom, as the tests do
	$(BIN)/python -m pytest tests/examples/test_notebooks.py

lab: $(NOTEBOOKS_READY) ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=notebooks

bench: $(READY) ## run the benchmarks: ratios measured in one run, exact counts
	$(BIN)/python -m benchmarks

clean: ## remove what was made: .venv, demo, caches
	rm -rf $(VENV) demo build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
