// TensorFlow.js as a program that teachconv.testing.process drives: NHWC and HWIO, NODE_PATH=... node tfjs.js
const tf = require("@tensorflow/tfjs");
console.log = console.warn = console.info = () => {}; // the answers alone go to the standard output

require("./serve.js")((x, w, { first, second, strides, pads, dilations, groups, bias }) => {
  if (groups > 1) throw "groups";
  if (Math.max(...strides) > 1 && Math.max(...dilations) > 1) throw "strides with dilations";
  if (Math.min(...pads.flat()) < 0) throw "pads that crop";
  const [top, left] = pads;
  const y = tf.conv2d(tf.tensor4d(x, first).pad([[0, 0], top, left, [0, 0]]), tf.tensor4d(w, second), strides, "valid", "NHWC", dilations);
  return (bias ? y.add(bias) : y).dataSync();
});
