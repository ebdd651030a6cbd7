# Every target but help, lock and clean first makes sure that .venv is there (tools/make_env.py; a moment when it is).
.DEFAULT_GOAL := help
.PHONY: help env run test test-quick test-horovod labs slides book results check bench soak hub lab doctor lock clean
# A site's modules set these for its own Python; they would shadow the packages of .venv.
unexport PYTHONPATH PYTHONHOME
# Without bytecode files every start would compile this package anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
NUM_RANKS ?=
PORT ?= 8000
LOAD ?= 0
PROXY := hub/node_modules/.package-lock.json
MARP := slides/node_modules/.package-lock.json
# tests/side_by_side.py says how tests go to workers.
SIDE_BY_SIDE := -n auto --dist loadscope
GENERATED := labs slurm/jobs docs/sites.md docs/site-format.md docs/schedule.md docs/pictures/rooms.svg \
  tests/answers/properties.md

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env: ## make .venv with TensorFlow and a Horovod compiled here (PYTHON=... chooses the Python)
	@PYTHON='$(PYTHON)' tools/make-env

run: env ## execute the solutions of all labs on real ranks, as many as each needs (NUM_RANKS=4 for as many in all), and report
	@$(BIN)/coursekit run $(if $(NUM_RANKS),--ranks $(NUM_RANKS))

test: env $(PROXY) $(MARP) ## run all tests, side by side, and show where the time went
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE)

test-quick: env $(MARP) ## run the tests that take minutes and need nothing but a compiler, and say what is left out
	@$(BIN)/python -m pytest $(SIDE_BY_SIDE) --quick

test-horovod: env ## run Horovod's own tests on 2 and 4 ranks (HOROVOD_TESTS=.../horovod/test/parallel)
	@$(BIN)/python tools/horovod_tests.py '$(HOROVOD_TESTS)'

labs: env ## build the students' notebooks from solutions/, and job scripts from slurm/
	@$(BIN)/coursekit build

slides: env $(MARP) ## render the lecture to HTML and PDF in build/slides/, and measure every slide
	@$(BIN)/coursekit slides

book: slides ## make the course as a book in build/book/: pages, labs with the pictures of `make run`, lectures
	@$(BIN)/coursekit book

results: env ## repeat the runs that the slides' figures are made from, on a quiet machine
	@$(BIN)/coursekit record

check: env ## check style, types and the order of imports, and that what is generated is fresh
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/draw_rooms.py
	@$(BIN)/coursekit build
	@test -z "$$(git status --porcelain $(GENERATED))" || { git status --short $(GENERATED); \
	  echo "make check: these are not what their sources make; they are made anew now: commit them." >&2; exit 1; }

bench: env ## measure side by side: starting ranks, communication, the input pipeline, grading a class (20 minutes to an hour)
	@mkdir -p build
	@$(BIN)/coursekit bench --json build/bench.json

soak: env ## judge solutions and ten wrong answers of each lab 50 times: no verdict may differ (hours; LOAD=16: busy loops beside them)
	@$(BIN)/coursekit soak --load $(LOAD)

# Node.js itself comes with .venv; what runs on it is installed where its package.json lies: in hub/, in slides/.
%/node_modules/.package-lock.json: %/package-lock.json | env
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --prefix $* --loglevel=error --no-audit --no-fund >/dev/null
	@touch $@

hub: env $(PROXY) ## start JupyterHub on this machine with an instructor and three students made for the occasion (PORT=8000)
	@$(BIN)/coursekit hub --port $(PORT)

lab: env ## open JupyterLab on labs/
	@JUPYTER_CONFIG_PATH="$(CURDIR)/src/coursekit/jupyter/settings$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" \
	  PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter lab --notebook-dir=labs # nbgrader's pages start programs by name

doctor: env ## check what the labs run on: versions, Horovod, MPI, GPUs, Slurm, space
	@$(BIN)/coursekit doctor

lock: ## renew the pins in requirements.lock and in tools/ (needs uv)
	uv pip compile pyproject.toml --extra tensorflow --extra horovod-build --extra authoring --extra postgresql --extra hub --extra dev \
	  --universal --python-version 3.9 --generate-hashes --no-header --no-annotate --quiet -o requirements.lock
	uv pip compile tools/build-requirements.in --no-deps \
	  --universal --python-version 3.9 --generate-hashes --no-header --no-annotate --quiet -o tools/build-requirements.lock
	uv pip compile tools/gpu-requirements.in --no-deps \
	  --universal --python-version 3.9 --generate-hashes --no-header --no-annotate --quiet -o tools/gpu-requirements.lock
	uv pip compile tools/book-requirements.in \
	  --universal --python-version 3.9 --generate-hashes --no-header --no-annotate --quiet -o tools/book-requirements.lock

clean: ## remove build/ (everything in it can be made again; .venv and course/ stay)
	rm -rf build
