// A video that a browser takes for a camera: one picture, again and again, as YUV4MPEG2.
import { inflateSync } from "node:zlib";

// The pixels of a PNG as tests/studio/pictures.mjs writes them: RGB, no filters.
function pixelsOf(png) {
  const side = png.readUInt32BE(16);
  const length = png.readUInt32BE(33);
  return { side, rows: inflateSync(png.subarray(41, 41 + length)) };
}

export function cameraFile(png, width, height) {
  const { side, rows } = pixelsOf(png);
  const colour = (x, y, c) => rows[Math.floor((y * side) / height) * (3 * side + 1) + 1 + 3 * Math.floor((x * side) / width) + c];
  const plane = (wide, high, step, weights, add) => Buffer.from(Uint8ClampedArray.from({ length: wide * high }, (_, i) => {
    const [x, y] = [(i % wide) * step, Math.floor(i / wide) * step];
    return add + weights.reduce((sum, weight, c) => sum + weight * colour(x, y, c), 0);
  }));
  const frame = Buffer.concat([
    Buffer.from("FRAME\n"),
    plane(width, height, 1, [0.257, 0.504, 0.098], 16),
    plane(width / 2, height / 2, 2, [-0.148, -0.291, 0.439], 128),
    plane(width / 2, height / 2, 2, [0.439, -0.368, -0.071], 128),
  ]);
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`), frame, frame, frame]);
}
