// A client of the npm package tfjs-tflite-node: node node_client.js FOLDER MODEL DIR, with the package in FOLDER, predicts twice from
// DIR/in0.bin and writes the second output to DIR/out0.bin. It prints the type and the shape of the output.
const [folder, model, dir] = process.argv.slice(2), fs = require("fs"), path = require("path");
const from = require("module").createRequire(path.join(path.resolve(folder), "index.js"));
const tf = from("@tensorflow/tfjs-core");
from("@tensorflow/tfjs-backend-cpu");
const { loadTFLiteModel } = from("tfjs-tflite-node");

(async () => {
  const network = await loadTFLiteModel(model);
  const bytes = fs.readFileSync(path.join(dir, "in0.bin")), { shape, dtype } = network.inputs[0];
  const values = dtype === "float32" ? new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4) : Int32Array.from(bytes);
  let output;
  for (let i = 0; i < 2; i++) output = network.predict(tf.tensor(values, shape, dtype));
  const data = output.dataSync();
  fs.writeFileSync(path.join(dir, "out0.bin"), Buffer.from(dtype === "float32" ? data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) : Uint8Array.from(data)));
  console.log(output.dtype, output.shape.join("x"));
})();
