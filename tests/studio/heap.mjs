// A heap of unlabelled photos: emoji as vendors drew them that the first project has nothing of, each turned, scaled and put on another ground.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SIDE = 128;
export const VENDORS = ["fluent-emoji", "fluent-emoji-flat", "emojione", "noto-v1", "emojione-v1"];

// Draws in a page of the browser. `jobs`: SVG text with angle, scale, place and ground.
const draw = (page, jobs) => page.evaluate(async ([side, all]) => {
  const pictures = [];
  for (const { svg, angle, scale, x, y, ground } of all) {
    const image = new Image();
    image.src = `data:image/svg+xml;base64,${btoa(svg)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const context = canvas.getContext("2d");
    context.fillStyle = ground;
    context.fillRect(0, 0, side, side);
    context.translate(side / 2 + x * side, side / 2 + y * side);
    context.rotate(angle);
    const size = scale * side;
    context.drawImage(image, -size / 2, -size / 2, size, size);
    pictures.push(canvas.toDataURL("image/png").split(",")[1]);
  }
  return pictures;
}, [SIDE, jobs]);

// Writes `each` photos of every name into the folder, in an order that tells nothing. Returns the files, and the class of each by the id that
// the studio gives it.
export async function makeHeap(page, folder, cache, names, each) {
  const sets = VENDORS.map((vendor) => JSON.parse(readFileSync(join(cache, `emoji-${vendor}`, "icons.json"))));
  let state = 12345;
  const random = () => { state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff; return state / 0x7fffffff; };
  const jobs = [];
  for (const name of names) {
    const drawn = sets.filter(({ icons }) => icons[name]);
    for (let i = 0; i < each; ++i) {
      const { icons, width, height } = drawn[i % drawn.length];
      const icon = icons[name];
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${SIDE}" height="${SIDE}" viewBox="${icon.left ?? 0} ${icon.top ?? 0} ${icon.width ?? width} ${icon.height ?? height}">${icon.body}</svg>`;
      const light = () => Math.round(200 + 55 * random());
      jobs.push({ name, svg, angle: 0.5 * (random() - 0.5), scale: 0.65 + 0.3 * random(), x: 0.1 * (random() - 0.5), y: 0.1 * (random() - 0.5), ground: `rgb(${light()} ${light()} ${light()})` });
    }
  }
  for (let i = jobs.length - 1; i > 0; --i) {
    const j = Math.floor(random() * (i + 1));
    [jobs[i], jobs[j]] = [jobs[j], jobs[i]];
  }
  mkdirSync(folder, { recursive: true });
  const files = [];
  const truth = new Map();
  for (let i = 0; i < jobs.length; i += 50) {
    const pictures = await draw(page, jobs.slice(i, i + 50));
    for (const [k, base64] of pictures.entries()) {
      const bytes = Buffer.from(base64, "base64");
      const path = join(folder, `photo-${String(i + k + 1).padStart(4, "0")}.png`);
      writeFileSync(path, bytes);
      files.push(path);
      truth.set(createHash("sha256").update(bytes).digest("hex").slice(0, 16), jobs[i + k].name);
    }
  }
  return { files, truth };
}
