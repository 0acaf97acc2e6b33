# Two commands on a fresh machine: `make up` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests sync thousands of files; in memory that costs nothing, and it is the same code that runs.
SCRATCH := $(shell test -d /dev/shm && test -w /dev/shm && echo TMPDIR=/dev/shm)

.PHONY: help up down test coverage check format hooks wheel bench fidelity e2e hostile docs reference recording clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile

$(BIN)/flowd: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "flowd needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing flowd into $(VENV), which takes about half a minute ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(BIN)/flowd pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

up: $(BIN)/flowd ## install into .venv, start the daemon, print its status
	@$(BIN)/flowd start
	@$(BIN)/flowd status
	@echo
	@echo "Use it:  export PATH=\"$(CURDIR)/$(BIN):\$$PATH\"     (without it: $(BIN)/flowd, $(BIN)/flow)"
	@echo "Next:    flowd setup     (at login, Claude Code, completion; then start Claude Code in a project)"

down: ## stop the daemon that `make up` started
	@test ! -x $(BIN)/flowd || $(BIN)/flowd stop

test: $(VENV)/.dev ## run the whole suite
	$(SCRATCH) $(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

coverage: $(VENV)/.dev ## run the suite measured, child processes too; fails below the floor in pyproject.toml
	rm -rf .coverage && mkdir .coverage
	$(SCRATCH) $(BIN)/coverage run -m pytest -n auto -m "not unmeasured" $(PYTEST_ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet --fail-under=0
	$(BIN)/coverage report

check: $(VENV)/.dev ## ruff, format, mypy strict, import-linter, GitHub's files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema custom.github-workflows-require-timeout .github/workflows/ci.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/pre-commit validate-config

hooks: $(VENV)/.dev ## have git run the checks before each commit
	$(BIN)/pre-commit install

wheel: ## build sdist and wheel, install them with pip, pipx and uv, and use each copy
	PYTHON=$(PYTHON) .ci/wheel

format: $(VENV)/.dev ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

e2e: $(VENV)/.dev ## drive the real Claude Code client, offline (needs npm)
	$(SCRATCH) $(BIN)/python -m pytest tests/e2e -n 2 -p no:cacheprovider $(PYTEST_ARGS)

hostile: $(VENV)/.dev ## put everything a hostile repository can hold to a real daemon (minutes)
	$(BIN)/python -m pytest -n auto tests/hostile -p no:cacheprovider $(PYTEST_ARGS)

bench: $(VENV)/.dev ## flowd beside its floors, one table
	$(BIN)/python -m bench

fidelity: $(VENV)/.dev ## how true the extracted state is, one table; needs ../shared/corpus
	$(BIN)/python -m bench.fidelity

docs: $(VENV)/.dev ## build the site of docs/ into .site; a broken link fails
	$(BIN)/mkdocs build --strict --quiet --site-dir .site

reference: $(VENV)/.dev ## write docs/commands.md, docs/configuration.md and the man pages again
	$(BIN)/python -m tools.reference

recording: $(VENV)/.dev ## record the session of the README again
	$(BIN)/python -m tools.recording

clean: ## remove what make made (never your data)
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .site src/*.egg-info
