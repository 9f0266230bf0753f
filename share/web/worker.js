// Recognises photos away from the page, so that the page stays quick: decodes, resizes, and runs the model by ONNX Runtime.
import { InferenceSession, Tensor, env } from "./ort.wasm.min.mjs";
import { decode, pixelsOf } from "./pixels.js";
import { networkInput } from "./resample.js";

const OUTPUTS = ["probabilities", "unknown_score"];
let opened = null;  // a promise of { session, settings }

// The bytes of a file, telling how many have come.
async function load(name, total) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
  if (!response.body) return new Uint8Array(await response.arrayBuffer());
  const parts = [];
  let length = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
    postMessage({ kind: "progress", loaded: length, total });
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function open(settings) {
  env.wasm.numThreads = self.crossOriginIsolated ? Math.min(4, navigator.hardwareConcurrency || 1) : 1;
  env.wasm.wasmPaths = new URL("./", import.meta.url).href;
  env.logLevel = "error";
  const model = await load("model.onnx", settings.model_bytes);
  const session = await InferenceSession.create(model, { executionProviders: ["wasm"], graphOptimizationLevel: "all" });
  // The first run is slower than all others.
  await run(session, settings, { width: 1, height: 1, pixels: new Uint8ClampedArray(4) });
  return { session, settings };
}

async function run(session, settings, image) {
  const { width, height, values } = networkInput(image, settings.preprocess);
  const batch = settings.batch;  // some networks take a fixed number of images
  const all = batch === 1 ? values : new Float32Array(batch * values.length);
  if (batch > 1) for (let i = 0; i < batch; ++i) all.set(values, i * values.length);
  const answer = await session.run({ pixel_values: new Tensor("float32", all, [batch, 3, height, width]) }, OUTPUTS);
  return { probabilities: answer.probabilities.data.slice(0, settings.classes.length), score: answer.unknown_score.data[0] };
}

async function answer({ id, file, frame }) {
  try {
    const { session, settings } = await opened;
    const started = performance.now();
    let image = null;
    if (frame) {
      image = pixelsOf(frame, frame.width, frame.height);
      frame.close();
    } else {
      try {
        image = await decode(file, settings.preprocess.exif);
      } catch {
        throw new Error("this browser cannot read it as a photo. JPEG, PNG and WebP can be read everywhere.");
      }
    }
    const { probabilities, score } = await run(session, settings, image);
    postMessage({ kind: "answer", id, probabilities, score, milliseconds: performance.now() - started });
  } catch (error) {
    postMessage({ kind: "answer", id, error: error instanceof Error ? error.message : String(error) });
  }
}

// One at a time: the session has one set of buffers.
let last = Promise.resolve();
self.onmessage = ({ data }) => {
  if (data.kind === "open") {
    opened = open(data.settings);
    opened.then(() => postMessage({ kind: "ready" }),
                (error) => postMessage({ kind: "failed", error: error instanceof Error ? error.message : String(error) }));
    return;
  }
  last = last.then(() => answer(data));
};
