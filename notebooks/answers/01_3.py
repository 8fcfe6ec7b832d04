# answer: the same call with the filter turned by 180 degrees
from scipy.signal import convolve2d

assert np.array_equal(tc.conv2d(x, w[::-1, ::-1])[0, ..., 0], convolve2d(image, weights, "valid"))
