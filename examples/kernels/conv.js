// conv2d of float32, NHWC and HWIO, which teachconv.testing.process drives.  node conv.js
function conv2d(x, w, { first, second, result, strides, pads, dilations, groups, bias, op }) {
  if (op !== "conv2d") throw op;
  if (groups > 1) throw "groups";
  const [, rows, cols, depth] = first, [fr, fc, , outs] = second, [images, outRows, outCols] = result;
  const y = new Float32Array(images * outRows * outCols * outs);
  let cell = 0;
  for (let n = 0; n < images; n++)
    for (let r = 0; r < outRows; r++)
      for (let c = 0; c < outCols; c++)
        for (let o = 0; o < outs; o++) {
          let sum = bias ? bias[o] : 0;
          for (let a = 0; a < fr; a++)
            for (let b = 0; b < fc; b++) {
              const row = r * strides[0] - pads[0][0] + a * dilations[0];
              const col = c * strides[1] - pads[1][0] + b * dilations[1];
              if (row < 0 || row >= rows || col < 0 || col >= cols) continue;
              for (let i = 0; i < depth; i++)
                sum += x[((n * rows + row) * cols + col) * depth + i] * w[((a * fc + b) * depth + i) * outs + o];
            }
          y[cell++] = sum;
        }
  return y;
}

module.exports = conv2d;
if (require.main === module) require("./serve.js")(conv2d);
