# answer: each layer adds one cell on each side: 10 (the receptive field is 21)
assert str(tc.receptive_field([("conv", 3)] * 10)).count("21 x 21") == 1
