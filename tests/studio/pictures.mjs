// Pictures to teach with: ten patterns, each drawn a little differently every time, as PNG files.
import zlib from "node:zlib";

const SIDE = 96;

function crc32(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes) >>> 0;  // newer than Debian's
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

function png(side, colour) {
  const rows = Buffer.alloc(side * (3 * side + 1));
  for (let y = 0; y < side; ++y) {
    for (let x = 0; x < side; ++x) colour(x, y).forEach((value, channel) => { rows[y * (3 * side + 1) + 1 + 3 * x + channel] = value; });
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", header), chunk("IDAT", zlib.deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

// Each says whether the point (x, y), both from -1 to 1, is ink.
export const PATTERNS = {
  disc: (x, y) => x * x + y * y < 0.5,
  ring: (x, y) => Math.abs(Math.hypot(x, y) - 0.7) < 0.18,
  square: (x, y) => Math.max(Math.abs(x), Math.abs(y)) < 0.6,
  cross: (x, y) => Math.min(Math.abs(x), Math.abs(y)) < 0.2,
  rows: (x, y) => Math.sin(y * 16) > 0,
  columns: (x) => Math.sin(x * 16) > 0,
  checks: (x, y) => Math.sin(x * 9) * Math.sin(y * 9) > 0,
  slopes: (x, y) => Math.sin((x + y) * 12) > 0,
  triangle: (x, y) => y < 0.7 && y > -0.7 + 2.2 * Math.abs(x),
  dots: (x, y) => Math.hypot(Math.sin(x * 8), Math.sin(y * 8)) < 0.55,
};
const INKS = [[200, 40, 40], [30, 90, 180], [30, 140, 60], [230, 150, 20], [120, 40, 150], [20, 20, 20], [0, 150, 160], [150, 90, 40], [220, 80, 150], [90, 110, 20]];

export function picture(name, number) {
  const at = Object.keys(PATTERNS).indexOf(name);
  const shift = [0.12 * Math.sin(7 * number + at), 0.12 * Math.cos(5 * number + at)];
  const scale = 1 + 0.12 * Math.sin(3 * number);
  const light = 6 * (number % 5);
  return png(SIDE, (px, py) => {
    const x = ((2 * px) / SIDE - 1) * scale + shift[0];
    const y = ((2 * py) / SIDE - 1) * scale + shift[1];
    const noise = ((px * 31 + py * 17 + number * 101) % 23) - 11;
    return PATTERNS[name](x, y) ? INKS[at].map((value) => Math.min(255, Math.max(0, value + noise + light))) : [235 + noise, 236 + noise, 230 + noise - light];
  });
}

// Like none of the patterns: a colourful haze.
export function unknownPicture(number) {
  return png(SIDE, (px, py) => [0, 1, 2].map((channel) => Math.round(128 + 60 * Math.sin(px / (5 + number) + channel * 2) + 60 * Math.sin(py / (3 + channel) + (px * py) / 400 + number))));
}

// A picture of one of many classes: two shapes of the patterns in the class's own colours, places and sizes, a little different each time.
export function drawn(kind, number) {
  const names = Object.keys(PATTERNS);
  const random = (salt) => { const x = Math.sin(kind * 12.9898 + salt * 78.233) * 43758.5453; return x - Math.floor(x); };
  const shake = (salt) => 0.1 * Math.sin(number * 7.1 + salt * 3.3 + kind);
  const side = 64;
  const shapes = [0, 1].map((k) => ({ ink: PATTERNS[names[Math.floor(random(k) * names.length)]], size: 0.5 + 0.8 * random(k + 2), x: random(k + 4) - 0.5 + shake(k), y: random(k + 6) - 0.5 + shake(k + 2),
                                      colour: [0, 1, 2].map((c) => 255 * random(10 + 3 * k + c)) }));
  const paper = [0, 1, 2].map((c) => 120 + 135 * random(20 + c));
  return png(side, (px, py) => {
    const noise = ((px * 31 + py * 17 + number * 101) % 23) - 11;
    const [x, y] = [(2 * px) / side - 1, (2 * py) / side - 1];
    const shape = shapes.find(({ ink, size, x: cx, y: cy }) => Math.max(Math.abs(x - cx), Math.abs(y - cy)) < size && ink((x - cx) / size, (y - cy) / size));
    return (shape?.colour ?? paper).map((value) => Math.min(255, Math.max(0, Math.round(value + noise))));
  });
}
