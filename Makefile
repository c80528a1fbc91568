# Everything a person or a CI runs. `make setup`, then `make repro`.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := setup
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV ?= .venv
DATASET ?= sample
DENSE ?= $(if $(filter full,$(DATASET)),1,)
MEM0 ?=
UV ?= uv
ARGS ?=

BIN := $(VENV)/bin
# DVC starts the stages' commands, which must find this memrepro and no other.
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
# -qq keeps errors and drops warnings about how this machine's pip is configured.
# Modules are compiled when they are first imported; most never are.
PIP := -m pip --disable-pip-version-check --no-input -qq install --no-compile
# A PYTHON that was asked for is used or refused; the default may be replaced by a newer one.
CANDIDATES := $(PYTHON) $(if $(filter python3,$(PYTHON)),python3.13 python3.12 python3.11)
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
COMPILE = $(UV) pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header

# What a pull request is compared with, what `make diff` writes, and what else it is told.
BASE ?= origin/main
FAIL_ON ?= regression
REPORT ?= diff.md
# A paid recording: whose calls, and what they may cost in US dollars.
BENCHMARK ?= inmind
SYSTEM ?= bm25
BUDGET ?= 5
# Recipes read these from the environment, quoted, never through make: a workflow's inputs are text.
export BASE FAIL_ON REPORT BENCHMARK SYSTEM BUDGET

.PHONY: setup owner local-model image repro test check coverage mutation docs github unchanged \
	diff comment gate paper bench clean lock

setup: owner $(VENV)/.stamp $(if $(filter 1,$(DENSE)),$(VENV)/.stamp-dense) \
	$(if $(filter 1,$(MEM0)),$(VENV)/.stamp-mem0)

# Root would leave files that the checkout's owner can neither write nor remove.
owner:
	@if [ "$$(id -u)" = 0 ] && [ ! -O . ]; then uid=$$(ls -nd . | awk '{print $$3}'); \
		echo "error: this checkout belongs to uid $$uid, and you are root" >&2; \
		echo "  hint:     sudo -u '#$$uid' make, or make it root's: chown -R root ." >&2; \
		exit 2; \
	fi

# From hashed files only, into an empty environment: nothing of an older lock stays behind.
# The interpreter is resolved to its real path, because `python3` may be the one in $(VENV).
$(VENV)/.stamp-lock: requirements/lock.txt
	@found=; for py in $(CANDIDATES); do \
		if "$$py" -c '$(USABLE)' 2>/dev/null; then found=$$py; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "memrepro needs Python 3.11 or newer, with venv; tried: $(CANDIDATES). Say PYTHON=<path>." >&2; \
		exit 2; \
	fi; \
	found=$$("$$found" -c 'import os, sys; print(os.path.realpath(sys.executable))'); \
	echo "setup: $(VENV) with $$("$$found" -V)"; \
	rm -rf "$(VENV)"; "$$found" -m venv "$(VENV)"; \
	$(BIN)/python $(PIP) --require-hashes -r requirements/lock.txt; \
	touch $@

$(VENV)/.stamp: $(VENV)/.stamp-lock pyproject.toml
	@$(BIN)/python $(PIP) --no-deps --no-build-isolation --no-index -e .; touch $@

$(VENV)/.stamp-dense: $(VENV)/.stamp-lock requirements/dense.txt
	@echo "setup: dense extra"; $(BIN)/python $(PIP) --require-hashes -r requirements/dense.txt; touch $@

# The mem0 library, and the embedder that it is handed.
$(VENV)/.stamp-mem0: $(VENV)/.stamp-lock requirements/mem0.txt
	@echo "setup: mem0 extra"; $(BIN)/python $(PIP) --require-hashes -r requirements/mem0.txt; touch $@

$(VENV)/.stamp-mutation: $(VENV)/.stamp-lock requirements/mutation.txt
	@echo "setup: mutation"; $(BIN)/python $(PIP) --require-hashes -r requirements/mutation.txt; touch $@

# Serves the small model of the recorded sample on loopback, until it is interrupted. Its server is
# compiled here (minutes), for every CPU with AVX2: a build for this very CPU can name instructions
# that a virtual machine does not have.
LOCAL := $(VENV)-local-model
local-model: setup $(LOCAL)/.stamp
	@$(RUN) memrepro fetch --group smollm2
	@echo "local-model: http://127.0.0.1:8090/v1, until Ctrl-C"
	@$(LOCAL)/bin/python -m llama_cpp.server --host 127.0.0.1 --port 8090 --seed 1 --n_ctx 8192 \
		--model data/raw/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf --model_alias smollm2-135m $(ARGS)

$(LOCAL)/.stamp: requirements/local-model.txt
	@echo "setup: local model server, compiled"; rm -rf "$(LOCAL)"; \
	$(BIN)/python -m venv "$(LOCAL)"; \
	CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" \
		$(LOCAL)/bin/python $(PIP) \
		--no-binary llama-cpp-python --no-cache-dir --require-hashes -r requirements/local-model.txt; \
	touch $@

# ARGS: --base, --extras, --network, --ca; see `memrepro image build --help`.
image: setup
	@$(RUN) memrepro image build $(ARGS)

repro: setup
ifeq ($(DATASET),sample)
	@$(RUN) dvc repro $(ARGS)
else ifeq ($(DATASET),full)
	@$(RUN) memrepro fetch --dataset full; $(RUN) dvc repro $(ARGS) full/dvc.yaml
else
	@echo "DATASET is sample or full, not $(DATASET)" >&2; exit 2
endif

# The fast tests on all cores; with ARGS on one, as tests of other marks have deadlines.
test: setup
	@$(RUN) pytest $(or $(ARGS),-n auto --dist worksteal)

# The commit hooks, on every file that Git knows.
check: setup
	@$(RUN) pre-commit run --all-files $(ARGS)

# Workflows, actions and forms against GitHub's schemas and zizmor's audits; nothing is sent.
GITHUB := $(VENV)-github
github: setup $(GITHUB)/.stamp
	@$(GITHUB)/bin/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(GITHUB)/bin/check-jsonschema -q --builtin-schema custom.github-workflows-require-timeout \
		.github/workflows/*.yml
	@$(GITHUB)/bin/check-jsonschema -q --builtin-schema vendor.github-actions \
		.github/actions/*/action.yml
	@$(GITHUB)/bin/check-jsonschema -q --builtin-schema vendor.github-issue-config \
		.github/ISSUE_TEMPLATE/config.yml
	@$(GITHUB)/bin/check-jsonschema -q --builtin-schema vendor.github-issue-forms \
		$$(ls .github/ISSUE_TEMPLATE/*.yml | grep -v /config.yml)
	@$(GITHUB)/bin/check-jsonschema -q --builtin-schema vendor.citation-file-format CITATION.cff
	@$(GITHUB)/bin/zizmor --offline --no-progress -q .github

$(GITHUB)/.stamp: requirements/github.txt
	@echo "setup: github"; rm -rf "$(GITHUB)"; $(BIN)/python -m venv "$(GITHUB)"; \
	$(GITHUB)/bin/python $(PIP) \
		--require-hashes -r requirements/github.txt; \
	touch $@

# After `make repro`: what is committed came out again, byte for byte.
COMMITTED := dvc.lock full metrics data/runs
unchanged:
	@extra=$$(git ls-files --others --exclude-standard -- $(COMMITTED)); \
	if ! git --no-pager diff --stat --exit-code -- $(COMMITTED) || [ -n "$$extra" ]; then \
		printf '%s\n' "$$extra" "reproduced other bytes than are committed" >&2; exit 1; \
	fi

# What this working tree changes against BASE, as Markdown in REPORT, on the terminal and, in a
# workflow, as the job's summary. Exit 1 on FAIL_ON.
diff: setup
	@rm -f "$$REPORT"; code=0; $(RUN) memrepro diff "$$BASE" --format markdown --fail-on "$$FAIL_ON" \
		--output "$$REPORT" || code=$$?; \
	if [ -e "$$REPORT" ]; then cat "$$REPORT" | tee -a "$${GITHUB_STEP_SUMMARY:-/dev/null}"; fi; \
	exit $$code

# Puts REPORT under pull request PR, in place of the last one; a comment holds 65 536 characters.
comment:
	@head -c 60000 "$$REPORT" | gh pr comment "$$PR" --body-file - --edit-last --create-if-none

# A memory system of another package, PACKAGE, under the name SYSTEM, on the sample; BASE_PACKAGE is
# what it is compared with.
gate: setup
	@VENV="$(CURDIR)/$(VENV)" .github/actions/gate/gate

# Paid: makes the contexts, says what the calls of SYSTEM would cost, then records them. Stopped by
# the budget or by hand, it goes on where it was; `model_systems` in the params has it scored.
paper: setup
	@$(if $(filter full,$(DATASET)),$(RUN) memrepro fetch --dataset full)
	@stage=$$BENCHMARK.remember@$$SYSTEM; \
	if [ "$$SYSTEM" = labels ]; then stage=$$BENCHMARK.verify; fi; \
	$(RUN) dvc repro "$(if $(filter full,$(DATASET)),full/dvc.yaml:)$$stage"
	@$(RUN) memrepro cost --dataset $(DATASET) --benchmark "$$BENCHMARK" --system "$$SYSTEM"
	@$(RUN) memrepro record --dataset $(DATASET) --benchmark "$$BENCHMARK" --system "$$SYSTEM" \
		--budget "$$BUDGET" $(ARGS)

# The lines of src that the fast tests run, in the commands that they start as well: the files under
# 95%, and the total, which must not be.
coverage: setup
	@rm -f .coverage .coverage.*
	@$(RUN) coverage run -m pytest $(or $(ARGS),-n auto --dist worksteal)
	@$(BIN)/coverage combine -q
	@$(BIN)/coverage report | awk 'NR <= 2 || /^TOTAL/ || $$4 + 0 < 95 && NF > 3'

# Changes the modules that numbers rest on, a line at a time, and counts the changes that a test of
# theirs notices: nine in ten, in each. `mutmut show` and `mutmut browse` tell of the others.
mutation: setup $(VENV)/.stamp-mutation
	@rm -rf mutants; mkdir mutants
	@$(RUN) mutmut run $(ARGS) >mutants/run.log 2>&1 || { cat mutants/run.log >&2; exit 1; }
	@$(BIN)/mutmut results --all true | $(BIN)/python -m tests.mutation.figures

# The documentation, strictly: a broken link is an error. In an environment of its own, as nothing of
# the project needs what builds it.
DOCS := $(VENV)-docs
docs: setup $(DOCS)/.stamp
	@$(RUN) python -m memrepro.cli.reference --check
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict $(ARGS); echo "docs: build/docs/index.html"

$(DOCS)/.stamp: requirements/docs.txt
	@echo "setup: documentation"; rm -rf "$(DOCS)"; $(BIN)/python -m venv "$(DOCS)"; \
	$(DOCS)/bin/python $(PIP) \
		--require-hashes -r requirements/docs.txt; \
	touch $@

bench: setup
	@$(RUN) pytest -m "" benchmarks $(ARGS)

# Keeps data, the cache of DVC and recorded replies; .memrepro holds paid replies until packed.
clean:
	@rm -rf .venv .venv-other .venv-mem0 .venv-local-model .venv-docs .venv-github build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks mutants
	@find . -path ./.git -prune -o -path ./.dvc -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# All locks in one go, with the same versions; `rm requirements/*.txt` first to move them all.
# lock.txt is what a person installs; runtime.txt, extras beside it and build.txt make the image.
lock:
	@$(COMPILE) pyproject.toml --extra pipeline --extra report --extra dev -o requirements/lock.txt >/dev/null
	@$(COMPILE) pyproject.toml -c requirements/lock.txt -o requirements/runtime.txt >/dev/null
	@$(COMPILE) pyproject.toml --extra dense -c requirements/lock.txt \
		-o requirements/dense.txt >/dev/null
	@$(COMPILE) pyproject.toml --extra dense --extra mem0 -c requirements/lock.txt \
		-o requirements/mem0.txt >/dev/null
	@$(COMPILE) --group github -o requirements/github.txt >/dev/null
	@$(COMPILE) --group local-model -o requirements/local-model.txt >/dev/null
	@$(COMPILE) --group docs -o requirements/docs.txt >/dev/null
	@$(COMPILE) --group mutation -c requirements/lock.txt -o requirements/mutation.txt >/dev/null
	@$(COMPILE) --group build -c requirements/lock.txt -o requirements/build.txt >/dev/null
