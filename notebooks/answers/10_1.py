# answer: left, right, top, bottom = 2, 3, 2, 3
assert (
    "F.pad(x, (2, 3, 2, 3))"
    in tc.translate(tc.conv2d, (1, 224, 224, 3), (7, 7, 3, 64), 2, "SAME", to="torch").code
)
