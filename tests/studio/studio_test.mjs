// studio_test.mjs ANNULUS CHROMIUM [PICTURES]: teaches, tries, mends, undoes, exports and restarts the studio as a person would, in a headless browser.
// Screenshots are written to the folder PICTURES, if it is given.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browserPath, check, chromium, counted, countOf, dismissAll, end, faults, file, open, pictures, project, ready, scratch, start, startFirst, stateOf, stop, watch } from "./harness.mjs";
import { firstStart } from "./first_start.mjs";
import { PATTERNS, picture } from "./pictures.mjs";
import { dataSet, mended } from "./mended.mjs";
import { waysIn } from "./ways_in.mjs";

const NAMES = Object.keys(PATTERNS);

const steps = {
  ...firstStart,
  async "tries photos it has not seen"({ page }) {
    let right = 0;
    for (const [index, name] of NAMES.entries()) {
      await page.setInputFiles('[data-testid="pick try"]', file(name, 10 + index));
      const verdict = await page.waitForSelector(`[data-testid=verdict][data-file="${10 + index}.png"]`);
      const bars = await page.$$eval(".bar-name", (buttons) => buttons.map((button) => button.textContent));
      assert.equal(bars.length, 5);
      assert.equal(await page.locator(".near img").count(), 3);
      assert.ok((await verdict.textContent()).startsWith("Unknown") || (await verdict.textContent()).startsWith(bars[0]));
      if (bars[0] === name) ++right;
    }
    console.log(`  ${right} of 10 new pictures named right`);
    assert.ok(right >= 8, `${right} of 10 right`);
  },
  async "mends a wrong label that the findings show"({ page }) {
    await page.setInputFiles('[data-testid="pick rows"]', [file("disc", 20)]);
    await page.click("[data-tab=findings]");
    await page.click('button:has-text("Move to disc")', { timeout: 30000 });
    await counted(page, "disc", 4);
    assert.equal(await countOf(page, "rows"), 3);
  },
  async "moves and removes chosen photos, and undoes by keyboard"({ page }) {
    await page.click('[data-class="ring"] .class-open');
    await page.click("dialog .tile-check >> nth=0");
    await page.fill('[aria-label="Class to move to"]', "disc");
    await page.click('dialog button:text-is("Move")');
    await page.waitForFunction(() => document.querySelectorAll("dialog .tile").length === 2);
    await check(page, "class");
    await page.click("dialog .tile-check >> nth=0");
    await page.click('dialog button:has-text("Remove chosen")');
    await page.waitForFunction(() => document.querySelectorAll("dialog .tile").length === 1);
    // Notices can be clicked while a dialog is open, and undo what they are about or nothing.
    await page.click('dialog .notice:has-text("Removed 1 photo from ring") >> text=Undo');
    await page.waitForFunction(() => document.querySelectorAll("dialog .tile").length === 2);
    await page.keyboard.press("Control+y");
    await page.waitForFunction(() => document.querySelectorAll("dialog .tile").length === 1);
    await page.keyboard.press("Escape");
    await page.waitForSelector('.notice:has-text("Done again: Remove 1 photo")');
    assert.equal(await page.locator('.notice:has-text("Moved 1 photo to disc") >> text=Undo').count(), 0);
    assert.equal(await countOf(page, "disc"), 5);
    // Twice before the first response.
    await page.evaluate(() => {
      for (let i = 0; i < 2; ++i) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "z", ctrlKey: true, bubbles: true }));
    });
    await page.waitForSelector('.notice:has-text("Undone: Move 1 photo to disc")');
    assert.equal(await page.locator(".notice.bad").count(), 0);
    assert.equal(await countOf(page, "ring"), 3);
    assert.equal(await countOf(page, "disc"), 4);
  },
  async "adds a folder of classes, renames and removes them"({ page }) {
    for (const name of ["waves", "bars"]) {
      mkdirSync(join(scratch, "folder", name), { recursive: true });
      for (const number of [1, 2]) writeFileSync(join(scratch, "folder", name, `${number}.png`), picture(name === "waves" ? "rows" : "columns", number + 30));
    }
    await page.setInputFiles('[data-testid="pick folder"]', join(scratch, "folder"));
    await page.click('.notice:has-text("Added 4 photos to 2 classes") >> text=Undo');
    await page.waitForSelector('.notice:has-text("and 1 more")');
    assert.equal((await stateOf(page)).classes, 10);
    await page.setInputFiles('[data-testid="pick folder"]', join(scratch, "folder"));
    await ready(page, 12);
    await page.click('[aria-label="Rename waves"]');
    await page.fill("dialog input", "sea");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-class="sea"]');
    await page.click('[aria-label="Remove sea"]');
    await page.waitForSelector('[data-class="sea"]', { state: "detached" });
    await page.click('.notice:has-text("Removed sea") >> text=Undo');
    await page.waitForSelector('[data-class="sea"]');
    assert.deepEqual(readdirSync(join(project, "photos")).includes("sea"), true);
  },
  async "keeps two tabs the same"({ page, browser, address }) {
    const other = await page.context().newPage();
    watch(other, new URL(address).origin);
    await other.goto(new URL(address).origin);
    await other.waitForSelector('[data-class="sea"]');
    const add = (tab, from) => tab.evaluate(async (first) => {
      for (let i = first; i < first + 8; ++i) await fetch("/api/change", { method: "POST", body: JSON.stringify({ action: "add_class", name: `tab ${i}` }) });
    }, from);
    await Promise.all([add(page, 0), add(other, 100)]);
    for (const tab of [page, other]) await tab.waitForFunction(() => document.querySelector("#classes-title .dim").textContent === "28");
    const stale = await other.evaluate(async () => (await fetch("/api/change", { method: "POST", body: JSON.stringify({ action: "undo", revision: 1 }) })).status);
    assert.equal(stale, 409);
    faults.splice(0, faults.length, ...faults.filter((fault) => !/409/.test(fault)));  // the one just caused
    for (let i = 0; i < 16; ++i) await other.evaluate(async () => fetch("/api/change", { method: "POST", body: '{"action":"undo"}' }));
    await page.waitForFunction(() => document.querySelector("#classes-title .dim").textContent === "12");
    await other.close();
  },
  async "answers with more tabs than a browser has connections"({ page, address }) {
    const look = (tab, state) => tab.evaluate((now) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => now });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
    const count = (tab, classes) => tab.waitForFunction((text) => document.querySelector("#classes-title .dim").textContent === text, String(classes));
    const tabs = [];
    for (let i = 0; i < 8; ++i) {
      const tab = await page.context().newPage();
      watch(tab, new URL(address).origin);
      await tab.goto(new URL(address).origin);
      await count(tab, 12);
      await look(tab, "hidden");
      tabs.push(tab);
    }
    await page.fill('[aria-label="Name of a new class"]', "thirteenth");
    await page.keyboard.press("Enter");
    await count(page, 13);
    await look(tabs[3], "visible");  // catches up, then follows
    await count(tabs[3], 13);
    await page.click('[aria-label="Undo"]');
    await count(tabs[3], 12);
    for (const tab of tabs) await tab.close();
  },
  ...waysIn,
  ...mended,
  async "shows how things stand although it draws late"({ page, address }) {
    await ready(page, 12);
    const late = await page.context().newPage();
    watch(late, new URL(address).origin);
    // The state comes long before anything that waits for a frame or a timer.
    await late.addInitScript(() => {
      const later = window.setTimeout.bind(window);
      window.requestAnimationFrame = (draw) => later(() => draw(performance.now()), 1000);
      window.setTimeout = (run, wait, ...rest) => later(run, Math.max(wait ?? 0, 1000), ...rest);
    });
    await late.goto(new URL(address).origin);
    await late.waitForSelector('[data-testid=status]:has-text("Ready: knows 12")', { timeout: 60000 });
    await late.close();
  },
  async "draws the map and exports"({ page }) {
    await ready(page, 12);
    await page.click("[data-tab=map]");
    await page.waitForFunction(() => document.querySelector("canvas.map")?.dataset.classes === "12");
    await check(page, "map");
    await page.click('button:has-text("Export")');
    for (const [title, ending, begins] of [["Model card", "-card.md", "---"], ["Model", ".safetensors", ""], ["ONNX", ".onnx", "\x08"], ["Report", "-report.html", "<!"]]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.click(`dialog .exports button:text-is("${title}")`)]);
      assert.equal(download.suggestedFilename(), `patterns${ending}`);
      const content = readFileSync(await download.path(), "latin1");
      assert.ok(content.length > 500 && content.startsWith(begins), title);
    }
    await page.keyboard.press("Escape");
  },
  async "makes a page to share, and says before how large it is"({ page }) {
    if (!(await page.locator("dialog .exports").count())) await page.click('button:text-is("Export")');
    await page.click('dialog .exports button:text-is("Web page")');
    await page.waitForSelector('dialog .exports button:text-is("Save")');
    assert.match(await page.textContent("dialog .exports li:last-child span"), /^[0-9.]+ MB in \d+ files/);
    await check(page, "share");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("dialog .exports button.primary")]);
    assert.match(download.suggestedFilename(), /-page\.zip$/);
    const bytes = readFileSync(await download.path());
    for (const name of ["index.html", "model.onnx", "service_worker.js", "ort-wasm-simd-threaded.wasm"]) assert.ok(bytes.includes(`patterns/${name}`), name);
    await page.keyboard.press("Escape");
  },
  async "lets nobody else in"({ address }) {
    const { origin, searchParams } = new URL(address);
    const key = searchParams.get("key");
    const ask = async (path, headers) => (await fetch(origin + path, { headers })).status;
    assert.equal(await ask("/api/state", {}), 401);
    assert.equal(await ask("/", {}), 401);
    assert.equal(await ask("/api/state", { "X-Annulus-Key": "0".repeat(32) }), 401);
    assert.equal(await ask("/api/state", { "X-Annulus-Key": key }), 200);
    assert.equal(await ask("/api/state", { "X-Annulus-Key": key, Origin: "http://example.org" }), 403);
    assert.equal(await ask("/api/state", { "X-Annulus-Key": key, "Sec-Fetch-Site": "cross-site" }), 403);
    for (const path of ["/api/thumbnail/..%2f..%2fproject.json", "/../project.json", "/api/thumbnail/0123456789abcdef"]) {
      assert.ok((await ask(path, { "X-Annulus-Key": key })) >= 400, path);
    }
  },
  async "looks right on a phone and in the dark"({ browser, page }) {
    await page.click("[data-tab=try]");
    await check(page, "wide-light");
    await page.click('[aria-label="Dark colours"]');
    await check(page, "wide-dark");
    const cookies = await page.context().cookies();
    const phone = await browser.newContext({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await phone.addCookies(cookies);
    const small = await phone.newPage();
    watch(small, new URL(page.url()).origin);
    await small.goto(page.url());
    await small.waitForSelector(".class-row");
    await check(small, "phone-classes");
    for (const tab of ["try", "map", "findings"]) {
      await small.click(`[data-tab=${tab}]`);
      await check(small, `phone-${tab}`);
    }
    await phone.close();
  },
  async "survives kill -9 and stops at Ctrl-C"({ page, browser }) {
    const before = await stateOf(page);
    await page.context().close();
    await stop("SIGKILL");
    const again = await open(browser, await start());
    await ready(again, 12);
    const after = await stateOf(again);
    assert.equal(after.revision, before.revision);
    assert.equal(after.photos, before.photos);
    await again.waitForSelector('[data-class="sea"] .covers img', { state: "attached" });
    await again.context().close();
    assert.equal(await stop("SIGINT"), 0);
  },
  async "opens the last project, or a folder of photos"({ browser }) {
    const look = async (words) => {
      const page = await open(browser, await start(words));
      const state = await stateOf(page);
      const count = await countOf(page, "owl");
      const notices = await page.locator(".notice").allTextContents();
      await page.context().close();
      assert.equal(await stop("SIGINT"), 0);
      return { ...state, owls: count, notices };
    };
    assert.equal((await look([])).project, "patterns");
    const birds = await look([dataSet()]);
    assert.equal(birds.project, "birds");
    assert.deepEqual([birds.classes, birds.photos, birds.owls, birds.undo], [2, 3, 2, null]);
    assert.match(birds.notices.join(), /Left out 1 photo for testing/);
    const again = await look([dataSet()]);  // as it was left, not imported once more
    assert.deepEqual([again.folder, again.photos], [birds.folder, 3]);
    assert.equal((await look([])).project, "birds");
  },
};

let browser = null;
try {
  const started = Date.now();
  const address = await startFirst();
  browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"] });
  const page = await open(browser, address);
  for (const [name, step] of Object.entries(steps)) {
    const began = Date.now();
    try {
      await step({ page, browser, address, started });
      await dismissAll(page);
    } catch (error) {
      if (pictures) await page.screenshot({ path: join(pictures, "failed.png") }).catch(() => {});
      throw new Error(`${name}: ${error.stack ?? error}`);
    }
    console.log(`ok ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  }
  assert.deepEqual(faults, []);
} catch (error) {
  console.log(`FAILED ${error.message}`);
  for (const fault of faults) console.log(`  ${fault}`);
  process.exitCode = 1;
} finally {
  await browser?.close();
  end();
  rmSync(scratch, { recursive: true, force: true });
}
