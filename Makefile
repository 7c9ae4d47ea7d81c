# simdist: every target does its own set-up; only Python (3.11 or newer) and git have to be there.
# Another Python: make demo PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamps, written last: an installation that was interrupted is done again. What the demo needs is a fifth of what the tests need.
READY := $(VENV)/.ready
TEST_READY := $(VENV)/.ready-test
NOTEBOOKS_READY := $(VENV)/.ready-notebooks
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv demo test check fix notebooks lab bench clean

help: ## print this list
	@echo "make TARGET, where TARGET is one of:"
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

venv: $(TEST_READY) ## make the virtual environment .venv and install everything the tests need

# One rule makes the environment and the other two depend on it, so that `make -j demo test` makes it once, in order.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "simdist needs Python 3.11 or newer; \"$(PYTHON)\" is $$($(PYTHON) --version 2>/dev/null || echo "not there")."; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV) with $(PYTHON)"; $(PYTHON) -m venv $(VENV); }
	$(INSTALL) .
	@touch $@

$(TEST_READY): $(READY)
	$(INSTALL) '.[test]'
	@touch $@

$(NOTEBOOKS_READY): $(TEST_READY)
	$(INSTALL) '.[test,notebooks]'
	@touch $@

demo: $(READY) ## train on a simulated node and on real processes, compare; pictures and trace into demo/
	$(BIN)/simdist demo --out demo

test: $(TEST_READY) ## run the whole test suite
	$(BIN)/python -m pytest

check: $(TEST_READY) ## format, lint and types, without changing a file
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

fix: $(TEST_READY) ## let ruff format the code and repair what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

notebooks: $(TEST_READY) ## execute every notebook from top to bottom, as the tests do
	$(BIN)/python -m pytest tests/examples/test_notebooks.py

lab: $(NOTEBOOKS_READY) ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=notebooks

bench: $(TEST_READY) ## run the benchmarks: ratios measured in one run, exact counts
	$(BIN)/python -m benchmarks

clean: ## remove what was made: .venv, demo, caches
	rm -rf $(VENV) demo build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
