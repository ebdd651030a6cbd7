# Every target except help, lock and clean first makes sure that .venv exists.
.PHONY: run test test-quick test-horovod labs slides book results check bench soak hub lock
# The targets help, env, torch, lab, doctor and clean, which students' copies also have.
include students/Makefile

NUM_RANKS ?=
PORT ?= 8000
TIMES ?= 10
PROXY := hub/node_modules/.package-lock.json
MARP := slides/node_modules/.package-lock.json
# tests/side_by_side.py decides which worker runs which tests.
SIDE_BY_SIDE := -n auto --dist loadscope --no-loadscope-reorder
COMPILE := uv pip compile --universal --python-version 3.10 --generate-hashes --no-header --no-annotate --quiet
GENERATED := labs slurm/jobs docs/sites.md docs/commands.md docs/troubleshooting.md docs/scaling.md tests/messages.md

run: env ## execute the solutions of all labs on real ranks, and report the results (NUM_RANKS=4 for 4 ranks in each lab)
	@$(BIN)/coursekit run $(if $(NUM_RANKS),--ranks $(NUM_RANKS))

test: env $(PROXY) $(MARP) ## run all tests in parallel, and show which of them took longest
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE)

test-quick: env $(MARP) ## run the short tests that need no program except a compiler, and report what was left out (takes minutes)
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) --quick

test-horovod: env ## run Horovod's own tests on 2 and 4 ranks, with Gloo and with MPI (HOROVOD_TESTS=.../horovod/test/parallel)
	@$(BIN)/python tools/horovod_tests.py '$(HOROVOD_TESTS)'
	@$(BIN)/python tools/horovod_tests.py '$(HOROVOD_TESTS)' --mpi

labs: env ## build the students' notebooks from solutions/, the job scripts from slurm/, and the pages that are made from code
	@$(BIN)/coursekit build
	@$(BIN)/workshop pages

slides: env $(MARP) ## render the lecture to HTML and PDF in build/slides/, and measure every slide
	@$(BIN)/workshop slides

book: slides ## build the course as a book in build/book/, with the pages, the lectures, and the labs with pictures from `make run`
	@$(BIN)/workshop book

results: env ## repeat the runs behind the slides' figures (needs a quiet machine)
	@$(BIN)/workshop record

check: env ## check style, types, imports and the words in texts, and that generated files are up to date
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/workshop words
	@$(BIN)/coursekit build
	@$(BIN)/workshop pages
	@test -z "$$(git status --porcelain $(GENERATED))" || { git status --short $(GENERATED); \
	  echo "make check: these differed from what their sources generate; they are up to date now: commit them." >&2; exit 1; }

bench: env ## run the benchmarks: starting ranks, communication, the input pipeline, grading a class (20 minutes to an hour)
	@mkdir -p build
	@$(BIN)/workshop bench --json build/bench.json

soak: env ## judge all known answers of all labs TIMES=10 times, and stop at the first wrong verdict (takes hours)
	@for lab in solutions/[0-9]*; do for i in $$(seq $(TIMES)); do \
	  $(BIN)/workshop answers $${lab#solutions/} || exit; done; done

# Node.js itself comes with .venv; its packages are installed in hub/ and slides/, next to each package.json.
%/node_modules/.package-lock.json: %/package-lock.json | env
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --prefix $* --loglevel=error --no-audit --no-fund >/dev/null
	@touch $@

hub: env $(PROXY) ## start a demo JupyterHub on this machine, with an instructor and three students (PORT=8000)
	@$(BIN)/coursekit hub --port $(PORT)

lock: ## update the pins in requirements-2.*.lock and in tools/ (needs uv)
	for version in 2.15 2.21; do \
	  $(COMPILE) pyproject.toml --extra tensorflow-$$version --extra horovod-build --extra authoring --extra postgresql \
	    --extra hub --extra dev -o requirements-$$version.lock && \
	  $(COMPILE) tools/gpu-requirements-$$version.in --no-deps -o tools/gpu-requirements-$$version.lock || exit; \
	done
	$(COMPILE) tools/build-requirements.in --no-deps -o tools/build-requirements.lock
	$(COMPILE) tools/book-requirements.in -o tools/book-requirements.lock
