// What the studio's tests in a browser share: the program, pages that are watched for faults, files to give them.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./launch.mjs";
import { picture } from "./pictures.mjs";

// Packages are wherever NODE_PATH says: none are kept beside the sources.
const require = createRequire(join(process.env.NODE_PATH ?? import.meta.dirname ?? ".", "x.js"));
export const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const [program, browserPath, pictures] = process.argv.slice(2);
export const scratch = mkdtempSync(join(tmpdir(), "annulus-studio-"));
export const project = join(scratch, "patterns");
export const faults = [];
let studio = null;

export function start() {
  const launched = launch(program, project, scratch);
  studio = launched.studio;
  return launched.address;
}

export function stop(signal) {
  const ended = new Promise((done) => studio.once("exit", done));
  studio.removeAllListeners("exit");
  studio.once("exit", () => {});
  const code = new Promise((done) => studio.once("exit", (status, by) => done(status ?? by)));
  studio.kill(signal);
  return Promise.race([code, ended]);
}

export function file(name, number) {
  const path = join(scratch, "new", name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, `${number}.png`), picture(name, number));
  return join(path, `${number}.png`);
}

export function watch(page, origin) {
  page.on("console", (message) => { if (message.type() !== "log") faults.push(`console ${message.type()}: ${message.text()} ${message.location().url}`); });
  page.on("filechooser", () => {});  // from the start: asking the browser not to open its own takes a moment
  page.on("pageerror", (error) => faults.push(`script error: ${error.message}`));
  page.on("request", (request) => { if (!/^(blob|data):/.test(request.url()) && new URL(request.url()).origin !== origin) faults.push(`asked for ${request.url()}`); });
}

export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  watch(page, new URL(address).origin);
  await page.goto(address);
  await page.waitForSelector("h1");
  return page;
}

export const ready = (page, classes) => page.waitForFunction((text) => document.querySelector("[data-testid=status]")?.textContent?.startsWith(text), `Ready: knows ${classes} classes`, { timeout: 60000 });
export const stateOf = (page) => page.evaluate(async () => (await fetch("/api/state")).json());
export const countOf = (page, name) => page.evaluate(async (wanted) => (await (await fetch(`/api/classes?search=${encodeURIComponent(wanted)}`)).json()).classes[0]?.photos, name);

// Until a class has so many photos. (A page's own wait takes the promise of an answer for the answer.)
export async function counted(page, name, photos) {
  const end = Date.now() + 30000;
  for (let found = null; (found = await countOf(page, name)) !== photos;) {
    if (Date.now() > end) throw new Error(`${name} has ${found} photos, not ${photos}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

export async function check(page, where) {
  await page.evaluate(AXE);
  const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  for (const violation of result.violations) faults.push(`${where}: ${violation.id} (${violation.impact}): ${violation.nodes.map(({ html }) => html.slice(0, 120)).slice(0, 3).join(" | ")}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) faults.push(`${where}: ${wide} pixels wider than the screen`);
  if (pictures) await page.screenshot({ path: join(pictures, `${where}.png`) });
}

// A class by hand: type its name, press Enter, pick photos.
export async function teach(page, name, numbers) {
  await page.fill('[aria-label="Name of a new class"]', name);
  await page.keyboard.press("Enter");
  await page.setInputFiles(`[data-testid="pick ${name}"]`, numbers.map((number) => file(name, number)));
  await page.waitForSelector(`[data-class="${name}"] .covers img`, { state: "attached" });
}

// Ends the program if a failure left it running.
export function end() {
  if (studio && studio.exitCode === null && studio.signalCode === null) studio.kill("SIGKILL");
}
