# answer: it names both
assert diagnose(tc.conv2d(x, w[::-1, ::-1], 2, padding=1, bias=bias)) == "flipped_filter+padding_side"
