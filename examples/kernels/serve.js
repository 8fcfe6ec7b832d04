// The protocol of teachconv.testing.process for node: require("./serve.js")(conv2d). conv2d gets the two arrays as
// Float32Arrays and the request, whose bias is a third one or null, and returns a Float32Array; what it throws as a
// string is the reason of a refusal.
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

module.exports = function serve(conv2d) {
  for (;;) {
    const call = readLine(), bytes = read(call.nbytes);
    const numbers = new Float32Array(bytes.buffer, bytes.byteOffset, call.nbytes / 4);
    const [cells, weights] = [call.first, call.second].map((shape) => shape.reduce((a, b) => a * b));
    call.bias = call.bias ? numbers.subarray(cells + weights) : null;
    let answer;
    try {
      const y = conv2d(numbers.subarray(0, cells), numbers.subarray(cells, cells + weights), call);
      const result = Buffer.from(y.buffer, y.byteOffset, y.byteLength);
      answer = Buffer.concat([Buffer.from(`{"nbytes":${result.length}}\n`), result]);
    } catch (thrown) {
      const said = typeof thrown === "string" ? { refused: thrown } : { error: String(thrown) };
      answer = Buffer.from(JSON.stringify(said) + "\n");
    }
    for (let sent = 0; sent < answer.length; ) sent += fs.writeSync(1, answer, sent);
  }
};
