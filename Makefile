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
SOURCES := $(wildcard teachconv/*.pyx teachconv/kernels/*.[ch])
# Build in place with the interpreter of .venv; build isolation would install NumPy and SciPy a second time.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Install the packages of an extra; a plain editable install would compile the extension again.
INSTALL_EXTRA := TEACHCONV_NO_CYTHON=1 TEACHCONV_REQUIRE_CYTHON=0 $(INSTALL) --no-build-isolation -e
# One worker for each core, one thread in each; tests about threads set their own number.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadgroup

# The tests start hundreds of interpreters, and .venv begins without byte code: each would compile NumPy again.
unexport PYTHONDONTWRITEBYTECODE

# If there is a compiler, a failed build of the extension is an error; without one, install the Python part only.
export TEACHCONV_REQUIRE_CYTHON ?= $(if $(shell command -v $(CC) 2>/dev/null),1,0)

.PHONY: demo test test-slow test-peers check lint types docs wheel-check sanitize sanitize-small valgrind clean
.DELETE_ON_ERROR:

$(ENVIRONMENT): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile "setuptools>=77" "cython>=3.1" "numpy>=2.0" "scipy>=1.13" wheel
	touch $@

$(EXTENSION): $(ENVIRONMENT) pyproject.toml setup.py $(SOURCES)
	rm -f teachconv/_kernels*.so  # a failed build must not leave the previous extension in place
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

# What takes long by nature: every variant of the GPU kernels compiled, and their run under AddressSanitizer
test-slow: $(VENV)/.test $(VENV)/.system
	$(PYTEST) -m slow

test-peers: $(VENV)/.peers
	$(BIN)/python -m pytest tests/peers tests/translation/test_onnx_models.py tests/translation/test_translating.py

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint teachconv/*.pyx  # cython-lint looks for pycodestyle on PATH

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

wheel-check: $(VENV)/.dev
	sh tests/wheel_check.sh $(BIN)/python

# Run the case table and random shapes under AddressSanitizer and UndefinedBehaviorSanitizer: about 8 minutes.
sanitize: $(EXTENSION)
	TEACHCONV_SANITIZE=1 $(BUILD_SANITIZED) build/sanitize --build-temp build/sanitize/temp
	$(WITH_SANITIZERS) $(BIN)/python tests/sanitize.py build/sanitize/teachconv/_kernels*.so

# The same for a part of the cases and shapes: at most 2 minutes.
sanitize-small: $(EXTENSION)
	TEACHCONV_SANITIZE=small $(BUILD_SANITIZED) build/sanitize-small --build-temp build/sanitize-small/temp
	$(WITH_SANITIZERS) $(BIN)/python tests/sanitize.py build/sanitize-small/teachconv/_kernels*.so 400

BUILD_SANITIZED := $(BIN)/python setup.py -q build_ext --build-lib
WITH_SANITIZERS = ASAN_OPTIONS=detect_leaks=0 \
  LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)"

# Run small cases and shapes under valgrind's memcheck, with the instruction sets that valgrind supports.
valgrind: $(EXTENSION)
	TEACHCONV_ISA=avx2 PYTHONMALLOC=malloc OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell \
	  valgrind --quiet --error-exitcode=1 --suppressions=tests/valgrind.supp \
	  $(BIN)/python tests/sanitize.py teachconv/_kernels*.so 150 20

check: lint types test test-slow docs wheel-check sanitize-small

clean:
	rm -rf $(VENV) build dist docs/_build docs/api *.egg-info teachconv/*.so teachconv/*.pyd .pytest_cache \
	  .mypy_cache .ruff_cache .hypothesis teachconv-demo.html teachconv-explore.html docs/_generated docs/dialect_map.md
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
