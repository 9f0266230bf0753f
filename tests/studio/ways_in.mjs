// Every way to add and try photos: webcam, dragging, pasting, keyboard alone; another project; and photos of no class.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, counted, countOf, faults, file, openProject, ready, scratch, stateOf } from "./harness.mjs";
import { picture, unknownPicture } from "./pictures.mjs";

// Drags files or folders of this machine onto an element, as the browser sees it.
export async function drop(page, selector, files) {
  const element = page.locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  const place = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) await session.send("Input.dispatchDragEvent", { type, ...place, data });
  await session.detach();
}

// Presses Tab, or Shift and Tab, until the focused element has that name.
async function tabTo(page, name, key = "Tab") {
  const seen = [];
  for (let presses = 0; presses < 150; ++presses) {
    const found = await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent.slice(0, 40) ?? "");
    if (found === name) return;
    seen.push(found);
    await page.keyboard.press(key);
  }
  assert.fail(`no key led to "${name}", but to ${[...new Set(seen)].join(" | ")}`);
}
const backTo = (page, name) => tabTo(page, name, "Shift+Tab");

// Chooses files in the dialog that the focused button opens.
async function choose(page, files) {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.keyboard.press("Enter")]);
  await chooser.setFiles(files);
}

const verdict = (page, name) => page.waitForSelector(`[data-testid=verdict]${name ? `[data-file="${name}"]` : ""}`);

export const waysIn = {
  async "takes photos by webcam, to teach and to try"({ page }) {
    const before = await countOf(page, "disc");
    await page.click('[aria-label="Take photos of disc by webcam"]');
    await page.waitForFunction(() => document.querySelector("dialog video")?.videoWidth > 0);
    await page.click('dialog button:has-text("Take a photo")');
    await page.waitForSelector('dialog :text-is("1 photo")');
    await counted(page, "disc", before + 1);
    await page.click('dialog button:text-is("Done")');
    await page.keyboard.press("Control+z");
    await counted(page, "disc", before);
    await page.click("[data-tab=try]");
    await page.click('.try button:text-is("Webcam")');
    await page.waitForFunction(() => document.querySelector("dialog video")?.videoWidth > 0);
    await page.click('dialog button:text-is("Take a photo")');
    await page.waitForSelector("dialog", { state: "detached" });
    const name = await (await verdict(page)).getAttribute("data-file");
    assert.match(name, /^webcam-\d+\.jpg$/);
  },
  async "takes folders and photos that are dropped"({ page }) {
    const classes = (await stateOf(page)).classes;
    for (const [name, pattern] of [["coins", "disc"], ["tiles", "checks"]]) {
      mkdirSync(join(scratch, "dropped", name), { recursive: true });
      for (const number of [1, 2]) writeFileSync(join(scratch, "dropped", name, `${number}.png`), picture(pattern, number + 50));
    }
    writeFileSync(join(scratch, "dropped", "notes.txt"), "no photo");
    await drop(page, ".classes .scroll", [join(scratch, "dropped")]);
    await counted(page, "tiles", 2);
    assert.equal((await stateOf(page)).classes, classes + 2);
    await drop(page, '[data-class="coins"]', [file("disc", 60), file("disc", 61)]);
    await counted(page, "coins", 4);
    // Photos without a folder ask for a name.
    await drop(page, "header", [file("ring", 62)]);
    await page.fill("dialog input", "coins");
    await page.keyboard.press("Enter");
    await counted(page, "coins", 5);
    await drop(page, ".try-area", [file("columns", 63)]);
    await verdict(page, "63.png");
    for (const name of ["coins", "tiles"]) await page.click(`[aria-label="Remove ${name}"]`);
    await page.waitForFunction((count) => document.querySelector("#classes-title .dim").textContent === String(count), classes);
  },
  async "takes the training part of a data set"({ page }) {
    for (const [number, [folder, pattern]] of [["train/coins", "disc"], ["train/tiles/one", "checks"], ["train/tiles/two", "checks"], ["test/coins", "disc"]].entries()) {
      mkdirSync(join(scratch, "parts", folder), { recursive: true });
      writeFileSync(join(scratch, "parts", folder, "1.png"), picture(pattern, 170 + number));
    }
    const before = (await stateOf(page)).classes;
    await page.setInputFiles('[data-testid="pick folder"]', join(scratch, "parts"));
    await page.waitForSelector('.notice:has-text("Added 3 photos to 2 classes. Left out 1 photo that is not in train. Took the 2 folders inside tiles as one class.")');
    assert.equal(await countOf(page, "tiles"), 2);
    for (const name of ["coins", "tiles"]) await page.click(`[aria-label="Remove ${name}"]`);
    await page.waitForFunction((count) => document.querySelector("#classes-title .dim").textContent === String(count), before);
  },
  async "takes what is pasted"({ page }) {
    const paste = (name, bytes) => page.evaluate(([called, base64]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], called, { type: "image/png" }));
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, [name, bytes.toString("base64")]);
    await paste("pasted.png", picture("cross", 70));
    await verdict(page, "pasted.png");
    const before = await countOf(page, "cross");
    await page.click('[data-class="cross"] .class-open');
    await page.waitForSelector("dialog .tile");
    await paste("pasted.png", picture("cross", 71));
    await counted(page, "cross", before + 1);
    // The same picture again is known.
    await paste("again.png", picture("cross", 71));
    await page.waitForSelector('.notice:has-text("1 was already in cross")');
    await page.keyboard.press("Escape");
    assert.equal(await countOf(page, "cross"), before + 1);
  },
  async "undoes and does again"({ page }) {
    const before = await countOf(page, "cross");
    await page.click('[aria-label="Undo"]');
    await counted(page, "cross", before - 1);
    await page.click('[aria-label="Redo"]');
    await counted(page, "cross", before);
    await page.keyboard.press("Control+z");
    await counted(page, "cross", before - 1);
    await page.keyboard.press("Control+Shift+Z");
    await counted(page, "cross", before);
    await page.keyboard.press("Control+y");  // there is nothing left to redo
    await page.keyboard.press("Control+z");
    await counted(page, "cross", before - 1);
  },
  async "says that it does not know"({ page }) {
    await ready(page, (await stateOf(page)).classes);  // of the project, since the model may still be one of before the last steps
    assert.equal((await stateOf(page)).model.rejects_unknown, true);
    for (const number of [1, 2, 3]) {
      writeFileSync(join(scratch, `unknown-${number}.png`), unknownPicture(number));
      await page.setInputFiles('[data-testid="pick try"]', join(scratch, `unknown-${number}.png`));
      const answer = await verdict(page, `unknown-${number}.png`);
      assert.match(await answer.textContent(), /^Unknown/);
    }
    await check(page, "unknown");
  },
  async "is used by the keyboard alone"({ page }) {
    await page.evaluate(() => document.activeElement?.blur());
    const before = (await stateOf(page)).classes;
    await tabTo(page, "Name of a new class");
    await page.keyboard.type("arrows");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[data-class="arrows"]');
    await tabTo(page, "arrows, 0 photos: open");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Add photos to arrows");
    await choose(page, [file("triangle", 80), file("triangle", 81), file("triangle", 82)]);
    await counted(page, "arrows", 3);
    await ready(page, before + 1);
    await backTo(page, "arrows, 3 photos: open");
    await page.keyboard.press("Enter");
    await tabTo(page, "80.png");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await tabTo(page, "82.png");
    await page.keyboard.press("Space");
    await tabTo(page, "Remove chosen");
    await page.keyboard.press("Enter");
    await counted(page, "arrows", 2);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await tabTo(page, "Choose photos…");
    await choose(page, [file("slopes", 83)]);
    await verdict(page, "83.png");
    await backTo(page, "Map");
    await page.keyboard.press("Enter");
    await page.waitForSelector("canvas.map");
    await page.focus("canvas.map");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => /, \d+ photos$/.test(document.querySelector(".side .hidden[aria-live]")?.textContent ?? ""));
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog .tile");
    await page.keyboard.press("Escape");
    await backTo(page, "Export");
    await page.keyboard.press("Enter");
    await tabTo(page, "Model card");
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    assert.ok(readFileSync(await download.path(), "utf8").includes("arrows"));
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Export");
    await page.click('[aria-label="Remove arrows"]');
    await page.waitForSelector('[data-class="arrows"]', { state: "detached" });
  },
  async "opens another project and comes back"({ page }) {
    const before = await stateOf(page);
    await openProject(page, "second", true);
    await page.waitForSelector(".empty");
    assert.equal((await stateOf(page)).project, "second");
    assert.equal((await stateOf(page)).classes, 0);
    assert.equal(await page.locator("[data-testid=verdict]").count(), 0);
    // A change for the first project is not made in this one.
    const late = await page.evaluate(async (project) => (await fetch("/api/change", { method: "POST", body: JSON.stringify({ action: "add_class", name: "late", project }) })).status, before.id);
    assert.equal(late, 409);
    faults.splice(0, faults.length, ...faults.filter((fault) => !/409/.test(fault)));
    assert.equal((await stateOf(page)).classes, 0);
    await page.click(".project-name");
    await check(page, "projects");
    await page.click('dialog .project-list button:text-is("patterns")');
    await page.waitForSelector('[data-class="disc"]');
    const after = await stateOf(page);
    assert.equal(after.revision, before.revision);
    assert.equal(after.photos, before.photos);
    faults.splice(0, faults.length, ...faults.filter((fault) => !/net::ERR/.test(fault)));
  },
};
