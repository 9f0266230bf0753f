// The pixels of photos and of pictures of a camera, as they are in the file: nothing is scaled and no colour profile applied.
import { orientationOf, takeExif, turnedUpright } from "./exif.js";
import { readPng } from "./png.js";

const MOST_AT_ONCE = 4 * 1024 * 1024;  // pixels of a canvas; telephones have a limit of about 16 million

// { width, height, pixels } of something that a canvas can draw, strip by strip.
export function pixelsOf(source, width, height) {
  const rows = Math.max(1, Math.min(height, Math.floor(MOST_AT_ONCE / width)));
  const canvas = new OffscreenCanvas(width, rows);
  const context = canvas.getContext("2d", { willReadFrequently: true, colorSpace: "srgb" });
  const pixels = new Uint8ClampedArray(4 * width * height);
  for (let y = 0; y < height; y += rows) {
    const count = Math.min(rows, height - y);
    context.clearRect(0, 0, width, rows);
    context.drawImage(source, 0, -y);
    pixels.set(context.getImageData(0, 0, width, count).data, 4 * y * width);
  }
  return { width, height, pixels };
}

// Of a file; `turned` says whether its EXIF entry about its orientation is followed.
export async function decode(file, turned) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const png = await readPng(bytes);
  if (png) return turnedUpright(png, turned && png.exif ? orientationOf(png.exif) : 1);
  const exif = takeExif(bytes);
  const orientation = turned && exif ? orientationOf(exif) : 1;
  const options = { imageOrientation: "from-image", colorSpaceConversion: "none", premultiplyAlpha: "none" };
  const bitmap = await createImageBitmap(new Blob([bytes], { type: file.type }), options);
  try {
    return turnedUpright(pixelsOf(bitmap, bitmap.width, bitmap.height), orientation);
  } finally {
    bitmap.close();
  }
}
