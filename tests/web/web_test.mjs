// web_test.mjs ANNULUS CHROMIUM [PICTURES]: exports a model as a page, opens it in a headless browser from Python's web server, and
// compares what it says about photos and camera pictures with annulus predict. Screenshots are written to PICTURES, if it is given.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PATTERNS, picture, unknownPicture } from "../studio/pictures.mjs";
import { cameraFile } from "./camera_file.mjs";

const require = createRequire(join(process.env.NODE_PATH, "x.js"));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [program, browserPath, pictures] = process.argv.slice(2);
const images = join(dirname(fileURLToPath(import.meta.url)), "..", "data", "images");
const scratch = mkdtempSync(join(tmpdir(), "annulus-web-"));
const folder = join(scratch, "page");
const model = join(scratch, "patterns.safetensors");
const NAMES = Object.keys(PATTERNS).slice(0, 6);
const TOLERANCE = 1e-3;
// Browsers read colours of printers by profiles, and lose those of transparent WebP files; damaged files are no photos here or there.
const EXCEPTED = /cmyk|ycck|alpha.*webp|broken|truncated|corrupt/;
const faults = [];
let server = null;
let largest = 0;

function annulus(...words) {
  const run = spawnSync(program, words, { encoding: "utf8", maxBuffer: 1 << 26 });
  assert.equal(run.status, 0, `annulus ${words.join(" ")}: ${run.stderr}`);
  return run.stdout;
}

function file(name, bytes) {
  const path = join(scratch, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

// Python's web server on the folder: at any port, or at the same one again.
function serve(port = 0) {
  server = spawn("python3", ["-u", "-m", "http.server", String(port), "--bind", "127.0.0.1", "--directory", folder], { stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((done, bad) => {
    let text = "";
    server.stdout.on("data", (data) => {
      text += data;
      const found = /port (\d+)/.exec(text);
      if (found) done(Number(found[1]));
    });
    server.on("exit", () => bad(new Error(`no web server: ${text}`)));
  });
}

function stopServer() {
  if (!server) return null;
  server.removeAllListeners("exit");
  const ended = new Promise((done) => server.once("exit", done));
  server.kill("SIGTERM");
  server = null;
  return ended;
}

const ready = (page) => page.waitForFunction(() => document.documentElement.dataset.ready === "true", null, { timeout: 60000 });

// What the page says: the probability of each class that it lists, whether the photo is unknown, and the score.
const said = (page) => page.evaluate(() => ({
  unknown: document.getElementById("answer").dataset.unknown === "true",
  score: Number(document.getElementById("answer").dataset.score),
  milliseconds: Number(document.getElementById("answer").dataset.milliseconds),
  classes: [...document.querySelectorAll("#bars li")].map((item) => ({ label: item.querySelector(".name").textContent, probability: Number(item.dataset.probability) })),
}));

async function look(page, path) {
  await page.setInputFiles("#pick", path);
  await page.waitForSelector(`#answer[data-file="${path.split("/").pop()}"]`, { timeout: 60000 });
  return said(page);
}

// The page's answer beside that of annulus predict.
function compare(path, answer) {
  const expected = JSON.parse(annulus("predict", model, path, "--format", "jsonl", "--top", String(NAMES.length), "-q"));
  const probabilities = new Map(expected.top.map(({ label, probability }) => [label, probability]));
  assert.ok(answer.classes.length >= 5);
  for (const { label, probability } of answer.classes) {
    const difference = Math.abs(probability - probabilities.get(label));
    assert.ok(difference <= TOLERANCE, `${path}: ${label} ${probability}, annulus predict ${probabilities.get(label)}`);
    largest = Math.max(largest, difference);
  }
  const threshold = JSON.parse(readFileSync(join(folder, "annulus.json"), "utf8")).unknown_threshold;
  if (Math.abs(answer.score - threshold) > TOLERANCE) assert.equal(answer.unknown, Boolean(expected.unknown), path);
  return expected;
}

async function check(page, where) {
  await page.evaluate(AXE);
  const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  for (const violation of result.violations) faults.push(`${where}: ${violation.id}: ${violation.nodes.map(({ html }) => html.slice(0, 120)).slice(0, 3).join(" | ")}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) faults.push(`${where}: ${wide} pixels wider than the screen`);
  if (pictures) await page.screenshot({ path: join(pictures, `${where}.png`), fullPage: true });
}

async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ["camera"], ...options });
  context.setDefaultTimeout(60000);
  const page = await context.newPage();
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`script error: ${error.message}`));
  page.on("request", (request) => { if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(address)) faults.push(`asked for ${request.url()}`); });
  await page.goto(address);
  return page;
}

// A file dropped on the page, or pasted.
const hand = (page, way, name, bytes) => page.evaluate(({ kind, title, values }) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(values)], title, { type: "image/png" }));
  const event = kind === "drop" ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }) : new ClipboardEvent("paste", { clipboardData: data, bubbles: true });
  document.body.dispatchEvent(event);
}, { kind: way, title: name, values: [...bytes] });

const steps = {
  async "the sizes that are told are true, and fit"() {
    const told = JSON.parse(annulus("export", model, "--web", folder, "--title", "Patterns", "--json"));
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    assert.equal(told.web.bytes, sizes.reduce((sum, size) => sum + size, 0));
    assert.equal(told.web.files, sizes.length);
    assert.ok(told.web.bytes < 30e6, `${told.web.bytes} bytes`);
    console.log(`  ${(told.web.bytes / 1e6).toFixed(1)} MB`);
  },
  async "photos: the same as annulus predict"({ page }) {
    let right = 0;
    for (const [index, name] of NAMES.entries()) {
      const answer = await look(page, file(`new/${name}-${index}.png`, picture(name, 20 + index)));
      compare(join(scratch, `new/${name}-${index}.png`), answer);
      if (answer.classes[0].label === name) ++right;
    }
    assert.ok(right >= NAMES.length - 1, `${right} right`);
    compare(join(scratch, "new/haze.png"), await look(page, file("new/haze.png", unknownPicture(3))));
  },
  async "JPEG, PNG and WebP of every kind: the same as annulus predict"({ page }) {
    const before = largest;
    const kinds = readdirSync(images).filter((name) => /\.(jpg|png|webp)$/.test(name) && !EXCEPTED.test(name));
    for (const name of kinds) compare(join(images, name), await look(page, join(images, name)));
    console.log(`  ${kinds.length} files, largest difference ${largest.toExponential(1)} (before them ${before.toExponential(1)})`);
    assert.ok(kinds.length >= 60, `${kinds.length} files`);
  },
  async "a large JPEG that the browser made"({ page }) {
    const bytes = await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(4000, 3000);
      const context = canvas.getContext("2d");
      for (let i = 0; i < 300; ++i) {
        context.fillStyle = `hsl(${(i * 47) % 360} 70% ${30 + (i % 5) * 10}%)`;
        context.fillRect((i * 611) % 4000, (i * 373) % 3000, 500, 300);
      }
      const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.9 });
      return [...new Uint8Array(await blob.arrayBuffer())];
    });
    const answer = await look(page, file("new/large.jpg", Buffer.from(bytes)));
    compare(join(scratch, "new/large.jpg"), answer);
    console.log(`  4000 x 3000: ${answer.milliseconds.toFixed(0)} ms`);
  },
  async "dropped and pasted photos"({ page }) {
    for (const [way, name] of [["drop", "disc"], ["paste", "cross"]]) {
      const path = file(`new/${way}.png`, picture(name, 33));
      await hand(page, way, `${way}.png`, readFileSync(path));
      await page.waitForSelector(`#answer[data-file="${way}.png"]`);
      const answer = await said(page);
      compare(path, answer);
      assert.equal(answer.classes[0].label, name);
    }
  },
  async "several photos, all classes, and what cannot be read"({ page }) {
    await page.setInputFiles("#pick", [1, 2, 3].map((number) => file(`new/many-${number}.png`, picture("rows", 40 + number))));
    await page.waitForFunction(() => [...document.querySelectorAll("#list .name")].every((name) => name.textContent !== "…"));
    await page.click("#more");
    const all = await said(page);
    assert.equal(all.classes.length, NAMES.length);
    assert.ok(Math.abs(all.classes.reduce((sum, { probability }) => sum + probability, 0) - 1) < 1e-4);
    await page.click("#more");
    await page.setInputFiles("#pick", file("new/broken.jpg", "no photo"));
    await page.waitForSelector("#answer .bad");
    assert.match(await page.textContent("#answer"), /broken\.jpg: this browser cannot read it/);
    assert.equal(await page.locator("#bars:visible, #photo:visible").count(), 0);
  },
  async "a camera: the same as annulus predict on the picture that it keeps"({ page }) {
    await page.click("#camera");
    await page.waitForSelector("#answer[data-score]");
    const live = await said(page);
    if (pictures) await page.screenshot({ path: join(pictures, "camera.png") });
    await page.click("#keep");
    const kept = await page.waitForSelector('#answer[data-file^="camera-"]');
    const bytes = await page.evaluate(() => {
      const photo = document.getElementById("photo");
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [photo.naturalWidth, photo.naturalHeight];
      canvas.getContext("2d").drawImage(photo, 0, 0);
      return [canvas.width, ...[...atob(canvas.toDataURL("image/png").split(",")[1])].map((letter) => letter.charCodeAt(0))];
    });
    assert.equal(bytes.shift(), 640);
    assert.ok(kept);
    const path = file("new/kept.png", Buffer.from(bytes));
    const answer = await said(page);
    compare(path, answer);
    compare(path, live);  // the camera shows one picture all the time
    assert.equal(answer.classes[0].label, "rows");
  },
  async "the model card is shown"({ page }) {
    await page.click("#about summary");
    assert.match(await page.textContent("#card"), /Tells 6 classes apart/);
    assert.equal(await page.locator("#card table").first().isVisible(), true);
    assert.doesNotMatch(await page.textContent("#card"), /\*\*|\|---/);
  },
  async "no barriers, light and dark, at a desk and on a telephone"({ browser, address }) {
    for (const [width, height] of [[1280, 800], [390, 844]]) {
      for (const scheme of ["light", "dark"]) {
        const page = await open(browser, address, { viewport: { width, height }, colorScheme: scheme });
        await ready(page);
        await check(page, `start-${width}-${scheme}`);
        await look(page, join(scratch, "new", "haze.png"));
        await page.setInputFiles("#pick", [1, 2, 3].map((number) => join(scratch, "new", `many-${number}.png`)));
        await page.waitForFunction(() => [...document.querySelectorAll("#list .name")].every((name) => name.textContent !== "…"));
        await page.click("#about summary");
        await page.click("#rule summary");
        await check(page, `answer-${width}-${scheme}`);
        await page.context().close();
      }
    }
  },
  async "works without its server"({ page, address }) {
    await page.waitForFunction(() => document.documentElement.dataset.offline === "true");
    await stopServer();
    for (const name of ["", "index.html"]) {
      await page.goto(`${address}${name}`);
      await ready(page);
      const path = join(scratch, "new", "drop.png");
      compare(path, await look(page, path));
    }
  },
  async "offers a newer version, and then shows it"({ page, address }) {
    annulus("export", model, "--web", folder, "--title", "Patterns, again", "-q");
    await serve(Number(new URL(address).port));
    await page.reload();
    assert.equal(await page.textContent("#title"), "Patterns");
    await page.click("#renew");
    await page.waitForFunction(() => document.getElementById("title").textContent === "Patterns, again");
    await ready(page);
  },
};

for (const name of NAMES) for (let number = 0; number < 4; ++number) file(`photos/${name}/${number}.png`, picture(name, number));
let failed = false;
const camera = file("camera.y4m", cameraFile(picture("rows", 7), 640, 480));
const browser = await chromium.launch({ executablePath: browserPath, args: ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", `--use-file-for-fake-video-capture=${camera}`] });
try {
  annulus("fit", join(scratch, "photos"), "--backbone", "mobilenet-0.25", "-o", model, "-q");
  const [first, ...others] = Object.entries(steps);
  console.log(first[0]);
  await first[1]();
  const address = `http://127.0.0.1:${await serve()}/`;
  const page = await open(browser, address);
  await ready(page);
  for (const [what, step] of others) {
    console.log(what);
    await step({ page, browser, address });
  }
  assert.deepEqual(faults, []);
  console.log(`largest difference from annulus predict: ${largest.toExponential(1)}`);
} catch (error) {
  failed = true;
  console.error(error, faults);
} finally {
  await browser.close();
  await stopServer();
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
