# Every target works on a machine that has Python 3.11 or newer, Go and make, and nothing else.
# Apart from the ordinary user caches of Go and uv, everything lands in .berth/ and .venv/ of this checkout.

PYTHON ?= python3
UV     := $(or $(shell command -v uv 2>/dev/null),.berth/uv/bin/uv)
VENV   := .venv
RUN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

export PYTHONDONTWRITEBYTECODE :=
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := true
export BERTH_TEST_KUBERNETES_MINOR ?= 1.34

.PHONY: help demo demo-kubernetes test fast engine laws lives crash test-kubernetes soak-kubernetes toolchain-kubernetes provider-kubernetes check coverage fuzz bench docs lock clean toolchain venv

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile

.berth/uv/bin/uv:
	@echo "installing uv in .berth/uv" >&2
	@$(PYTHON) -m venv .berth/uv
	@.berth/uv/bin/pip install --quiet --disable-pip-version-check uv

$(STAMP): pyproject.toml requirements/dev.txt | $(UV)
	@test -x $(RUN)/python || $(UV) venv --quiet --python $(PYTHON) $(VENV)
	@$(UV) pip sync --quiet --python $(RUN)/python --require-hashes --compile-bytecode requirements/dev.txt
	@$(UV) pip install --quiet --python $(RUN)/python --no-deps --editable .
	@touch $@

venv: $(STAMP) ## install Python packages into .venv

toolchain: $(STAMP) ## find, download or build the Pulumi CLI (minutes, once)
	@$(RUN)/berth doctor --simulated --install --quiet-when-ready

demo: toolchain ## plan, apply, break, drain, repair and destroy a simulated fleet
	@$(RUN)/python -m automation.demo

demo-kubernetes: toolchain ## a small fleet on real control planes on this machine (half an hour of building, once)
	@$(RUN)/python -m automation.demo_kubernetes

test: fast engine ## the tests

fast: $(STAMP) ## the tests that need no engine
	@$(RUN)/pytest -q -m "not engine and not kubernetes" -n 2 $(call again,not engine and not kubernetes)

engine: toolchain ## the tests that start the real engine
	@$(RUN)/pytest -q -m "engine and not crash and not lives" -n 2 --dist loadfile $(call again,engine and not crash and not lives)

laws: export BERTH_TEST_EFFORT := whole
laws: $(STAMP) ## the laws with all their examples, of which `make fast` takes a third
	@$(RUN)/pytest -q tests/laws -n 2 $(call again,not engine and not kubernetes)

lives: toolchain ## fleets that move, are interrupted, lose clusters, change their front door, hide secrets: up to minutes each
	@$(RUN)/pytest -q -m lives -n 2 --dist loadfile $(call again,lives)

crash: toolchain ## kill the driver and the engine at every point of a run
	@$(RUN)/pytest -q -m crash -n 2 $(call again,crash)

toolchain-kubernetes: $(STAMP) ## find, download or build the programs of a local control plane (a quarter of an hour, once)
	@$(RUN)/berth doctor --simulated --kubernetes $(BERTH_TEST_KUBERNETES_MINOR) --install --quiet-when-ready

provider-kubernetes: toolchain-kubernetes ## find, download or build the provider of backed runs too (a quarter of an hour more, once)
	@$(RUN)/berth doctor --backed --kubernetes $(BERTH_TEST_KUBERNETES_MINOR) --install --quiet-when-ready

test-kubernetes: toolchain-kubernetes ## the tests on real control planes on this machine (those with the provider if it is there)
	@$(RUN)/pytest -q -m kubernetes tests/kubernetes $(call again,kubernetes)

soak-kubernetes: provider-kubernetes ## the random ones of them with ten times as many cases, drawn anew
	@BERTH_TEST_SEED=$$(date +%s) BERTH_TEST_CASES=240 $(RUN)/pytest -q -m kubernetes \
	  tests/kubernetes/test_capacity.py tests/kubernetes/test_selectors.py tests/kubernetes/test_churn.py \
	  tests/kubernetes/test_fleet_churn.py

# With RETRY set, as in continuous integration, tests that failed are run once more, alone and in sight: these start
# many processes and kill some of them, and a busy machine must not decide what lands.
again = $(if $(RETRY),|| { echo "failed tests once more:"; $(RUN)/pytest -q -m "$(1)" --last-failed --last-failed-no-failures=none; })

check: $(STAMP) ## formatter, linter, type checkers, import rules
	@$(RUN)/ruff format --check --quiet . && $(RUN)/ruff check --quiet . && echo "ruff: ok"
	@$(RUN)/ty check --quiet && echo "ty: ok"
	@$(RUN)/mypy --no-error-summary && echo "mypy: ok"
	@mkdir -p .berth && $(RUN)/lint-imports --no-logo > .berth/imports.txt 2>&1 || { cat .berth/imports.txt; exit 1; }; echo "imports: ok"

coverage: $(STAMP) ## branches of the selector engine that its own tests do not take
	@rm -f .coverage.cel*
	@$(RUN)/coverage run --parallel-mode --data-file=.coverage.cel --source=components/cel \
	  -m pytest -q -n 2 tests/unit/cel tests/laws/test_selectors.py
	@$(RUN)/coverage combine --quiet --data-file=.coverage.cel
	@$(RUN)/coverage report --data-file=.coverage.cel --show-missing --skip-covered --fail-under=100

fuzz: $(STAMP) ## new examples for every law, TIMES=4 as many for comparisons with other programs (SEED=N repeats a run)
	@seed=$${SEED:-$$($(PYTHON) -c 'import secrets; print(secrets.randbelow(2**32))')}; echo "seed $$seed"; \
	  BERTH_FUZZ=$${TIMES:-4} $(RUN)/pytest -q -n 2 -p no:randomly tests/laws --hypothesis-seed=$$seed

bench: $(STAMP) ## measure, as ratios to a baseline in the same run
	@for each in tests/bench/bench_*.py; do echo "== $$each"; $(RUN)/python $$each || exit 1; done

docs: $(STAMP) ## build the documentation into site/
	@$(RUN)/python -m automation.docs
	@$(RUN)/zensical build --clean --strict

lock: | $(UV) ## renew requirements/*.txt from pyproject.toml
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --all-extras pyproject.toml --custom-compile-command "make lock" -o requirements/run.txt
	@$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --all-extras --group dev pyproject.toml --custom-compile-command "make lock" -o requirements/dev.txt

clean: ## remove everything that was built or installed here
	@rm -rf .berth .venv site dist .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
