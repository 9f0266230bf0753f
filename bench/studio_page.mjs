// studio_page.mjs ANNULUS CHROMIUM FOLDER [CLASSES [PHOTOS]]: draws a large project, opens it in a headless browser and measures; see bench/studio.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { launch } from "../tests/studio/launch.mjs";
import { drawn } from "../tests/studio/pictures.mjs";

const require = createRequire(join(process.env.NODE_PATH ?? ".", "x.js"));
const { chromium } = require("playwright-core");
const [program, browserPath, folder, classes = "1000", photos = "20"] = process.argv.slice(2);
const project = resolve(folder, "project");
const name = (number) => `class ${String(number).padStart(4, "0")}`;
const said = (step, values) => console.log(JSON.stringify({ step, ...values }));
const rounded = (value) => Math.round(value * 10) / 10;
const quantile = (sorted, at) => rounded(sorted[Math.floor(at * (sorted.length - 1))] ?? 0);

function draw() {
  if (existsSync(join(project, "project.json"))) return;
  for (let c = 0; c < Number(classes); ++c) {
    mkdirSync(join(project, "photos", name(c)), { recursive: true });
    for (let i = 0; i < Number(photos); ++i) writeFileSync(join(project, "photos", name(c), `${i}.png`), drawn(c, i));
  }
  // As the studio writes it; last, so that a drawing that was stopped begins again.
  writeFileSync(join(project, "project.json"), JSON.stringify({ annulus_project: 1, backbone: "mobilenet-0.25" }));
}

const memory = (pid) => Object.fromEntries([...readFileSync(`/proc/${pid}/status`, "utf8").matchAll(/^(VmRSS|VmHWM):\s+(\d+)/gm)].map(([, key, value]) => [key, Math.round(Number(value) / 1024)]));
// Seconds of processors that a process has used.
function processor(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
const stateOf = (page) => page.evaluate(async () => (await fetch("/api/state")).json());

async function until(page, holds, seconds, pause = 200) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    const state = await stateOf(page);
    if (holds(state)) return state;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(state)} after ${seconds} s`);
    await new Promise((done) => setTimeout(done, pause));
  }
}

// Frames while `each(step)` is done before every one of them.
async function frames(page, steps, each) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const busy = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name: key, value }) => [key, value]));
  const before = await busy();
  const times = await page.evaluate(`(async () => {
    const each = ${each};
    const times = [];
    let last = performance.now();
    for (let step = 0; step < ${steps}; ++step) {
      each(step);
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times.sort((a, b) => a - b);
  })()`);
  const after = await busy();
  await session.detach();
  const spent = (key) => rounded(1000 * (after[key] - before[key]) / steps);
  return { frames: steps, median_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95), worst_ms: quantile(times, 1), script_ms_a_frame: spent("ScriptDuration"),
           layout_ms_a_frame: rounded(spent("LayoutDuration") + spent("RecalcStyleDuration")), heap_mb: Math.round(after.JSHeapUsedSize / 1048576), elements: await page.evaluate(() => document.querySelectorAll("*").length) };
}

// The list of classes: through all of it, or as a person scrolls, 40 pixels a frame; `box` is what scrolls.
const through = (box = ".classes .scroll") => `(step) => { const box = document.querySelector("${box}"); box.scrollTop = step * (box.scrollHeight - box.clientHeight) / 299; }`;
const gently = (box = ".classes .scroll") => `(step) => { document.querySelector("${box}").scrollTop = 40 * step; }`;

// What this browser can do at best: as many rows of plain text, all there from the start.
async function plainList(browser) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const rows = Array.from({ length: Number(classes) }, (_, at) => `<div style="height: 76px">${name(at)}</div>`);
  await page.setContent(`<div class="plain" style="width: 680px; height: 600px; overflow: auto">${rows.join("")}</div>`);
  said("scroll plain text", await frames(page, 300, through(".plain")));
  said("scroll plain text gently", await frames(page, 300, gently(".plain")));
  await page.close();
}

// From the click on Move until the answer to the photo that is being tried comes from a model that has taken it in.
async function relabel(page, pid, from, to) {
  const model = await page.getAttribute("[data-testid=verdict]", "data-model");
  await page.fill('[aria-label="Find classes"]', from);
  await page.waitForFunction((wanted) => document.querySelector(".class-row")?.dataset.class === wanted, from);
  await page.click(`[data-class="${from}"] .class-open`);
  await page.click("dialog .tile-check >> nth=0");
  await page.fill('[aria-label="Class to move to"]', to);
  const began = Date.now();
  const used = processor(pid);
  await page.click('dialog button:text-is("Move")');
  await page.waitForFunction((count) => document.querySelectorAll("dialog .tile").length === count, Number(photos) - 1);
  const shown = Date.now() - began;
  await page.waitForFunction((old) => { const now = document.querySelector("[data-testid=verdict]")?.dataset.model; return now && now !== old; }, model, { timeout: 600000 });
  const answered = Date.now() - began;
  const busy = Math.round(1000 * (processor(pid) - used));
  const state = await stateOf(page);
  await page.keyboard.press("Escape");
  await page.fill('[aria-label="Find classes"]', "");
  return { shown_ms: shown, answered_ms: answered, learnt_ms: Math.round(1000 * state.model.seconds), processor_ms: busy, incremental: state.model.incremental };
}

draw();
const opened = Date.now();
const { studio, address } = launch(program, [project], resolve(folder));
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"] });
try {
  const home = await address;
  said("program listens", { seconds: (Date.now() - opened) / 1000 });
  await plainList(browser);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(home);
  const all = Number(classes);
  const asked = Date.now();
  // What a run that was stopped has changed.
  while ((await stateOf(page)).undo) await page.evaluate(async () => fetch("/api/change", { method: "POST", body: '{"action":"undo"}' }));
  const first = await until(page, ({ waiting, work }) => waiting === 0 && work.stage !== "backbone" && work.stage !== "features", 3600);
  said("features", { seconds: (Date.now() - asked) / 1000, photos: first.photos });
  const fitted = await until(page, ({ model }) => model?.current && !model.incremental && model.classes >= all, 7200);
  said("fit", { seconds: (Date.now() - asked) / 1000, fit_seconds: rounded(fitted.model.seconds), held_out: fitted.model.held_out, held_out_correct: fitted.model.held_out_correct });

  await page.reload();
  await page.waitForSelector(".covers img");
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const rows = await page.evaluate(() => performance.now());
  said("page", { first_paint_ms: rounded(paint), list_shown_ms: rounded(rows) });
  said("scroll gently", await frames(page, 300, gently()));
  said("scroll through all classes", await frames(page, 300, through()));
  said("once more", await frames(page, 300, through()));
  await page.screenshot({ path: join(folder, "wide.png") });

  writeFileSync(join(folder, "tried.png"), drawn(7, Number(photos) + 1));
  await page.setInputFiles('[data-testid="pick try"]', join(folder, "tried.png"));
  await page.waitForSelector("[data-testid=verdict]");
  for (let turn = 0; turn < 5; ++turn) said("relabel", await relabel(page, studio.pid, name(10 + turn), name(600 + turn)));
  await page.screenshot({ path: join(folder, "relabelled.png") });
  // The fit goes on behind this.
  await until(page, ({ work }) => work.stage === "fit", 60);
  said("scroll gently while a fit goes on", await frames(page, 300, gently()));
  said("through all classes while a fit goes on", await frames(page, 300, through()));

  for (let turn = 0; turn < 5; ++turn) await page.evaluate(async () => fetch("/api/change", { method: "POST", body: '{"action":"undo"}' }));

  const looked = Date.now();
  await page.click("[data-tab=map]");
  await page.waitForFunction((count) => document.querySelector("canvas.map")?.dataset.photos === String(count), fitted.photos, { timeout: 600000 });
  said("map", { seconds: (Date.now() - looked) / 1000 });
  await until(page, ({ analysis }) => analysis.current, 600);
  said("findings", { seconds: (Date.now() - looked) / 1000 });
  await page.waitForTimeout(500);
  said("move about the map", await frames(page, 100, `(step) => { const map = document.querySelector("canvas.map"); const box = map.getBoundingClientRect();
    map.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: box.left + 100 + step * 3, clientY: box.top + 100 + step * 2 })); if (step === 10) document.querySelector('[aria-label="Zoom in"]').click(); }`));
  await page.screenshot({ path: join(folder, "map.png") });
  await page.click("[data-tab=findings]");
  await until(page, ({ analysis }) => analysis.current, 600);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(folder, "findings.png") });
  said("memory of the program", memory(studio.pid));
} finally {
  await browser.close();
  studio.removeAllListeners("exit");
  studio.kill("SIGINT");
}
