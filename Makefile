# make demo and make test do all set-up themselves. Set-up is repeated only when its inputs change.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SUITABLE := import sys, venv; sys.exit(sys.version_info < (3, 11))
# The first Python that is new enough; override with `make PYTHON=...`.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c '$(SUITABLE)' 2>/dev/null && echo $$p && break; done)

.PHONY: help setup compilers headers demo test corpus check format mutants

help:  ## list what can be made
	@awk -F ':.*## *' '/^[a-z]+:.*##/ {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup  ## set up, then show what Warpwright can do
	@$(BIN)/warpwright demo

# Each worker gets one thread: torch would otherwise start as many threads as there are cores in every one of them.
test: check  ## set up, then run all checks and the default tests
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

corpus: setup  ## set up, then hold the plan of every kernel of the corpus against nvcc's own host code
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m corpus -rs

check: setup  ## set up, then run the linter, the formatter and the type checker
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

mutants: setup  ## set up, then plant bugs in correct kernels and count those that the emulator finds
	@OMP_NUM_THREADS=1 $(BIN)/python bench/mutants.py

format: setup  ## mend what the linter and the formatter can mend
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

setup: compilers headers  ## virtual environment with pinned packages, compilers looked for, headers precompiled

compilers:
	@command -v g++ >/dev/null || { echo "g++ is missing and needed: apt install g++" >&2; exit 1; }
	@command -v nvcc >/dev/null || test -x /usr/local/cuda/bin/nvcc || ls $(VENV)/lib/*/site-packages/nvidia/*/bin/nvcc >/dev/null 2>&1 || \
		echo "nvcc is missing: kernels cannot be compiled for a GPU, all else works; to get it, install the CUDA toolkit or" \
			"$(BIN)/python -m pip install -c constraints.txt -e '.[nvcc]'"

headers: $(STAMP)
	@$(BIN)/python -m warpwright.seal

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is missing and needed: apt install python3" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || \
		{ echo "no virtual environment could be made: apt install python3-venv" >&2; exit 1; }
	@echo "installing the pinned packages into $(VENV); only the first time takes minutes"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt hatchling
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-build-isolation -e '.[dev]'
	@touch $@
