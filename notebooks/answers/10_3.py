# answer: transpose_kernel=True
jax = tc.dialects.jax.conv_transpose(y, wt, (2, 2), "SAME", transpose_kernel=True)
assert np.allclose(jax, ours)
