# answer: both by 128, so that their differences, which are what is multiplied, stay
as_uint8 = (photo.astype(int) + 128).astype("uint8")
by_onnx = tc.quantized.conv2d(photo, blur, **scales | {"scheme": "onnx"})
moved = scales | {"scheme": "onnx", "x_zero_point": -30 + 128, "y_zero_point": 0 + 128}
assert np.array_equal(tc.quantized.conv2d(as_uint8, blur, **moved), by_onnx.astype(int) + 128)
