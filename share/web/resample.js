// From pixels to the numbers that the network takes, bit for bit as annulus does it
// (annulus/vision/preprocess/resample.cpp, preprocess.cpp): filter weights in double, rounded to 22 fractional bits, then sums of
// whole numbers. A browser's own scaling gives other pixels.

const BITS = 22;
const HALF = 2 ** (BITS - 1);

const triangle = (x) => { const far = Math.abs(x); return far < 1 ? 1 - far : 0; };

// Keys' cubic convolution with the parameter -1/2.
function cubic(x) {
  const far = Math.abs(x);
  if (far < 1) return ((-0.5 + 2) * far - (-0.5 + 3)) * far * far + 1;
  if (far < 2) return (((far - 5) * far + 8) * far - 4) * -0.5;
  return 0;
}

const fixedPoint = (weight) => Math.trunc(weight < 0 ? weight * 2 ** BITS - 0.5 : weight * 2 ** BITS + 0.5);

// For each of `count` positions from `first` on of an axis resized from `from` to `to` pixels: where its pixels begin, how many they
// are, and their weights.
function makeAxis(from, to, first, count, bicubic) {
  const scale = from / to;
  const widening = Math.max(scale, 1);
  const reach = (bicubic ? 2 : 1) * widening;
  const shrink = 1 / widening;
  const windows = [];
  for (let i = first; i < first + count; ++i) {
    const centre = (i + 0.5) * scale;
    const begin = Math.trunc(Math.max(centre - reach + 0.5, 0));
    const end = Math.min(Math.trunc(centre + reach + 0.5), from);
    const weights = new Float64Array(end - begin);
    let total = 0;
    for (let x = begin; x < end; ++x) {
      const distance = (x - centre + 0.5) * shrink;
      weights[x - begin] = bicubic ? cubic(distance) : triangle(distance);
      total += weights[x - begin];
    }
    windows.push({ begin, weights: Int32Array.from(weights, (weight) => fixedPoint(total !== 0 ? weight / total : weight)) });
  }
  return windows;
}

// `count` positions from `first` on of the axis resized to `to`, after `pad` black ones. Half of an odd margin is rounded to even.
function planAxis(from, to, crop) {
  if (crop === 0) return { from, to, first: 0, pad: 0, count: to };
  if (crop >= to) return { from, to, first: 0, pad: Math.floor((crop - to) / 2), count: to };
  const margin = to - crop;
  let first = Math.floor(margin / 2);
  if (margin % 2 === 1 && first % 2 === 1) ++first;
  return { from, to, first, pad: 0, count: crop };
}

function resizedSides({ width, height }, recipe) {
  if (recipe.resize === "exact") return [recipe.resize_width, recipe.resize_height];
  if (recipe.resize === "none") return [width, height];
  const scaled = Math.floor((recipe.resize_width * Math.max(width, height)) / Math.min(width, height));
  return width <= height ? [recipe.resize_width, scaled] : [scaled, recipe.resize_width];
}

// Rows [firstRow, firstRow + rows) of the image (4 values a pixel, the last unused), resized across: 3 values a pixel.
function across(image, plan, bicubic, firstRow, rows) {
  const { width, pixels } = image;
  const out = new Uint8ClampedArray(rows * plan.count * 3);
  if (plan.from === plan.to) {
    for (let y = 0, at = 0; y < rows; ++y) {
      for (let x = 0, from = 4 * ((firstRow + y) * width + plan.first); x < plan.count; ++x, from += 4) {
        out[at++] = pixels[from];
        out[at++] = pixels[from + 1];
        out[at++] = pixels[from + 2];
      }
    }
    return out;
  }
  const windows = makeAxis(plan.from, plan.to, plan.first, plan.count, bicubic);
  for (let y = 0, at = 0; y < rows; ++y) {
    const row = 4 * (firstRow + y) * width;
    for (const { begin, weights } of windows) {
      let red = HALF;
      let green = HALF;
      let blue = HALF;
      for (let t = 0, from = row + 4 * begin; t < weights.length; ++t, from += 4) {
        const weight = weights[t];
        red += weight * pixels[from];
        green += weight * pixels[from + 1];
        blue += weight * pixels[from + 2];
      }
      out[at++] = red >> BITS;
      out[at++] = green >> BITS;
      out[at++] = blue >> BITS;
    }
  }
  return out;
}

// The crop as 8-bit red, green and blue, one after the other for each pixel, black where the image does not reach.
export function resample(image, recipe) {
  const bicubic = recipe.interpolation === "bicubic";
  const [toWidth, toHeight] = resizedSides(image, recipe);
  const outWidth = recipe.crop_width || recipe.resize_width;
  const outHeight = recipe.crop_height || recipe.resize_height;
  const wide = planAxis(image.width, toWidth, recipe.crop_width);
  const high = planAxis(image.height, toHeight, recipe.crop_height);
  const down = high.from === high.to ? null : makeAxis(high.from, high.to, high.first, high.count, bicubic);
  const last = down?.[down.length - 1];
  const firstRow = down ? down[0].begin : high.first;
  const endRow = last ? last.begin + last.weights.length : high.first + high.count;
  const narrowed = across(image, wide, bicubic, firstRow, endRow - firstRow);
  const length = 3 * wide.count;
  const out = new Uint8ClampedArray(3 * outWidth * outHeight);
  for (let y = 0; y < high.count; ++y) {
    const to = 3 * ((high.pad + y) * outWidth + wide.pad);
    if (!down) {
      out.set(narrowed.subarray(y * length, (y + 1) * length), to);
      continue;
    }
    const { begin, weights } = down[y];
    for (let x = 0; x < length; ++x) {
      let sum = HALF;
      for (let t = 0, from = (begin - firstRow) * length + x; t < weights.length; ++t, from += length) sum += weights[t] * narrowed[from];
      out[to + x] = sum >> BITS;
    }
  }
  return { width: outWidth, height: outHeight, pixels: out };
}

// What the exported ONNX file takes: red, green and blue from 0 to 1, a plane each.
export function networkInput(image, recipe) {
  const { width, height, pixels } = resample(image, recipe);
  const area = width * height;
  const out = new Float32Array(3 * area);
  for (let i = 0; i < area; ++i) {
    for (let colour = 0; colour < 3; ++colour) out[colour * area + i] = pixels[3 * i + colour] / 255;
  }
  return { width, height, values: out };
}
