# answer: 20 / 2 is 10, exactly; 10 / 4 is 2.5, half away from zero 3, and with the zero point 0
sum_20 = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 0.5, "y_scale": 2.0, "y_zero_point": -3}
twenty = np.int8([[[[20]]]])
assert tc.quantized.conv2d(twenty, one, scheme="tflite", **sum_20).item() == 3 - 3
