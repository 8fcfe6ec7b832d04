#!/bin/sh
# The first run on a GPU: bring-up, sanitizers, the race against cuDNN, profiles, a sweep and a large array.
#
#     sh tools/first_run.sh [STEP ...]       in the project's folder; all steps without arguments
#     sh tools/first_run.sh first            about 4 minutes: are the kernels right, and how fast are some layers
#     sh tools/first_run.sh second           about 6 minutes: the numbers for the page
#     sh tools/first_run.sh untried          about 2 minutes: what has run on no card yet
#
# Nothing is downloaded. Each step takes at most ten minutes (STEP_SECONDS), those of first, second and untried less, and
# writes OUT/STEP.log; OUT is first-run by default. What is not installed is skipped by name. PYTHON is the
# interpreter that has CuPy, and PyTorch for the race. The exit status is 1 if a step failed.

set -u
PYTHON=${PYTHON:-.venv/bin/python}
OUT=${OUT:-first-run}
STEP_SECONDS=${STEP_SECONDS:-600}
STEPS=${*:-bring_up tests memcheck racecheck synccheck race_forward race_gradients profile sweep large}
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
HERE="$PYTHON tools/first_run.py"
RACE="$PYTHON benchmarks/gpu.py"
begin=$(date +%s)
failed=0
mkdir -p "$OUT"

has() { # is a program or a Python package there?
    case $1 in
    cupy | torch) $PYTHON -c "import $1" 2>/dev/null ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

step() { # step NAME NEEDS COMMAND ...
    name=$1 needs=$2
    shift 2
    case " $STEPS " in *" $name "*) ;; *) return ;; esac
    for need in $needs; do
        if ! has "$need"; then
            echo "$name: skipped, $need is not installed"
            return
        fi
    done
    if timeout "$STEP_SECONDS" "$@" >"$OUT/$name.log" 2>&1; then
        echo "$name: passed after $(($(date +%s) - begin)) s: $(tail -1 "$OUT/$name.log")"
    else
        echo "$name: FAILED with status $?, see $OUT/$name.log"
        tail -5 "$OUT/$name.log"
        failed=1
    fi
}

within() { # within SECONDS STEP NEEDS COMMAND ...: a step of first or second
    STEP_SECONDS=$1 STEPS=$2
    shift
    step "$@"
}

FAST=pipelined_gemm,pipelined_gemm_tf32,pipelined_gemm_float32,im2col,winograd2,depthwise,wgmma_gemm,wgmma_gemm_tf32
DECISIVE='1x1 64-256@56,3x3 64-64@56,3x3 256-256@14,VGG 3x3 256-256@56'
# pytest may be older there than pyproject.toml asks for
TESTS="$PYTHON -m pytest -q -m gpu -p no:cacheprovider -o minversion=7 -o addopts=--import-mode=importlib -p no:benchmark
    -W ignore::pytest.PytestConfigWarning"
GRADIENTS='3x3 256-256@14,VGG 3x3 256-256@56,VGG 3x3 512-512@28'
case $STEPS in
first) # what proves most comes first; a step that fails does not stop the others
    within 20 card "" nvidia-smi --query-gpu=name,clocks.sm,clocks.mem,temperature.gpu --format=csv
    within 60 warm "" $HERE warm
    within 60 exact "" $HERE exact
    within 90 tests "" $TESTS -n 8 --maxfail 5 tests/backends/test_cupy.py tests/backends/test_cupy_cards.py
    within 60 memcheck "compute-sanitizer" compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 1 $HERE exact $FAST float32,float16
    within 85 race "" $RACE --ops forward --batch 8 --rounds 8 --algorithms --layers "$DECISIVE" --seconds 60 --output "$OUT/race"
    exit $failed
    ;;
untried) # the filter gradient of winograd2, NaNs that TF32 may lose, and pipelined_gemm's tiles of 256 rows
    within 5 card "" nvidia-smi --query-gpu=name,clocks.sm,clocks.mem,temperature.gpu --format=csv
    within 28 exact "" $HERE exact winograd2 float32,float16
    within 22 nans "" $TESTS tests/backends/test_cupy.py -k no_nan_is_lost
    within 35 tall "" $HERE tall
    within 28 race "" $RACE --ops filter_gradient --modes float32 --batch 8 --rounds 5 --algorithms --layers "$GRADIENTS" \
        --seconds 20 --output "$OUT/untried"
    exit $failed
    ;;
second)
    within 60 warm "" $HERE warm
    within 30 calls "" $RACE --calls
    within 45 sweep "" $HERE sweep
    within 160 forward "" $RACE --ops forward,depthwise --batch 1,8 --rounds 12 --seconds 130 --output "$OUT/forward"
    within 110 gradients "" $RACE --ops input_gradient,filter_gradient --batch 8 --rounds 8 --seconds 90 --output "$OUT/gradients"
    within 45 profile "ncu" ncu --set basic --clock-control none -o "$OUT/profile" -f $HERE worst "$OUT/forward/results.csv"
    exit $failed
    ;;
esac

for program in cupy torch ncu compute-sanitizer; do
    if has "$program"; then echo "$program: found"; else echo "$program: not found"; fi
done

step bring_up "cupy" $HERE bring_up
step tests "cupy" $PYTHON -m pytest -q -m gpu tests/backends
for tool in memcheck racecheck synccheck; do # CuPy's pool off: an access beyond an array is then one beyond an allocation
    step $tool "cupy compute-sanitizer" compute-sanitizer --tool $tool --error-exitcode 1 $HERE cases
done
step race_forward "cupy torch" $PYTHON benchmarks/gpu.py --ops forward,depthwise --batch 1,8 --rounds 10 --algorithms \
    --output "$OUT/forward" --markdown docs/recorded/benchmarks/gpu_h200.txt
step race_gradients "cupy torch" $PYTHON benchmarks/gpu.py --ops input_gradient,filter_gradient --batch 8 --rounds 10 \
    --output "$OUT/gradients" --markdown "$OUT/gradients.md"
step profile "cupy ncu" ncu --set basic --target-processes all -o "$OUT/profile" -f $HERE worst "$OUT/forward/results.csv"
step sweep "cupy" $HERE sweep
step large "cupy" $HERE large
exit $failed
