// What the studio's tests in a browser share: the program, pages that are watched for faults, files to give them.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, launchWith } from "./launch.mjs";
import { PATTERNS, picture } from "./pictures.mjs";

// Packages are wherever NODE_PATH says: none are kept beside the sources.
const require = createRequire(join(process.env.NODE_PATH ?? import.meta.dirname ?? ".", "x.js"));
export const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const [program, browserPath, pictures] = process.argv.slice(2);
export const scratch = mkdtempSync(join(tmpdir(), "annulus-studio-"));
const user = join(scratch, "user");
export const home = join(user, "annulus-studio");
export const project = join(home, "patterns");
export const opened = join(scratch, "opened");  // written by the program that stands in for the browser's launcher
export const faults = [];
let studio = null;

// A first start on a machine with a display: no project, an empty home folder. Only downloads are kept elsewhere.
export function startFirst() {
  const programs = join(scratch, "programs");
  mkdirSync(programs);
  mkdirSync(user);
  writeFileSync(join(programs, "xdg-open"), `#!/bin/sh\n{ echo "$1"; cut -d " " -f 6 /proc/$$/stat; ls -l /proc/$$/fd; } >${opened}.part 2>&1 && mv ${opened}.part ${opened}\n`);
  chmodSync(join(programs, "xdg-open"), 0o755);
  const { ANNULUS_STUDIO, ...environment } = process.env;
  const cache = environment.ANNULUS_CACHE || join(environment.XDG_CACHE_HOME || join(environment.HOME, ".cache"), "annulus");
  const launched = launchWith(program, ["--cache", join(home, "features"), "--quiet"], { ...environment, HOME: user, ANNULUS_CACHE: cache, DISPLAY: ":7", PATH: `${programs}:${environment.PATH}` });
  studio = launched.studio;
  return launched.address;
}

export function start(words = [project]) {
  const launched = launch(program, words, home);
  studio = launched.studio;
  return launched.address;
}

export const studioProcess = () => studio.pid;

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
  page.on("filechooser", () => {});  // from the start, since it takes the browser a moment to stop opening its own
  page.on("pageerror", (error) => faults.push(`script error: ${error.message}`));
  page.on("request", (request) => { if (!/^(blob|data):/.test(request.url()) && new URL(request.url()).origin !== origin) faults.push(`asked for ${request.url()}`); });
}

export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(60000);
  // Notices that are to be clicked stay long enough for a slow machine, and go while others wait for what they cover.
  await context.addInitScript(() => {
    const later = window.setTimeout.bind(window);
    window.setTimeout = (run, wait, ...rest) => later(run, wait === 7000 ? 30000 : wait, ...rest);
  });
  const page = await context.newPage();
  watch(page, new URL(address).origin);
  await page.goto(address);
  await page.waitForSelector("h1");
  return page;
}

export async function ready(page, classes) {
  const wanted = `Ready: knows ${classes} classes`;
  const status = () => page.evaluate(() => document.querySelector("[data-testid=status]")?.textContent ?? "");
  try {
    await page.waitForFunction((text) => document.querySelector("[data-testid=status]")?.textContent?.startsWith(text), wanted, { timeout: 60000 });
  } catch (error) {
    throw new Error(`the page says "${await status()}" and not "${wanted}"; the studio says ${JSON.stringify(await stateOf(page))}`, { cause: error });
  }
}
export const stateOf = (page) => page.evaluate(async () => (await fetch("/api/state")).json());
export const countOf = (page, name) => page.evaluate(async (wanted) => (await (await fetch(`/api/classes?search=${encodeURIComponent(wanted)}`)).json()).classes[0]?.photos, name);

// Waits until a class has so many photos. (A page's own waitForFunction does not wait for promises.)
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

// Opens the project in the page's own dialog, or makes it.
export async function openProject(page, name, make = false) {
  await page.click(".project-name");
  if (make) {
    await page.fill('[aria-label="Name of a new project"]', name);
    await page.click('dialog button:text-is("Make")');
  } else {
    await page.click(`dialog .project-list button:text-is("${name}")`);
  }
  await page.waitForFunction((wanted) => document.querySelector(".project-name").textContent.startsWith(`${wanted} `), name);
  faults.splice(0, faults.length, ...faults.filter((fault) => !/net::ERR/.test(fault)));  // pictures that were still loading when the other project was closed
}

// Dismisses the notices that a step has left.
export async function dismissAll(page) {
  if (!page.isClosed()) await page.evaluate(() => document.querySelectorAll('.notice [aria-label="Dismiss"]').forEach((button) => button.click()));
}

// A class by hand: type its name, press Enter, pick photos.
export async function teach(page, name, numbers) {
  await page.fill('[aria-label="Name of a new class"]', name);
  await page.keyboard.press("Enter");
  await page.waitForSelector(`[data-class="${name}"]`);
  if (!numbers.length) return;
  await page.setInputFiles(`[data-testid="pick ${name}"]`, numbers.map((number) => file(PATTERNS[name] ? name : "triangle", number)));
  await page.waitForSelector(`[data-class="${name}"] .covers img`, { state: "attached" });
}

// Runs a step that is answered with an error, which the browser writes to its console.
export async function expectFault(pattern, step) {
  const before = faults.length;
  await step();
  for (const end = Date.now() + 5000; !faults.slice(before).some((fault) => pattern.test(fault));) {
    if (Date.now() > end) throw new Error(`expected a fault like ${pattern}`);
    await new Promise((done) => setTimeout(done, 20));
  }
  faults.splice(before, faults.length, ...faults.slice(before).filter((fault) => !pattern.test(fault)));
}

// Ends the program if a failure left it running.
export function end() {
  if (studio && studio.exitCode === null && studio.signalCode === null) studio.kill("SIGKILL");
}
