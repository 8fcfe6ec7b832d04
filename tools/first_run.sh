#!/bin/sh
# The first run on a GPU: bring-up, sanitizers, the race against cuDNN, profiles, a sweep and a large array.
#
#     sh tools/first_run.sh [STEP ...]       in the project's folder; all steps without arguments
#
# Nothing is downloaded. Each step takes at most ten minutes (STEP_SECONDS) and writes OUT/STEP.log; OUT is
# first-run by default. What is not installed is skipped by name. PYTHON is the interpreter that has CuPy, and
# PyTorch for the race. The exit status is 1 if a step failed.

set -u
PYTHON=${PYTHON:-.venv/bin/python}
OUT=${OUT:-first-run}
STEP_SECONDS=${STEP_SECONDS:-600}
STEPS=${*:-bring_up tests memcheck racecheck synccheck race_forward race_gradients profile sweep large}
HERE="$PYTHON tools/first_run.py"
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
        echo "$name: passed"
    else
        echo "$name: FAILED with status $?, see $OUT/$name.log"
        tail -5 "$OUT/$name.log"
        failed=1
    fi
}

for program in cupy torch ncu compute-sanitizer; do
    if has "$program"; then echo "$program: found"; else echo "$program: not found"; fi
done

step bring_up "cupy" $HERE bring_up
step tests "cupy" $PYTHON -m pytest -q -m gpu tests/backends
for tool in memcheck racecheck synccheck; do # CuPy's pool off: an access beyond an array is then one beyond an allocation
    step $tool "cupy compute-sanitizer" compute-sanitizer --tool $tool --error-exitcode 1 $HERE cases
done
step race_forward "cupy torch" $PYTHON benchmarks/gpu.py --ops forward,depthwise --batch 1,8 --rounds 10 --algorithms \
    --output "$OUT/forward" --markdown docs/benchmarks_gpu.md
step race_gradients "cupy torch" $PYTHON benchmarks/gpu.py --ops input_gradient,filter_gradient --batch 8 --rounds 10 \
    --output "$OUT/gradients" --markdown "$OUT/gradients.md"
step profile "cupy ncu" ncu --set basic --target-processes all -o "$OUT/profile" -f $HERE worst "$OUT/forward/results.csv"
step sweep "cupy" $HERE sweep
step large "cupy" $HERE large
exit $failed
