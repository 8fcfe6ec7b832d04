# answer: 20 * 0.125 is 2.5; the even neighbour is 2, and with the zero point -1
sum_20 = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 0.5, "y_scale": 2.0, "y_zero_point": -3}
twenty = np.int8([[[[20]]]])
assert tc.quantized.conv2d(twenty, one, scheme="onnx", **sum_20).item() == 2 - 3
