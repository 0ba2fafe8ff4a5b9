# Every target sets up what it needs, on a fresh Debian as root or on a laptop.
PYTHON ?= python3
# .venv belongs to the Python that made it. Another one, named by PYTHON=, gets an environment beside it, such as .venv-3.13.
VENV := .venv
version = $(shell $(1) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
ifneq ($(origin PYTHON),file)
ifeq ($(call version,$(PYTHON)),)
$(error There is no $(PYTHON) that runs here. Install Python 3.11 or newer, or name one: make PYTHON=python3.12 ...)
endif
ifneq ($(wildcard .venv/bin/python),)
VENV := .venv$(addprefix -,$(filter-out $(call version,.venv/bin/python),$(call version,$(PYTHON))))
endif
endif
PY := $(VENV)/bin/python
# What a student needs, what an instructor needs, and all that the tests need.
STUDENT := $(VENV)/.lab
GRADER := $(VENV)/.grader
EXTRAS := cluster,grader,lab,dev
INSTALLED := $(VENV)/.installed
# The TPU compiler comes as a wheel for this system only; elsewhere the tests that need it say that they are skipped.
TPU := $(if $(filter Linux-x86_64,$(shell uname -sm | tr ' ' -)),$(VENV)/.tpu)
# XLA for GPU, of JAX's version and without CUDA, in a folder of its own: among the packages JAX would start it everywhere.
GPU := $(if $(TPU),$(VENV)/.gpu)
BOOK := $(VENV)/.installed-book
EVERYTHING := $(VENV)/.everything
# Python for the book's playgrounds, in the browser.
PYODIDE := $(VENV)/npm/node_modules/pyodide/package.json
LAB_SETTINGS := $(VENV)/share/jupyter/lab/settings/overrides.json
PORT ?= 8000
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: address check update dist pdf release help lab demo test test-all test-answers test-browsers test-helper test-sandbox test-attacks test-lens test-full test-doors book book-serve bench lint new-question newer newer-here notebooks numbers screenshots references records constraints dependencies clean bubblewrap chromium slides test-programs test-portable faketime gnumeric test-strength mutants golf

help:  ## show these lines
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Answers go into copies: git sees no change in notebooks/, and a new version of a chapter overwrites nothing.
WORK ?= work

lab: $(STUDENT) $(LAB_SETTINGS)  ## open JupyterLab on your own copies of the notebooks, in work/
	@$(PY) -m shardlab_course.checking.work notebooks $(WORK)
	@echo "Starting JupyterLab on $(WORK)/ (Ctrl-C stops it)"
	@SHARDLAB_PROGRESS="$${SHARDLAB_PROGRESS:-$(abspath $(WORK))/shardlab-progress.json}" \
		$(VENV)/bin/jupyter lab $(ROOT_FLAG) --ServerApp.root_dir=$(WORK) \
		--LabApp.default_url=/lab/tree/00_first_light.ipynb $(LAB_ARGS)

update: $(STUDENT)  ## take new versions of chapters over into work/, keeping all that you wrote there
	@$(PY) -m shardlab_course.checking.work --update notebooks $(WORK)

demo: $(GRADER) bubblewrap  ## grade a few sample submissions in the sandbox and show the report
	@$(VENV)/bin/shardlab-grader demo

# Programs of the system. A part of the tests does not look for them again, since it would start behind others for that.
SET_UP := bubblewrap chromium

# Two sizes of one suite: `make test` runs the tests that are not marked `thorough`, `make test-all` those that are, or a share. Those marked `programs` are `make test-programs`'s.
test: $(SET_UP) $(GPU) $(EVERYTHING)  ## run the tests, some of every kind
	@$(call suite,test,$(SUITES),SHARE=)

test-all: $(SET_UP) faketime gnumeric $(EVERYTHING)  ## run the thorough tests, as before a release, after make test (SHARE=2/3 for a share)
	@$(call suite,all,$(LONGEST) $(filter-out lint test-pages-% $(LONGEST),$(SUITES)) test-portable)

# In the order in which they start. Three at a time on two cores, since a browser mostly waits; it shows the outputs that solutions
# and notebooks have left in build/, so these begin.
SUITES := test-pages-0 test-pages-1 test-answers test-sandbox test-helper test-browsers test-lens test-attacks lint
BROWSERS := tests/book tests/lab
SANDBOX := tests/grader tests/test_course.py
ATTACKS := tests/hostile tests/doors
SIZE ?= test
MARKED := $(if $(filter all,$(SIZE)),thorough,not thorough) and not programs
REPORTS := build/tests
# $(call some,PLUGIN) are pytest's arguments for one size, and for a share of its tests where SHARE=2/3 asks for that.
some = --durations=5 -m "$(MARKED)" $(if $(SHARE),-p $(1) --share $(SHARE))
TEST = $(PY) -m pytest $(call some,lens.tests.share) --junit-xml=$(REPORTS)/$(SIZE)/$@.xml

# Three parts share two cores, and OpenBLAS's idle threads would spin: for a third of the time of exercise 17.6's answers.
$(SUITES): export OPENBLAS_NUM_THREADS = 1

# LLVM's work comes after all of XLA's own passes, and no test looks at it. tests/judge/test_quick.py holds that programs are the
# same without it. XLA's flag against fusion emitters would save as much again, but then other temporaries are planned.
$(SUITES): export JAX_DISABLE_MOST_OPTIMIZATIONS = 1

# Of the thorough tests: none of these is to be left alone at the end, with a core that has nothing to do.
LONGEST := test-answers test-sandbox test-helper

# $(call suite,SIZE,PARTS) runs every part, whatever fails, and counts.
define suite
	echo "Running $(words $(2)) parts, three at a time; each is shown when it has ended"; \
	started=$$(date +%s); rm -rf $(REPORTS)/$(1); \
	$(MAKE) --no-print-directory --keep-going --jobs=3 --output-sync=target $(addprefix --old-file=,$(SET_UP) faketime) SIZE=$(1) $(3) $(2); status=$$?; \
	$(PY) tests/tally.py $(REPORTS)/$(1) $$started$(if $(3),, $(SHARE)) || status=1; exit $$status
endef

test-answers: $(EVERYTHING)
	@$(TEST) tests/test_answers.py

# The open edition of a chapter runs after its solution, which leaves what XLA compiled for both.
test-pages-%: $(EVERYTHING) $(GPU)
	@$(PY) -m shardlab_authoring.executed --half $* build/solutions
	@PYTHONPATH=tests $(TEST) -p kept_outputs --nbval-lax --nbval-current-env $(wildcard notebooks/?[$(if $(filter 0,$*),02468,13579)]_*.ipynb)

test-helper: $(EVERYTHING) $(GPU) bubblewrap
	@$(TEST) $(addprefix --ignore=,$(BROWSERS) $(SANDBOX) $(ATTACKS) tests/test_answers.py) tests

test-sandbox: $(EVERYTHING) bubblewrap
	@$(TEST) $(SANDBOX)

test-attacks: $(EVERYTHING) bubblewrap
	@$(TEST) $(ATTACKS)

test-browsers: $(EVERYTHING) $(GPU) $(PYODIDE) $(LAB_SETTINGS) chromium $(if $(filter test,$(SIZE)),test-pages-0 test-pages-1)
	@$(TEST) $(BROWSERS)

# In an environment that has the lens alone: it knows nothing of the course.
test-lens: $(VENV)-lens/.installed $(GPU)  ## run the lens's own tests, where nothing of the course is installed
	@cd lens && ../$(VENV)-lens/bin/python -m pytest $(call some,tests.share) --junit-xml=../$(REPORTS)/$(SIZE)/$@.xml

$(VENV)-lens/.installed: lens/pyproject.toml constraints.txt | $(EVERYTHING)
	@$(PY) -m venv --clear $(VENV)-lens
	@$(call by-uv-or-pip,$(VENV)-lens/bin/python,--editable './lens[tests$(if $(TPU),$(comma)tpu)]')
	@mkdir -p $(VENV)-lens/share && ln -sfn $(abspath $(VENV))/share/shardlens $(VENV)-lens/share/shardlens

book: $(BOOK) $(PYODIDE)  ## render the book into build/book/_build/html, running what has changed
	@$(PY) jupyter_book/render.py

pdf: book chromium  ## print the book into build/book/shardlab.pdf
	@$(PY) jupyter_book/pdf.py build/book/shardlab.pdf

slides: $(BOOK)  ## make slides of a chapter's pictures and predictions into build/slides/ (CHAPTER=4)
	@$(PY) jupyter_book/slides.py $(or $(CHAPTER),$(error name a chapter, as in: make slides CHAPTER=4))

# By the Python of the environment alone, so that nothing but the builder stands by when a release is made.
dist: | $(PY)  ## build the wheels and the sdists of course and lens into dist/
	@{ $(PY) -m pip --version || $(PY) -m ensurepip; } > /dev/null 2>&1
	@$(PY) -m pip install --disable-pip-version-check --quiet --constraint constraints.txt hatchling
	@rm -rf dist
	@$(PY) -m hatchling build --directory dist
	@cd lens && ../$(PY) -m hatchling build --directory ../dist

# Each minor version of Python that runs here.
PYTHONS ?= $(shell for p in python3.11 python3.12 python3.13 python3.14; do $$p -c "" 2>/dev/null && echo $$p; done; true)

release: dist  ## build and try the wheel in an environment of its own for each Python, and list what is to be done to publish it
	@for python in $(or $(PYTHONS),$(PYTHON)); do \
		echo "Trying the wheel in build/release with $$($$python --version)"; \
		rm -rf build/release && $$python -m venv build/release && \
		build/release/bin/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt dist/*.whl && \
		{ (cd build && release/bin/python -W error -c 'import shardlab as sl; sl.setup(8); print(sl.check("0.1"))' > release/said.txt 2>&1) || \
			{ cat build/release/said.txt; false; }; } || exit 1; \
	done
	@$(PY) -m shardlab_tools.address

address: $(INSTALLED)  ## set the repository's address everywhere (URL=https://github.com/OWNER/NAME)
	@$(PY) -m shardlab_tools.address '$(URL)'
	@$(PY) -m shardlab_course.editions.edition

book-serve: book  ## render the book and show it on this machine (PORT=8000)
	@echo "http://127.0.0.1:$(PORT)/ (Ctrl-C stops it)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory build/book/_build/html $(PORT)

test-full: $(INSTALLED) bubblewrap  ## run every hostile submission and 140 kills (an hour)
	@echo "Running every family of tests/hostile/ through the real command, 50 kills of a class run and one at each of its writes"
	@SHARDLAB_FULL=1 $(PY) -m pytest --durations=15 tests/hostile
	@SHARDLAB_FULL=1 $(PY) -m pytest --durations=5 tests/grader/test_killed.py tests/grader/test_processes.py

test-programs: $(INSTALLED) $(TPU)  ## read programs in the manner of public ones, compiled for CPU and TPU slices, and claims for other chips (20 minutes)
	@$(PY) -m pytest --durations=15 -m programs lens/tests tests/test_claims.py tests/test_golf.py

test-portable: $(INSTALLED) $(TPU) bubblewrap faketime  ## compare what was measured before, as other machines would (four minutes of CPU)
	@$(PY) -m shardlab_tools.portable

# On copies of hosted platforms (tests/doors/platforms.toml); DOOR=kaggle, CHAPTERS="0 4" for some of them.
DOOR ?= colab

test-doors: $(INSTALLED)  ## run all notebooks as on Colab (DOOR=kaggle, DOOR_PYTHON=python3.12 for others)
	@$(PY) tests/doors/hosted.py --platform $(DOOR) $(if $(DOOR_PYTHON),--python "$(DOOR_PYTHON)") $(CHAPTERS)

bench: $(INSTALLED) bubblewrap book chromium  ## measure speed as ratios, for the status page (an hour on a quiet machine; less with SMALL=1)
	@mkdir -p build
	@$(PY) bench/einshard.py --write build/bench.json $(if $(SMALL),--repeats 200)
	@$(PY) bench/laboratory.py --write build/bench.json $(if $(SMALL),--repeats 12)
	@$(PY) bench/checking.py --write build/bench.json $(if $(SMALL),--repeats 7)
	@$(PY) bench/diverging.py --write build/bench.json $(if $(SMALL),--layers 4 --width 256 --words 4096)
	@$(PY) bench/explaining.py --write build/bench.json $(if $(SMALL),--layers 5)
	@PYTHONPATH=. $(PY) bench/grading.py $(if $(SMALL),--small)
	@PYTHONPATH=. $(PY) bench/grading.py --defective $(if $(SMALL),--small)
	@PYTHONPATH=. $(PY) bench/grading.py --chapter 09 --students 30 $(if $(SMALL),--small)
	@PYTHONPATH=. $(PY) bench/grading.py --chapter 14 --students 30 $(if $(SMALL),--small)
	@PYTHONPATH=. $(PY) bench/growth.py $(if $(SMALL),--small)
	@$(PY) bench/landing.py build/book/_build/html --write build/bench.json
	@cp build/bench.json jupyter_book/bench.json

check: $(INSTALLED) bubblewrap  ## look at what a change to a chapter breaks first (CHAPTER=4), or at an exercise's answers (QUESTION=4.2 WATCH=1)
	@$(PY) -m shardlab_authoring.check $(if $(QUESTION),--question $(QUESTION) $(if $(WATCH),--watch),--chapter $(CHAPTER))

mutants: $(INSTALLED)  ## change right answers in one place each: the judge must refuse all that are wrong (an hour; CHAPTER=7)
	@$(PY) -m shardlab_tools.mutants $(if $(CHAPTER),--chapters $(CHAPTER))

DRAWN ?= 100

variants: $(INSTALLED)  ## draw 100 variants of each exercise that has them: right and wrong answers stay what they are (half an hour; DRAWN=5)
	@SHARDLAB_VARIANTS=$(DRAWN) $(PY) -m pytest tests/test_axes.py -q -k the_same_in_each_variant

# The tests are recorded once at a commit, then each fault is tried on those that reach it; what was interrupted goes on.
NUMBER ?= 300
SEED ?= 35

test-strength: $(EVERYTHING) $(GPU) bubblewrap chromium  ## plant faults in the code, and say which tests find them (hours; NUMBER=300 SEED=35)
	@PYTHONPATH=tests $(PY) -m strength --number $(NUMBER) --seed $(SEED)

lint: $(EVERYTHING)  ## check style and format with ruff, and types with mypy
	@$(VENV)/bin/ruff check
	@$(VENV)/bin/ruff format --check
	@$(VENV)/bin/mypy

notebooks: $(INSTALLED)  ## write notebooks/ again from solutions/
	@$(PY) -m shardlab_course.editions.edition

numbers: $(INSTALLED)  ## measure the numbers in prose again, and notebooks/ (CHAPTERS="4 7" for some of them)
	@$(PY) -m shardlab_authoring.executed --numbers build/solutions $(CHAPTERS)
	@$(PY) -m shardlab_course.editions.edition $(CHAPTERS)

new-question: $(INSTALLED) bubblewrap  ## begin an exercise: its folder, and its place in the chapter (ID=4.8)
	@$(PY) -m shardlab_authoring.new_question $(ID)

screenshots: $(INSTALLED) bubblewrap chromium  ## make the pictures of the instructor's guide again, from the demonstration's class
	@echo "Grading the demonstration's class, then opening it in Formgrader"
	@$(PY) jupyter_book/screenshots.py

references: $(INSTALLED) bubblewrap  ## measure the solutions again (CHAPTERS="4 7" for some of them)
	@echo "Running every solution and measuring its programs"
	@$(PY) -m shardlab_authoring.packaged $(CHAPTERS)
	@$(PY) -m shardlab_authoring.fronts

records: $(INSTALLED) $(TPU)  ## compile the pages' TPU programs again for src/shardlab/records/
	@SHARDLAB_KEEP_RECORDS=1 $(PY) -m shardlab_authoring.executed build/solutions

constraints: $(INSTALLED)  ## pin new dependencies in constraints.txt (UPGRADE=--upgrade renews every pin)
	@echo "Resolving all extras together, for every Python that pyproject.toml allows: each gets the newest JAX that it can run"
	@$(VENV)/bin/uv --version >/dev/null 2>&1 || $(PY) -m pip install --quiet '$(UV)'
	@$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --all-extras --no-annotate --no-header --no-emit-package shardlens $(UPGRADE) \
		--output-file constraints.txt pyproject.toml

newer: $(INSTALLED) bubblewrap  ## take up the newest version of everything, JAX too, and say what has changed (an hour)
	@$(PY) -m shardlab_tools.newer

newer-here: $(INSTALLED) $(TPU) bubblewrap
	@$(PY) -m shardlab_tools.newer --here $(BEFORE)

golf: $(INSTALLED) $(TPU) $(GPU)  ## charge an entry of pod golf (FILE=mine.py), or all of them again
	@$(PY) -m shardlab_tools.golf $(FILE)

dependencies: $(INSTALLED)  ## when each direct dependency was last released, the longest silent first
	@$(PY) -m shardlab_tools.dependencies

clean:  ## remove caches and outputs (.venv stays)
	rm -rf build dist out .mypy_cache .ruff_cache .pytest_cache .hypothesis lens/.pytest_cache lens/.hypothesis
	find lens src grader tests -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call debian,PACKAGE,WHY) installs a Debian package when root; otherwise it says which command does, and stops.
define debian
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing the Debian package $(1) ($(2))"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(1); \
	else \
		echo "The Debian package $(1) is missing: $(2)."; \
		echo "  mend:  sudo apt-get install $(1)   (Debian, Ubuntu), then run make again"; \
		exit 1; \
	fi
endef

# $(call install,EXTRAS) installs the course with these: by uv where it is here or can be had, in a tenth of pip's time, else by
# pip. uv leaves it to the first import to compile modules, and in the sandbox, where nothing can be written, to every one.
comma := ,
UV := uv==0.13.9
define install
	echo "Installing shardlab[$(1)] into $(VENV), at the versions in constraints.txt (the log: $(VENV)/install.log)"; \
	{ $(PY) -m pip --version || $(PY) -m ensurepip; } > $(VENV)/install.log 2>&1; \
	uv=$$(command -v uv || echo $(VENV)/bin/uv); \
	$$uv --version >> $(VENV)/install.log 2>&1 || $(PY) -m pip install '$(UV)' >> $(VENV)/install.log 2>&1; \
	$(call by-uv-or-pip,$(PY),--editable ./lens --editable '.[$(1)]')
endef

# $(call by-uv-or-pip,PYTHON,WHAT), when `install` has brought uv.
define by-uv-or-pip
	uv=$$(command -v uv || echo $(VENV)/bin/uv); \
	$$uv pip install --python $(1) --compile-bytecode --constraint constraints.txt $(2) >> $(VENV)/install.log 2>&1 || \
	{ echo "  uv could not; by pip, which takes minutes"; \
	$(1) -m pip install --disable-pip-version-check --constraint constraints.txt $(2) >> $(VENV)/install.log 2>&1; } || \
	{ tail -n 20 $(VENV)/install.log; exit 1; }; \
	touch $@
endef

$(PY):
	@command -v $(PYTHON) >/dev/null || { \
		echo "There is no $(PYTHON) here."; \
		echo "  mend:  install Python 3.11 or newer, or name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Shardlab needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version)."; \
		echo "  mend:  name a newer one: make PYTHON=python3.11 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(call debian,python3-venv,makes .venv); }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(STUDENT): pyproject.toml lens/pyproject.toml constraints.txt | $(PY)
	@$(call install,lab)

$(GRADER): pyproject.toml lens/pyproject.toml constraints.txt | $(PY)
	@$(call install,grader)

$(INSTALLED): pyproject.toml lens/pyproject.toml constraints.txt | $(PY)
	@$(call install,$(EXTRAS))
	@touch $(STUDENT) $(GRADER)

$(EVERYTHING): pyproject.toml lens/pyproject.toml constraints.txt | $(PY)
	@$(call install,$(EXTRAS)$(comma)book$(if $(TPU),$(comma)tpu))
	@touch $(STUDENT) $(GRADER) $(INSTALLED) $(BOOK) $(TPU)

# A download of 182 MB.
$(VENV)/.gpu: $(EVERYTHING)
	@echo "Installing XLA for GPU into $(VENV)"
	@$$($(PY) -c 'from shardlens.compilers.cards import at_hand, command; print("true" if at_hand() else command())') >> $(VENV)/install.log 2>&1 || { tail -n 20 $(VENV)/install.log; exit 1; }
	@touch $@

$(VENV)/.tpu: $(INSTALLED)
	@$(call install,$(EXTRAS)$(comma)tpu)

$(PYODIDE): | $(PY)
	@command -v npm >/dev/null || { $(call debian,npm,brings Pyodide for the playgrounds of the book); }
	@npm install --silent --no-audit --no-fund --prefix $(VENV)/npm pyodide@314.0.7 > $(VENV)/npm.log 2>&1 || { cat $(VENV)/npm.log; exit 1; }

$(BOOK): $(INSTALLED)
	@$(call install,book)

chromium:
	@command -v chromium >/dev/null || { $(call debian,chromium,the tests of the book drive it); }

faketime:
	@command -v faketime >/dev/null || { $(call debian,faketime,sets the clock a year ahead); }

gnumeric:
	@command -v ssconvert >/dev/null || { $(call debian,gnumeric,reads tables as spreadsheets do); }

bubblewrap:
	@command -v bwrap >/dev/null || { $(call debian,bubblewrap,submissions run inside it); }

# A double click on a notebook's MyST text opens cells that run, and not an editor. nbgrader's panel for authors is not shown.
define LAB_JSON
{
  "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},
  "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Jupytext Notebook"}}
}
endef
export LAB_JSON

$(LAB_SETTINGS): Makefile | $(STUDENT)
	@mkdir -p $(@D) $(VENV)/etc/jupyter/labconfig
	@printf '%s\n' '{"disabledExtensions": {"@jupyter/nbgrader:create-assignment": true}}' > $(VENV)/etc/jupyter/labconfig/page_config.json
	@printf '%s\n' "$$LAB_JSON" > $@
