# `make help` lists the targets.

# The first Python in 3.10 and later that is found; `make PYTHON=/path/to/python3.12 ...` chooses another.
PYTHON ?= $(firstword $(foreach python,python3 python3.13 python3.12 python3.11 python3.10,\
	$(shell $(python) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $(python))))

VENV := .venv
# What runs in the virtual environment finds its programs (musa-port, cmake) too.
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
INSTALL := $(RUN) python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint test-corpus docs headers bench clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "make %-12s %s\n", $$1, $$2 }'

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "make: no Python found; expected 3.10 or later; install one or pass PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml CMakeLists.txt $(wildcard cmake/*) $(VENV)/.created
	@echo 'Installing into $(VENV), about a minute. This happens once.'
	@$(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	@$(INSTALL) --editable '.[docs]'
	@touch $@

demo: $(VENV)/.installed  ## port a small project and two published CUDA packages and say what was done
	@$(RUN) python examples/demo.py

test: lint  ## ruff, mypy and the tests
	$(RUN) python -m pytest

lint: $(VENV)/.installed  ## ruff and mypy only
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

test-corpus: $(VENV)/.installed  ## port the large published packages (downloads them once)
	$(RUN) python -m pytest -m corpus

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html
	$(RUN) python -m sphinx -W --keep-going -b html docs docs/_build/html

headers: $(VENV)/.installed  ## write musa_compat/include again from the mapping data
	@$(RUN) python -m musa_port.headers
	@$(INSTALL) --no-build-isolation --no-deps --editable .

bench: $(VENV)/.installed  ## measure speed and memory of the porter
	@$(RUN) python benchmarks/porter/bench.py

clean:  ## remove everything that make made, downloads too
	rm -rf $(VENV) .corpus demo-output build dist docs/_build docs/generated .mypy_cache .ruff_cache .pytest_cache
