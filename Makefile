# make demo    set up and run the main job          make check   everything CI runs
# make test    set up and run the tests             make docs    the pages, warnings as errors
# PYTHON chooses the interpreter that .venv is made with; nothing else has to be installed by hand.
# GPU chooses what the tests install of CUDA, from PyPI: gpu-cuda13 where there is a driver (gpu-cuda12 for an
# older one), else cuda-compiler, which needs no GPU.

PYTHON ?= python3
GPU ?= $(if $(shell command -v nvidia-smi 2>/dev/null),gpu-cuda13,cuda-compiler)
VENV := .venv
BIN := $(VENV)/bin
# one stamp for the environment and one for the extension: an edited .pyx rebuilds only the extension
ENVIRONMENT := $(VENV)/.environment
EXTENSION := $(VENV)/.extension
SOURCES := $(wildcard teachconv/*.pyx teachconv/kernels/*.[ch])
# the extension is built in place by the interpreter of .venv, without a second copy of NumPy and SciPy
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# with a compiler at hand an extension that fails to build is an error; without one the install is pure
export TEACHCONV_REQUIRE_CYTHON ?= $(if $(shell command -v $(CC) 2>/dev/null),1,0)

.PHONY: demo test test-peers check lint types docs wheel-check sanitize sanitize-small valgrind clean
.DELETE_ON_ERROR:

$(ENVIRONMENT): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) "setuptools>=77" "cython>=3.1" "numpy>=2.0" "scipy>=1.13" wheel
	touch $@

$(EXTENSION): $(ENVIRONMENT) pyproject.toml setup.py $(SOURCES)
	rm -f teachconv/_kernels*.so  # a build that fails must not leave the last one in place
	$(INSTALL) --no-build-isolation -e ".[test]"
	touch $@

$(VENV)/.dev: $(EXTENSION)
	$(INSTALL) --no-build-isolation -e ".[dev]"
	touch $@

$(VENV)/.peers: $(EXTENSION)
	$(INSTALL) --no-build-isolation -e ".[test,peers]"
	touch $@

$(VENV)/.gpu: $(EXTENSION)
	$(INSTALL) --no-build-isolation -e ".[$(GPU)]"
	touch $@

$(VENV)/.system: $(ENVIRONMENT) tests/system_packages.sh
	sh tests/system_packages.sh
	touch $@

demo: $(EXTENSION)
	$(BIN)/python -m teachconv demo

test: $(EXTENSION) $(VENV)/.gpu $(VENV)/.system
	$(BIN)/python -m pytest

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
	TEACHCONV_SANITIZE=1 $(BUILD_SANITIZED) build/sanitize --build-temp build/sanitize/temp
	$(WITH_SANITIZERS) $(BIN)/python tests/sanitize.py build/sanitize/teachconv/_kernels*.so

# the same for part of the cases and shapes; 2 minutes at most
sanitize-small: $(EXTENSION)
	TEACHCONV_SANITIZE=small $(BUILD_SANITIZED) build/sanitize-small --build-temp build/sanitize-small/temp
	$(WITH_SANITIZERS) $(BIN)/python tests/sanitize.py build/sanitize-small/teachconv/_kernels*.so 400

BUILD_SANITIZED := $(BIN)/python setup.py -q build_ext --build-lib
WITH_SANITIZERS = ASAN_OPTIONS=detect_leaks=0 \
  LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)"

# memcheck over small cases and shapes, on the instruction sets that valgrind knows; needs valgrind
valgrind: $(EXTENSION)
	TEACHCONV_ISA=avx2 PYTHONMALLOC=malloc OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell \
	  valgrind --quiet --error-exitcode=1 --suppressions=tests/valgrind.supp \
	  $(BIN)/python tests/sanitize.py teachconv/_kernels*.so 150 20

check: lint types test docs wheel-check

clean:
	rm -rf $(VENV) build dist docs/_build docs/api *.egg-info teachconv/*.so teachconv/*.pyd .pytest_cache \
	  .mypy_cache .ruff_cache .hypothesis teachconv-demo.html teachconv-explore.html docs/_generated docs/dialect_map.md
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
