"""Run an extension built elsewhere through the cases and random shapes.

For make sanitize, make sanitize-small and make valgrind. Usage: python tools/sanitize.py EXTENSION.so
[RANDOM_SHAPES] [CASES], by default 2000 shapes and all cases. The extension replaces the installed one. Every
algorithm, instruction set, dtype and kind of data is run, and results are compared with other backends'.
"""

import importlib.util
import random
import sys

EXACT = ("direct", "winograd", "winograd2")  # bounds of the algorithms whose sums of integers are exact


def load(path):
    """Load the extension at ``path`` in place of teachconv's own."""
    spec = importlib.util.spec_from_file_location("teachconv._kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["teachconv._kernels"] = module
    import teachconv

    spec.loader.exec_module(module)
    teachconv._kernels = module
    module.keep_scratch(
        0
    )  # in a block from an earlier call, memory beside the scratch or never written to is no fault


def random_problem(rng):
    """A legal problem of any rank with odd sizes: remainders, crops, filters larger than the input."""
    rank = rng.choice([1, 2, 2, 3])
    groups = rng.choice([1, 1, 1, 2, 3, 5])
    depth, outs = rng.choice([1, 2, 3, 8, 17]), rng.choice([1, 2, 5, 16, 33])
    k = [rng.randint(1, 4) for _ in range(rank)]
    s, d = [tuple(rng.choice([1, 1, 2, 3]) for _ in range(rank)) for _ in range(2)]
    if rng.random() < 0.3:
        k, s, d, groups = [3] * rank, 1, 1, 1
    if rng.random() < 0.3:
        k, d, groups = [rng.randint(1, 7) for _ in range(rank)], 1, 1
    if rng.random() < 0.2:
        groups, depth = rng.choice([3, 16, 19]), 1
    pads = tuple(tuple(rng.randint(-2, 4) for _ in range(2)) for _ in range(rank))
    padding = rng.choice(["SAME", "VALID", "SAME_LOWER", pads, *["CAUSAL"] * (rank == 1)])
    sizes = [rng.randint(1, 14 if rank < 3 else 7) for _ in range(rank)]
    return (rng.randint(1, 2), *sizes, groups * depth), (*k, depth, groups * outs), s, padding, d


def main():
    """Run and count; a memory error ends the process, a wrong result raises."""
    path, shapes, cases = sys.argv[1], int((sys.argv[2:] or ["2000"])[0]), int((sys.argv[3:] or ["0"])[0])
    load(path)
    import teachconv as tc
    from teachconv.backends import cython_backend
    from teachconv.core.geometry import conv_geometry
    from teachconv.data.seeded import make_array
    from teachconv.verification.cases import find_cases
    from teachconv.verification.diffing import check_cases

    levels = []
    for level in tc._kernels.ISA_NAMES:
        if cython_backend.set_isa(level) == level:
            levels.append(level)
    chosen = find_cases()[: cases or None]
    count = 0
    for level in levels:
        cython_backend.set_isa(level)
        for dtype, data in (
            ("float32", "normal"),
            ("float32", "nonfinite"),
            ("float64", "normal"),
            ("int32", "normal"),
        ):
            rows = check_cases(["cython"], dtype, data, chosen)
            assert not [row.name for row in rows if row.passed is False]
            count += len(rows)
    rng = random.Random(20261121)
    for number in range(shapes):
        cython_backend.set_isa(levels[number % len(levels)])
        tc.set_num_threads(rng.choice([1, 1, 2]))
        x_shape, w_shape, s, padding, d = random_problem(rng)
        try:
            g = conv_geometry(x_shape, w_shape, s, padding, dilations=d)
        except ValueError:
            continue
        x, w, dy = (
            make_array(shape, "float32", "integers", f"{number}")
            for shape in (x_shape, w_shape, g.output_shape)
        )
        for op, args in (
            (tc.convolution, (x, w)),
            (tc.convolution_backprop_input, (x_shape, w, dy)),
            (tc.convolution_backprop_filter, (x, w_shape, dy)),
        ):
            call, _ = tc.nn_ops.call_of(op, args, {"strides": s, "padding": padding, "dilations": d})
            want = tc.running.dispatch.run(call, "numpy")
            for algorithm in tc.backends.get("cython").ALGORITHMS:
                if algorithm.fits(call.kind, "float32", g):
                    got = tc.running.dispatch.run(call, "cython", algorithm.name)
                    # integers are exact, except where a transform multiplies by square roots
                    right = got == want if algorithm.error in EXACT else abs(got - want) <= 0.01
                    assert right.all(), (algorithm.name, x_shape, w_shape, s, padding, d)
                    count += 1
    print(f"{count} results on {', '.join(levels)}: no fault, no difference")


if __name__ == "__main__":
    main()
