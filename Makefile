# make demo    set up and run the main job          make check   everything CI runs
# make test    set up and run the tests             make docs    the pages, warnings as errors
# make test-slow   the tests that take long by nature, which make test leaves out
# PYTHON chooses the interpreter that .venv is made with; nothing else has to be installed by hand.
# GPU chooses what the tests install of CUDA, from PyPI: gpu-cuda13 where there is a driver (gpu-cuda12 for an
# older one), else cuda-compiler, which needs no GPU.

PYTHON ?= python3
GPU ?= $(if $(shell command -v nvidia-smi 2>/dev/null),gpu-cuda13,cuda-compiler)
VENV := .venv
BIN := $(VENV)/bin
# a stamp for each thing that is set up: make demo sets up the environment and the extension, make test more;
# an edited .pyx rebuilds only the extension. --no-compile: Python compiles what it imports, not all of SciPy
ENVIRONMENT := $(VENV)/.environment
EXTENSION := $(VENV)/.extension
SOURCES := $(wildcard teachconv/*.pyx teachconv/kernels/*.h)
# the extension is built in place by the interpreter of .venv, without a second copy of NumPy and SciPy
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# what an extra needs; the extension stays as it is, which a plain editable install would compile again
INSTALL_EXTRA := TEACHCONV_NO_CYTHON=1 TEACHCONV_REQUIRE_CYTHON=0 $(INSTALL) --no-build-isolation -e
# a worker for each core, one thread in each: tests about threads set their own numbers
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4

# with a compiler at hand an extension that fails to build is an error; without one the install is pure
export TEACHCONV_REQUIRE_CYTHON ?= $(if $(shell command -v $(CC) 2>/dev/null),1,0)

.PHONY: demo test test-slow test-peers check lint types docs wheel-check sanitize valgrind clean
.DELETE_ON_ERROR:

$(ENVIRONMENT): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile "setuptools>=77" "cython>=3.1" "numpy>=2.0" "scipy>=1.13" wheel
	touch $@

$(EXTENSION): $(ENVIRONMENT) pyproject.toml setup.py $(SOURCES)
	rm -f teachconv/_kernels*.so  # a build that fails must not leave the last one in place
	$(INSTALL) --no-compile --no-build-isolation -e ".[pretty]"
	touch $@

$(VENV)/.test: $(EXTENSION)
	$(INSTALL_EXTRA) ".[test,$(GPU)]"
	touch $@

$(VENV)/.dev: $(EXTENSION)
	$(INSTALL_EXTRA) ".[dev]"
	touch $@

$(VENV)/.peers: $(EXTENSION)
	$(INSTALL_EXTRA) ".[test,peers]"
	touch $@

$(VENV)/.system: $(ENVIRONMENT) tests/system_packages.sh
	sh tests/system_packages.sh
	touch $@

demo: $(EXTENSION)
	$(BIN)/python -m teachconv demo

test: $(VENV)/.test $(VENV)/.system
	$(PYTEST) -m "not slow"

# what takes long by nature: every variant of the GPU's kernels compiled, and run under AddressSanitizer
test-slow: $(VENV)/.test $(VENV)/.system
	$(PYTEST) -m slow

test-peers: $(VENV)/.peers
	$(BIN)/python -m pytest tests/peers tests/translation/test_onnx_models.py tests/translation/test_translating.py

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint teachconv/*.pyx  # it calls pycodestyle by its name

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

wheel-check: $(VENV)/.dev
	sh tests/wheel_check.sh $(BIN)/python

# AddressSanitizer and UndefinedBehaviorSanitizer over the case table and random shapes; about 8 minutes
sanitize: $(EXTENSION)
	TEACHCONV_SANITIZE=1 $(BIN)/python setup.py -q build_ext --build-lib build/sanitize --build-temp build/sanitize/temp
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	  $(BIN)/python tests/sanitize.py build/sanitize/teachconv/_kernels*.so

# memcheck over small cases and shapes, on the instruction sets that valgrind knows; needs valgrind
valgrind: $(EXTENSION)
	TEACHCONV_ISA=avx2 PYTHONMALLOC=malloc OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell \
	  valgrind --quiet --error-exitcode=1 --suppressions=tests/valgrind.supp \
	  $(BIN)/python tests/sanitize.py teachconv/_kernels*.so 150 20

check: lint types test test-slow docs wheel-check

clean:
	rm -rf $(VENV) build dist docs/_build docs/api *.egg-info teachconv/*.so teachconv/*.pyd .pytest_cache \
	  .mypy_cache .ruff_cache .hypothesis teachconv-demo.html teachconv-explore.html docs/_generated docs/dialect_map.md
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
