// A program that teachconv.testing.process drives: conv2d of float32, NHWC and HWIO.  node conv.js
const fs = require("fs");

function read(nbytes, buffer = Buffer.alloc(nbytes), got = 0) {
  while (got < nbytes) {
    const more = fs.readSync(0, buffer, got, nbytes - got);
    if (more === 0) process.exit(0); // the end of the input
    got += more;
  }
  return buffer;
}

function readLine() {
  let line = "";
  for (let c = read(1)[0]; c !== 10; c = read(1)[0]) line += String.fromCharCode(c);
  return JSON.parse(line);
}

function conv2d(x, w, { first, second, result, strides, pads, dilations }) {
  const [, rows, cols, depth] = first, [fr, fc, , outs] = second, [images, outRows, outCols] = result;
  const y = new Float32Array(images * outRows * outCols * outs);
  let cell = 0;
  for (let n = 0; n < images; n++)
    for (let r = 0; r < outRows; r++)
      for (let c = 0; c < outCols; c++)
        for (let o = 0; o < outs; o++) {
          let sum = 0;
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

for (;;) {
  const call = readLine(), bytes = read(call.nbytes);
  const numbers = new Float32Array(bytes.buffer, bytes.byteOffset, call.nbytes / 4);
  const inputs = call.first.reduce((a, b) => a * b);
  if (call.groups > 1) {
    fs.writeSync(1, '{"refused":"groups"}\n');
    continue;
  }
  const y = Buffer.from(conv2d(numbers.subarray(0, inputs), numbers.subarray(inputs), call).buffer);
  const answer = Buffer.concat([Buffer.from(`{"nbytes":${y.length}}\n`), y]);
  for (let sent = 0; sent < answer.length; ) sent += fs.writeSync(1, answer, sent);
}
