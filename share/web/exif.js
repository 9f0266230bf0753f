// The EXIF entry that says how a photo has to be turned. Browsers differ in which entries they follow, so it is hidden from them, and
// the pixels are turned here, as annulus does it (annulus/vision/image/exif.cpp).

const ORIENTATION = 0x0112;
const text = (bytes, at, length) => String.fromCharCode(...bytes.subarray(at, at + length));

// 1 to 8 of an EXIF block: a TIFF header and directory, with or without "Exif" in front; 1 where there is none or it is damaged.
export function orientationOf(block) {
  const bytes = text(block, 0, 6) === "Exif\0\0" ? block.subarray(6) : block;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const order = text(bytes, 0, 2);
  if (bytes.length < 8 || (order !== "II" && order !== "MM")) return 1;
  const little = order === "II";
  const directory = view.getUint32(4, little);
  if (view.getUint16(2, little) !== 42 || directory + 2 > bytes.length) return 1;
  const entries = view.getUint16(directory, little);
  for (let i = 0, at = directory + 2; i < entries && at + 12 <= bytes.length; ++i, at += 12) {
    if (view.getUint16(at, little) !== ORIENTATION) continue;
    const type = view.getUint16(at + 2, little);
    const value = type === 3 ? view.getUint16(at + 8, little) : type === 4 ? view.getUint32(at + 8, little) : 0;
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

// The EXIF block of a JPEG or WebP file, whose name is overwritten in `bytes`, so that no decoder follows it; null where there is none.
export function takeExif(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = null;
  if (bytes.length > 4 && view.getUint16(0) === 0xffd8) {
    for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff;) {
      if (bytes[at + 1] === 0xff) { ++at; continue; }  // padding
      if (bytes[at + 1] === 0xda) break;  // pixels follow
      const length = view.getUint16(at + 2);
      if (bytes[at + 1] === 0xe1 && text(bytes, at + 4, 5) === "Exif\0") {
        found ??= bytes.slice(at + 4, at + 2 + length);
        bytes[at + 4] = 0x78;
      }
      at += 2 + length;
    }
  } else if (bytes.length > 12 && text(bytes, 0, 4) === "RIFF" && text(bytes, 8, 4) === "WEBP") {
    for (let at = 12; at + 8 <= bytes.length;) {
      const length = view.getUint32(at + 4, true);
      if (text(bytes, at, 4) === "EXIF") {
        found ??= bytes.slice(at + 8, at + 8 + length);
        bytes[at] = 0x78;
      }
      at += 8 + length + (length & 1);
    }
  }
  return found;
}

// The image turned upright by an orientation of 1 to 8.
export function turnedUpright(image, orientation) {
  if (orientation === 1) return image;
  const swapped = orientation >= 5;
  const [width, height] = swapped ? [image.height, image.width] : [image.width, image.height];
  const flipRight = [2, 3, 6, 7].includes(orientation);
  const flipDown = [3, 4, 7, 8].includes(orientation);
  const from = new Uint32Array(image.pixels.buffer, image.pixels.byteOffset, image.width * image.height);
  const to = new Uint32Array(width * height);
  const right = (swapped ? image.width : 1) * (flipRight ? -1 : 1);
  for (let y = 0, at = 0; y < height; ++y) {
    const across = flipRight ? width - 1 : 0;
    const down = flipDown ? height - 1 - y : y;
    let source = swapped ? across * image.width + down : down * image.width + across;
    for (let x = 0; x < width; ++x, source += right) to[at++] = from[source];
  }
  return { width, height, pixels: new Uint8ClampedArray(to.buffer) };
}
