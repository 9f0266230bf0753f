// What people stumbled over, each as they would meet it: unreadable files, long names, many Tab presses, notices in the way.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, counted, countOf, expectFault, faults, file, home, openProject, ready, scratch, stateOf, teach } from "./harness.mjs";
import { picture } from "./pictures.mjs";
import { drop } from "./ways_in.mjs";

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
const textOf = (page, selector) => page.locator(selector).first().textContent();

function notesFile() {
  const path = join(scratch, "notes.txt");
  writeFileSync(path, "no photo");
  return path;
}

// Two fingers on an element move apart.
async function pinch(page, selector) {
  const box = await page.locator(selector).boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const session = await page.context().newCDPSession(page);
  const fingers = (apart) => [{ x: x - apart, y, id: 1 }, { x: x + apart, y, id: 2 }];
  await session.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(20) });
  for (const apart of [30, 45, 60]) await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: fingers(apart) });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await session.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  await session.detach();
}
const zoomOf = (page, selector) => page.locator(selector).evaluate((element) => Number(element.dataset.zoom));

async function wheel(page, selector, by) {
  const box = await page.locator(selector).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, by);
}

// Buttons, links and fields that a notice lies on.
const covered = (page) => page.evaluate(() => {
  const notices = [...document.querySelectorAll(".notice")].map((notice) => notice.getBoundingClientRect());
  const visible = [...document.querySelectorAll("button, a, input, select")].filter((one) => !one.closest(".notice") && one.offsetParent !== null && one.getBoundingClientRect().right > 0);
  const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const shown = (one) => {
    const clip = one.closest(".scroll")?.getBoundingClientRect();
    const box = one.getBoundingClientRect();
    return clip ? { left: Math.max(box.left, clip.left), right: Math.min(box.right, clip.right), top: Math.max(box.top, clip.top), bottom: Math.min(box.bottom, clip.bottom) } : box;
  };
  const top = document.querySelector("dialog[open]");
  return { notices: notices.length, under: visible.filter((one) => !top || top.contains(one)).filter((one) => { const box = shown(one); return box.bottom > box.top && notices.some((notice) => over(box, notice)); })
    .map((one) => one.getAttribute("aria-label") ?? one.textContent) };
});

export const mended = {
  async "clears the last answer when a file cannot be read, and says why"({ page }) {
    await page.click("[data-tab=try]");
    await page.setInputFiles('[data-testid="pick try"]', file("disc", 200));
    await page.waitForSelector('[data-testid=verdict][data-file="200.png"]');
    await expectFault(/status of 4\d\d/, async () => {
      await page.setInputFiles('[data-testid="pick try"]', notesFile());
      await page.waitForSelector("[data-testid=unread]");
    });
    assert.match(await textOf(page, "[data-testid=unread]"), /^notes\.txt could not be read as a photo\. .+ Choose another file: JPEG/);
    assert.equal(await page.locator("[data-testid=verdict]").count(), 0);
    assert.equal(await page.locator(".try-area img").count(), 0);
    assert.equal(await page.locator(".near img").count(), 0);
    await check(page, "unread");
    await page.setInputFiles('[data-testid="pick try"]', file("disc", 200));
    await page.waitForSelector('[data-testid=verdict][data-file="200.png"]');
    assert.equal(await page.locator("[data-testid=unread]").count(), 0);
  },
  async "tries several photos as a list"({ page }) {
    await expectFault(/status of 4\d\d/, async () => {
      await drop(page, ".try-area", [file("disc", 201), file("ring", 202), notesFile(), file("cross", 203)]);
      await page.waitForSelector('.try [role=status]:has-text("1 could not be read.")');
    });
    assert.equal(await page.locator(".tried li").count(), 4);
    const named = await page.$$eval(".tried-name", (names) => names.map((name) => name.textContent));
    assert.deepEqual([...named].sort(), ["201.png", "202.png", "203.png", "notes.txt"]);
    for (const name of ["201.png", "202.png", "203.png"]) {
      await page.click(`.tried-photo:has-text("${name}")`);
      await page.waitForSelector(`[data-testid=verdict][data-file="${name}"]`);
    }
    await page.click('.tried-photo:has-text("notes.txt")');
    await page.waitForSelector("[data-testid=unread]");
    assert.equal(await page.locator("[data-testid=verdict]").count(), 0);
    await check(page, "several");
  },
  async "explains unknown without contradicting itself"({ page }) {
    await page.setInputFiles('[data-testid="pick try"]', join(scratch, "unknown-1.png"));
    const verdict = await page.waitForSelector('[data-testid=verdict][data-file="unknown-1.png"]');
    assert.match(await verdict.textContent(), /^Unknown like none of the \d+ classes; .+ comes nearest$/);
    assert.equal(await textOf(page, ".answer h2"), "If it must be one of the classes");
    assert.equal(await page.locator(".rule p >> nth=0").isVisible(), false);
    await page.click(".rule summary");
    assert.match(await textOf(page, ".rule"), /5 of 100 photos\s+that do belong to a class/);
  },
  async "skips by link, and takes one Tab stop a row"({ page }) {
    await page.evaluate(() => { document.activeElement?.blur(); getSelection()?.removeAllRanges(); window.scrollTo(0, 0); });
    await page.focus(".skips a >> nth=0");
    assert.equal(await focused(page), "Skip to the classes");
    assert.ok((await page.locator(".skips a >> nth=0").boundingBox()).x >= 0);
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "Skip to Try");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "view");
    const stops = await page.$$eval("#class-list li", (rows) => rows.map((row) => [...row.querySelectorAll("button")].filter((button) => button.tabIndex === 0).length));
    assert.ok(stops.length > 3 && stops.every((count) => count === 1), stops.join(" "));
    await page.focus('[data-class="ring"] .class-open');
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(page), "Add photos to ring");
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(page), "Add photos to disc");  // made before it
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowLeft");
    assert.match(await focused(page), /^ring, \d+ photos: open$/);
    await page.keyboard.press("Tab");
    assert.match(await focused(page), /^disc, \d+ photos: open$/);
  },
  async "names every icon"({ page }) {
    const bare = () => page.$$eval("button", (buttons) => buttons.filter((button) => button.querySelector("svg") && !button.textContent.trim() && !(button.title && button.getAttribute("aria-label"))).map((button) => button.outerHTML.slice(0, 90)));
    assert.deepEqual(await bare(), []);
    await page.click("[data-tab=map]");
    await page.waitForSelector("canvas.map");
    assert.deepEqual(await bare(), []);
    await page.click("[data-tab=try]");
  },
  async "cuts no class name beside empty space"({ page }) {
    const name = "Great spotted woodpecker, juvenile male";
    await teach(page, name, []);
    await page.waitForSelector(`[data-class="${name}"]`);
    const cut = await page.$$eval(".class-name", (names) => names.filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1).map((one) => one.textContent));
    assert.deepEqual(cut, []);
    await check(page, "long-name");
    await page.click(`[aria-label="Remove ${name}"]`);
    await page.waitForSelector(`[data-class="${name}"]`, { state: "detached" });
  },
  async "enlarges photos; arrows walk, wheel and pinch zoom"({ page }) {
    await page.click('[data-class="disc"] .class-open');
    await page.click("dialog .tile >> nth=0");
    await page.waitForFunction(() => document.querySelector("dialog.viewing .stage img")?.naturalWidth >= 96);
    assert.match(await page.locator(".stage img").getAttribute("src"), /side=1024/);
    const caption = () => textOf(page, ".viewer-caption");
    assert.match(await caption(), / 1 of \d+$/);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => / 2 of \d+$/.test(document.querySelector(".viewer-caption").textContent));
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(() => / 1 of \d+$/.test(document.querySelector(".viewer-caption").textContent));
    assert.equal(await zoomOf(page, ".stage"), 1);
    await wheel(page, ".stage", -300);
    await page.waitForFunction(() => Number(document.querySelector(".stage").dataset.zoom) > 2);
    await page.keyboard.press("0");
    await page.waitForFunction(() => Number(document.querySelector(".stage").dataset.zoom) === 1);
    await pinch(page, ".stage");
    await page.waitForFunction(() => Number(document.querySelector(".stage").dataset.zoom) > 1.5);
    await check(page, "enlarged");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog.viewing", { state: "detached" });
    assert.equal(await page.locator("dialog .tile").count() > 0, true);
    // Arrow keys go through the photos, Space chooses.
    await page.focus("dialog .tile >> nth=0");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.place), "1");
    await page.keyboard.press("Space");
    await page.waitForSelector('dialog :text("1 of ")');
    assert.equal(await page.locator('dialog .tile-check[aria-pressed="true"]').count(), 1);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
  },
  async "shows findings side by side, and remembers what is right"({ page }) {
    await page.setInputFiles('[data-testid="pick rows"]', [file("disc", 210)]);
    await page.click("[data-tab=findings]");
    const finding = page.locator('.finding:has-text("In rows, looks like disc")');
    await finding.waitFor({ timeout: 60000 });
    const captions = await finding.locator("figcaption").allTextContents();
    assert.deepEqual(captions, ["This photo, in rows", "Most like it in rows", "Most like it in disc"]);
    assert.match(await finding.locator(".finding-text").textContent(), /· \d+ % sure$/);
    await finding.locator(".shot >> nth=2").click();
    await page.waitForFunction(() => document.querySelector(".viewer-caption")?.textContent.startsWith("Most like it in disc"));
    await page.keyboard.press("Escape");
    await check(page, "findings");
    await finding.locator('button:text-is("It is right")').click();
    await finding.waitFor({ state: "detached" });
    await page.reload();
    await page.waitForSelector("h1");
    await page.click("[data-tab=findings]");
    await page.waitForSelector('section[aria-label="Confused classes"]');
    await page.waitForFunction(async () => (await (await fetch("/api/analysis")).json()).current);
    assert.equal(await finding.count(), 0);
    assert.equal((await stateOf(page)).analysis.confirmed, 1);
    await page.click('[aria-label="Undo"]');
    await counted(page, "rows", 3);
    await page.click("[data-tab=try]");
  },
  async "says what to do next to the field"({ page }) {
    await expectFault(/status of 400/, async () => {
      await page.fill('[aria-label="Name of a new class"]', "a/b");
      await page.keyboard.press("Enter");
      await page.waitForSelector("#class-wrong:not(.hidden)");
    });
    assert.match(await textOf(page, "#class-wrong"), /^A name becomes that of a folder and cannot contain "\/": write "a\/b" without it\.$/);
    assert.equal(await page.getAttribute('[aria-label="Name of a new class"]', "aria-invalid"), "true");
    assert.equal(await page.locator(".notice").count(), 0);
    await check(page, "wrong-name");
    await page.fill('[aria-label="Name of a new class"]', "");
    assert.equal(await page.locator("#class-wrong").textContent(), "");
    await expectFault(/status of 400/, async () => {
      await page.click('[aria-label="Rename disc"]');
      await page.fill("dialog input", "ring");
      await page.keyboard.press("Enter");
      await page.waitForSelector("#name-wrong:not(.hidden)");
    });
    assert.match(await textOf(page, "#name-wrong"), /already: choose another name/);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
  },
  async "covers no button with a notice"({ page }) {
    for (const size of [{ width: 1280, height: 800 }, { width: 390, height: 740 }]) {
      await page.setViewportSize(size);
      await page.click("[data-tab=try]");
      await page.keyboard.press("Control+z");
      await page.waitForSelector('.notice:has-text("Undone")');
      await page.keyboard.press("Control+Shift+Z");
      await page.waitForSelector('.notice:has-text("Done again")');
      const seen = await covered(page);
      assert.ok(seen.notices >= 2);
      assert.deepEqual(seen.under, []);
      await check(page, `notices-${size.width}`);
      await page.evaluate(() => document.querySelectorAll('.notice [aria-label="Dismiss"]').forEach((button) => button.click()));
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.click('[data-class="disc"] .class-open');
    await page.click("dialog .tile-check >> nth=0");
    await page.click('dialog button:has-text("Remove chosen")');
    await page.waitForSelector('dialog .notice:has-text("Removed 1 photo")');
    assert.deepEqual((await covered(page)).under, []);
    await page.click("dialog .notice >> text=Undo");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
  },
  async "leaves no empty class behind"({ page }) {
    const { classes } = await stateOf(page);
    await teach(page, "lonely", [220]);
    await counted(page, "lonely", 1);
    await page.click('[data-class="lonely"] .class-open');
    await page.click("dialog .tile-check >> nth=0");
    await page.fill('[aria-label="Class to move to"]', "disc");
    await page.click('dialog button:text-is("Move")');
    await page.waitForSelector('[data-class="lonely"]', { state: "detached" });
    assert.equal((await stateOf(page)).classes, classes);
    await page.keyboard.press("Escape");
    for (let i = 0; i < 3; ++i) await page.click('[aria-label="Undo"]');
    await page.waitForFunction((count) => document.querySelector("#classes-title .dim").textContent === String(count), classes);
    await page.waitForSelector('[data-class="lonely"]', { state: "detached" });
  },
  async "zooms the map, and keeps its names apart"({ page }) {
    await ready(page, (await stateOf(page)).classes);
    await page.click("[data-tab=map]");
    await page.waitForFunction(() => document.querySelector("canvas.map")?.dataset.labels);
    const overlaps = () => page.$eval("canvas.map", (canvas) => {
      const labels = JSON.parse(canvas.dataset.labels);
      const bad = labels.filter(([x, y, wide, high], i) => x < 0 || y < 0 || x + wide > canvas.clientWidth || y + high > canvas.clientHeight ||
        labels.some(([a, b, w, h], j) => j > i && x < a + w && a < x + wide && y < b + h && b < y + high));
      return { count: labels.length, bad: bad.length };
    });
    assert.deepEqual((await overlaps()).bad, 0);
    assert.ok((await overlaps()).count >= 6);
    assert.equal(await zoomOf(page, "canvas.map"), 1);
    // Somewhere there is a photo under the pointer, and it is shown.
    const box = await page.locator("canvas.map").boundingBox();
    let shown = false;
    for (let y = 0.05; y < 1 && !shown; y += 0.04) {
      for (let x = 0.05; x < 1 && !shown; x += 0.04) {
        await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
        shown = (await page.locator(".map-tip img").count()) > 0;
      }
    }
    assert.ok(shown, "no photo was shown");
    const tip = await page.locator(".map-tip").boundingBox();
    assert.ok(tip.x >= box.x && tip.y >= box.y && tip.x + tip.width <= box.x + box.width && tip.y + tip.height <= box.y + box.height, JSON.stringify([tip, box]));
    await wheel(page, "canvas.map", -400);
    await page.waitForFunction(() => Number(document.querySelector("canvas.map").dataset.zoom) > 2);
    assert.deepEqual((await overlaps()).bad, 0);
    await wheel(page, "canvas.map", 4000);
    await page.waitForFunction(() => Number(document.querySelector("canvas.map").dataset.zoom) === 1);
    await pinch(page, "canvas.map");
    await page.waitForFunction(() => Number(document.querySelector("canvas.map").dataset.zoom) > 1.5);
    await page.click("[data-tab=try]");
  },
  async "renames and deletes projects"({ page }) {
    const quiet = () => faults.splice(0, faults.length, ...faults.filter((fault) => !/net::ERR/.test(fault)));  // pictures that were still loading
    await openProject(page, "passing", true);
    await teach(page, "thing", [230]);
    await counted(page, "thing", 1);
    await page.click(".project-name");
    await page.click('[aria-label="Rename project passing"]');
    await page.fill('dialog[aria-label="Rename passing"] input', "lasting");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".project-name").textContent.startsWith("lasting "));
    assert.equal(await countOf(page, "thing"), 1);
    assert.ok(existsSync(join(home, "lasting", "project.json")) && !existsSync(join(home, "passing")));
    await page.click(".project-name");
    await check(page, "project-list");
    await page.click('[aria-label="Delete project lasting"]');
    await page.click('dialog[aria-label="Delete lasting?"] button:text-is("Delete")');
    await page.waitForFunction(() => !document.querySelector(".project-name").textContent.startsWith("lasting "));
    assert.ok(!existsSync(join(home, "lasting")));
    assert.equal(readdirSync(join(home, ".deleted", "lasting", "photos", "thing")).length, 1);
    await page.keyboard.press("Escape");
    quiet();
    await openProject(page, "patterns");
    await ready(page, 12);
  },
};

// A folder of photos with parts, for the program to open.
export function dataSet() {
  const root = join(scratch, "birds");
  for (const [folder, pattern, number] of [["train/owl", "disc", 240], ["train/owl", "disc", 241], ["train/jay", "cross", 242], ["test/owl", "disc", 243]]) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, `${number}.png`), picture(pattern, number));
  }
  return root;
}
