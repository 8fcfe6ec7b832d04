// Reads exported vectors, runs a kernel on each, compares, and writes results/ID.bin for `vectors judge`:
//   node read_vectors.js DIRECTORY ./conv.js
// The module exports the function that serve.js takes as well: of two Float32Arrays and the call.
const fs = require("fs"), path = require("path");
const [directory, file] = process.argv.slice(2);
const kernel = require(path.resolve(file)), at = (...names) => path.join(directory, ...names);
const index = JSON.parse(fs.readFileSync(at("index.json"))), data = fs.readFileSync(at("data.bin"));

function part({ offset, nbytes }, Type = Float32Array) {
  const start = data.byteOffset + offset;
  return new Type(data.buffer.slice(start, start + nbytes));
}

let pass = 0, fail = 0, refused = 0;
fs.mkdirSync(at("results"), { recursive: true });
for (const v of index.vectors) {
  const call = { op: v.op, dtype: v.dtype, groups: v.groups, bias: v.bias && part(v.bias) };
  Object.assign(call, { first: v.first.shape, second: v.second.shape, result: v.want.shape });
  call.strides = v.axes.map((axis) => axis.stride);
  call.dilations = v.axes.map((axis) => axis.dilation);
  call.pads = v.axes.map((axis) => [axis.pad_before, axis.pad_after]);
  let y;
  try {
    if (v.dtype !== "float32") throw v.dtype; // other types are read alike
    y = kernel(part(v.first), part(v.second), call);
  } catch (thrown) {
    if (typeof thrown !== "string") throw thrown;
    refused++;
    continue;
  }
  const bound = part(v.bound, Float64Array);
  const bad = part(v.want).reduce((count, want, i) => count + !(Math.abs(y[i] - want) <= bound[i]), 0);
  bad ? fail++ : pass++;
  console.log(`${bad ? "FAIL" : "pass"} ${v.id} ${v.name}: ${bad} of ${y.length} cells outside their bound`);
  fs.writeFileSync(at("results", `${v.id}.bin`), Buffer.from(y.buffer, y.byteOffset, y.byteLength));
}
console.log(`${pass} pass, ${fail} fail, ${refused} not run`);
process.exitCode = fail ? 1 : 0;
