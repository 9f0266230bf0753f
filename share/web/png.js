// PNG files are read here: a browser multiplies colours by their transparency, which annulus drops, and cannot give them back.

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHANNELS = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };  // by colour type: grey, RGB, palette, grey and transparency, RGB and transparency

async function inflate(parts) {
  const stream = new Blob(parts).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Of interlaced files: the first column and row of each pass, and the steps between its columns and rows.
const PASSES = [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]];
const WHOLE = [[0, 0, 1, 1]];

// Header, palette, EXIF block and compressed pixels; null for what is no PNG file or a damaged one: the browser may judge that.
function readChunks(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 33 || SIGNATURE.some((value, i) => bytes[i] !== value)) return null;
  const found = { width: view.getUint32(16), height: view.getUint32(20), bits: bytes[24], type: bytes[25], interlaced: bytes[28] === 1, palette: null, exif: null, data: [] };
  const depths = { 0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16] };
  if (!depths[found.type]?.includes(found.bits) || bytes[28] > 1) return null;
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const kind = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (at + 12 + length > bytes.length) return null;
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (kind === "eXIf") found.exif = body;
    if (kind === "PLTE") found.palette = body;
    if (kind === "IDAT") found.data.push(body);
    if (kind === "IEND") return found.type === 3 && !found.palette ? null : found;
    at += 12 + length;
  }
  return null;
}

// Undoes the filter of one row in place; `above` is the row before it, or zeros.
function unfilter(kind, row, above, step) {
  for (let i = 0; i < row.length; ++i) {
    const left = i >= step ? row[i - step] : 0;
    const up = above[i];
    const corner = i >= step ? above[i - step] : 0;
    if (kind === 1) row[i] += left;
    else if (kind === 2) row[i] += up;
    else if (kind === 3) row[i] += (left + up) >> 1;
    else {
      const guess = left + up - corner;
      const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      row[i] += a <= b && a <= c ? left : b <= c ? up : corner;
    }
  }
}

// Writes the colours of one row of samples to every `step`-th pixel from `to` on.
function showRow(row, count, { bits, type, palette }, pixels, to, step) {
  const channels = CHANNELS[type];
  for (let x = 0; x < count; ++x, to += 4 * step) {
    const packed = bits < 8 || type === 3 ? (row[(x * bits) >> 3] >> (8 - bits - ((x * bits) & 7))) & (2 ** bits - 1) : 0;
    for (let c = 0; c < 3; ++c) {
      if (type === 3) pixels[to + c] = palette[3 * packed + c] ?? packed;  // beyond the palette: grey levels
      else if (bits < 8) pixels[to + c] = (packed * 255) / (2 ** bits - 1);
      else pixels[to + c] = row[(x * channels + (channels < 3 ? 0 : c)) * (bits >> 3)];  // of 16 bits the high ones
    }
  }
}

// { width, height, pixels, exif } with four values a pixel, the last unused; null for files that the browser has to read.
export async function readPng(bytes) {
  const file = readChunks(bytes);
  if (!file || file.width * file.height === 0) return null;
  const { width, height } = file;
  const sampleBits = CHANNELS[file.type] * file.bits;
  let raw = null;
  try {
    raw = await inflate(file.data);
  } catch {
    return null;
  }
  if (raw.length < (width * height * sampleBits) / 8) return null;  // before memory is taken for them
  const pixels = new Uint8ClampedArray(4 * width * height);
  let at = 0;
  for (const [left, top, right, down] of file.interlaced ? PASSES : WHOLE) {
    const count = Math.ceil((width - left) / right);
    const length = Math.ceil((count * sampleBits) / 8);
    let above = new Uint8Array(length);
    for (let y = top; y < height && count > 0; y += down) {
      const kind = raw[at];
      const row = raw.subarray(at + 1, at + 1 + length);
      if (row.length < length || kind > 4) return null;
      if (kind !== 0) unfilter(kind, row, above, Math.max(1, sampleBits >> 3));
      showRow(row, count, file, pixels, 4 * (y * width + left), right);
      above = row;
      at += 1 + length;
    }
  }
  return { width, height, pixels, exif: file.exif };
}
