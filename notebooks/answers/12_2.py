# answer: with one tap there are no windows to copy, and the layer is one matrix product: taps and both im2col
# gain most. row_gemm leaves out a copy that nobody makes here, so it loses its lead.
x1 = rng.standard_normal((1, 28, 28, 128), dtype="float32")
w1 = rng.standard_normal((1, 1, 128, 128), dtype="float32")
macs1 = tc.conv2d_geometry(x1.shape, w1.shape).macs
for row in tc.autotune(tc.conv2d, x1, w1, 1, "SAME", backends=["numpy", "cython"], precision="fast"):
    assert "winograd" not in row.algorithm
    name = f"{row.backend} {row.algorithm}"
    print(
        f"{name:15} {macs1 / row.median / (macs / seconds[name]):.1f} times its multiply-adds a second before"
    )

# Winograd's rungs are for 3 x 3 at stride 1, and say so
message = ""
try:
    tc.conv2d(x1, w1, algorithm="winograd2", backend="cython")
except ValueError as error:
    message = str(error)
assert "winograd2' needs filters 3 x 3" in message
