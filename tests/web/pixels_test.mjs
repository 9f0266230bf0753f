// pixels_test.mjs: the exported page's resizing and its PNG reader (share/web) give the pixels of Pillow and torchvision, whose checksums
// tests/data/images/manifest.json holds, as the library's own tests compare with.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { networkInput, resample } = await import(join(root, "share", "web", "resample.js"));
const { orientationOf, takeExif, turnedUpright } = await import(join(root, "share", "web", "exif.js"));
const { readPng } = await import(join(root, "share", "web", "png.js"));
const images = join(root, "tests", "data", "images");
const manifest = JSON.parse(readFileSync(join(images, "manifest.json"), "utf8"));
const digest = (values) => createHash("sha256").update(new Uint8Array(values.buffer)).digest("hex");

// The geometry of the manifest's recipes, and how values follow from pixels; the library does the latter inside of the network's file.
const shorter = (side, crop, interpolation) => ({ resize: "shorter", resize_width: side, resize_height: 0, crop_width: crop, crop_height: crop, interpolation });
const exact = (width, height, interpolation) => ({ resize: "exact", resize_width: width, resize_height: height, crop_width: 0, crop_height: 0, interpolation });
const float = Math.fround;
const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
const clip = { mean: [0.48145466, 0.4578275, 0.40821073], std: [0.26862954, 0.26130258, 0.27577711] };
const scaled = ({ mean, std }) => (value, colour) => float(float(float(value / 255) - float(mean[colour])) / float(std[colour]));
const unit = (value) => float(value / 255);
const RECIPES = {
  "imagenet": [shorter(256, 224, "bicubic"), scaled(imagenet)],
  "imagenet-bilinear": [shorter(256, 224, "bilinear"), scaled(imagenet)],
  "clip": [shorter(224, 224, "bicubic"), scaled(clip)],
  "unit": [shorter(256, 224, "bicubic"), unit],
  "square-224": [exact(224, 224, "bicubic"), scaled(imagenet)],
  "episode-84": [shorter(92, 84, "bilinear"), scaled(imagenet)],
  "episode-80": [exact(80, 80, "bilinear"), scaled(imagenet)],
  "episode-32": [exact(32, 32, "bilinear"), scaled(imagenet)],
  "unit resize=none crop=33x64": [{ resize: "none", resize_width: 0, resize_height: 0, crop_width: 33, crop_height: 64, interpolation: "bicubic" }, unit],
  "unit resize=shorter:17 crop=40x15 interpolation=bilinear":
    [{ resize: "shorter", resize_width: 17, resize_height: 0, crop_width: 40, crop_height: 15, interpolation: "bilinear" }, unit],
};

function tensor(image, [recipe, value]) {
  const { width, height, pixels } = resample(image, recipe);
  const area = width * height;
  const out = new Float32Array(3 * area);
  for (let i = 0; i < 3 * area; ++i) out[(i % 3) * area + Math.floor(i / 3)] = value(pixels[i], i % 3);
  return out;
}

// The same formula as in tests/data/make_image_fixtures.py.
function generated(width, height) {
  const pixels = new Uint8ClampedArray(4 * width * height);
  for (let y = 0, at = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x, at += 4) {
      for (let c = 0; c < 3; ++c) pixels[at + c] = (x * 7 + y * 13 + c * 29 + ((x * y) >> 5) + (x ^ y) * (c + 1)) & 255;
    }
  }
  return { width, height, pixels };
}

let compared = 0;
for (const { width, height, tensors } of manifest.generated) {
  const image = generated(width, height);
  for (const [name, recipe] of Object.entries(RECIPES)) {
    assert.equal(digest(tensor(image, recipe)), tensors[name], `${width} x ${height} by ${name}`);
    ++compared;
  }
  assert.deepEqual(networkInput(image, RECIPES.unit[0]).values, tensor(image, RECIPES.unit));
}
assert.ok(compared >= 15 * 10);

let read = 0;
const rgbOf = ({ width, height, pixels }) => digest(Uint8Array.from({ length: 3 * width * height }, (_, i) => pixels[4 * Math.floor(i / 3) + (i % 3)]));
for (const { file, rgb, rgb_without_exif: stored, tensors } of manifest.images) {
  const image = await readPng(new Uint8Array(readFileSync(join(images, file))));
  assert.equal(image !== null, file.endsWith(".png"), file);
  if (!image) continue;  // the browser reads it
  const upright = turnedUpright(image, image.exif ? orientationOf(image.exif) : 1);
  assert.equal(rgbOf(upright), rgb, file);
  assert.equal(rgbOf(image), stored ?? rgb, file);
  assert.equal(digest(tensor(upright, RECIPES.imagenet)), tensors.imagenet, file);
  ++read;
}
assert.ok(read >= 35, `${read} PNG files read`);
// Damaged files are the browser's to judge.
for (const name of ["png_rgba_8.png", "png_palette_4.png", "png_rgb_16_interlaced.png"]) {
  const whole = new Uint8Array(readFileSync(join(images, name)));
  for (let length = 0; length < whole.length - 12; length += 7) assert.equal(await readPng(whole.subarray(0, length)), null, `${name}: ${length} bytes`);
  for (let at = 8; at < whole.length; ++at) {
    const damaged = whole.slice();
    damaged[at] ^= 0x41;
    const image = await readPng(damaged);
    assert.ok(image === null || image.pixels.length === 4 * image.width * image.height);
  }
}

// The entry is found once, under a name that decoders know, and damaged blocks have none.
for (const [file, orientation] of [["exif_3.jpg", 3], ["exif_6.jpg", 6], ["exif_8.jpg", 8], ["exif_3.webp", 3], ["exif_5_lossless.webp", 5], ["jpeg_420.jpg", 0]]) {
  const bytes = new Uint8Array(readFileSync(join(images, file)));
  const block = takeExif(bytes);
  assert.equal(block ? orientationOf(block) : 0, orientation, file);
  assert.equal(takeExif(bytes), null, file);
  for (let length = 0; block && length < block.length; ++length) assert.ok([1, orientation].includes(orientationOf(block.subarray(0, length))));
}
console.log(`pixels_test: ${compared} tensors and ${read} PNG files agree`);
