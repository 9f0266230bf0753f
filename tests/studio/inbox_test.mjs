// inbox_test.mjs ANNULUS CHROMIUM [PICTURES]: sorts a thousand photos without labels as a person would, and counts every click and key.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeHeap } from "./heap.mjs";
import { browserPath, check, chromium, dismissAll, end, faults, open, openProject, scratch, startFirst, stateOf, watch } from "./harness.mjs";

const NAMES = ["airplane", "avocado", "banana", "bicycle", "butterfly", "cactus", "camera", "cherries", "crown", "elephant", "fire", "ghost", "guitar", "key", "mushroom", "octopus", "penguin", "pizza", "rocket", "snowman"];
const EACH = 50;
const MOST_CLICKS = 80;
const LEAST_RIGHT = 0.95;
const cache = process.env.ANNULUS_CACHE || join(process.env.XDG_CACHE_HOME || join(process.env.HOME, ".cache"), "annulus");

const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const groupOf = (page, key) => page.evaluate(async (wanted) => (await fetch(`/api/inbox/group?key=${encodeURIComponent(wanted)}`)).json(), key);
const listOf = (page) => page.evaluate(async () => (await fetch("/api/inbox")).json());

// Whoever clicks and presses keys; each letter of a name that is typed counts.
class Person {
  constructor(page) { this.page = page; this.count = 0; this.log = []; }
  async click(selector) { ++this.count; await this.page.click(selector); }
  async press(key) { ++this.count; await this.page.keyboard.press(key); }
  async type(text) { this.count += text.length; await this.page.keyboard.type(text); }
}

// Until nothing is computed and the page shows the latest groups.
async function quiet(page) {
  for (let calm = 0, end = Date.now() + 600000; calm < 2;) {
    assert.ok(Date.now() < end, `still busy: ${JSON.stringify(await stateOf(page))}`);
    await sleep(150);
    const { work, inbox, waiting, model, error } = await stateOf(page);
    assert.equal(error, "");
    const { ungrouped } = await listOf(page);
    calm = work.stage === "" && waiting === 0 && inbox.waiting === 0 && ungrouped === 0 && (!model || model.current) ? calm + 1 : 0;
  }
  await sleep(100);
}

function majority(photos, truth) {
  const counts = new Map();
  for (const { id } of photos) counts.set(truth.get(id), (counts.get(truth.get(id)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0];
}

// Looks at the group that is shown, and names all of it after what most of its photos are. Before a name is typed, the model may learn what was
// sorted so far: it may suggest the class by then.
async function sortGroup(person, truth, patient = true) {
  const { page } = person;
  const key = await page.getAttribute(".inbox-row.shown", "data-group");
  const { suggestion, likely, photos } = await groupOf(page, key);
  if (photos.length === 0) return sleep(50);  // the page is about to show another
  const [name, count] = majority(photos, truth);
  const digit = likely.findIndex((one) => one.name === name);
  const before = { count: person.count, photos: (await stateOf(page)).inbox.photos };
  await page.waitForFunction((id) => document.querySelector(`.inbox-tiles [data-photo="${id}"]`), photos[0].id);
  if (name === suggestion) {
    await person.press("Enter");
  } else if (digit >= 0) {
    await person.press(String(digit + 1));
  } else if (patient && (await stateOf(page)).classes > 1) {
    await quiet(page);
    return sortGroup(person, truth, false);
  } else {
    await person.press("n");
    await person.type(name);
    await person.press("Enter");
  }
  person.log.push(`${key}: ${count} of ${photos.length} are ${name}, suggested ${suggestion || "nothing"}, ${person.count - before.count} keys`);
  for (const end = Date.now() + 60000, left = async () => (await stateOf(page)).inbox.photos; (await left()) >= before.photos;) {
    assert.ok(Date.now() < end, `${key} was not sorted`);
    await sleep(20);
  }
  await page.waitForFunction((id) => !document.querySelector(`.inbox-tiles [data-photo="${id}"]`), photos[0].id);
}

// Sorts everything; returns the fraction that is in the right class.
async function sortHeap(page, files, truth, look = async () => {}) {
  const person = new Person(page);
  await person.click("[data-tab=inbox]");
  ++person.count;  // the dialog's choice of all files
  await page.setInputFiles('[data-testid="pick inbox"]', files);
  await page.waitForFunction((photos) => document.querySelector("[data-testid=inbox-left]")?.textContent.startsWith(photos), files.length.toLocaleString("en"), { timeout: 600000 });
  await quiet(page);
  await dismissAll(page);
  await look();
  try {
    while ((await stateOf(page)).inbox.photos > 0) {
      await sortGroup(person, truth);
    }
  } finally {
    if (process.env.ANNULUS_TEST_LOG) for (const line of person.log) console.log(`    ${line}`);
  }
  let right = 0;
  for (const name of NAMES) {
    for (let offset = 0, total = 1; offset < total; offset += 500) {
      const list = await page.evaluate(async ([wanted, at]) => (await fetch(`/api/photos?limit=500&offset=${at}&class=${encodeURIComponent(wanted)}`)).json(), [name, offset]);
      total = list.total;
      right += list.photos.filter(({ id }) => truth.get(id) === name).length;
    }
  }
  return { right: right / files.length, clicks: person.count };
}

const chosen = (page) => page.locator('.inbox-tiles .tile[aria-pressed="true"]').count();
async function left(page, photos) {
  for (const end = Date.now() + 60000; ;) {
    const { inbox } = await stateOf(page);
    if (inbox.photos === photos) return;
    assert.ok(Date.now() < end, `${inbox.photos} photos are left, not ${photos}`);
    await sleep(20);
  }
}

// Chooses photos in every way, sets some aside, labels the next one, and undoes all of it.
async function triesEverything(page) {
  const all = (await stateOf(page)).inbox.photos;
  await page.waitForSelector(".inbox-tiles .tile >> nth=7");
  await page.click(".inbox-tiles .tile >> nth=1");
  await page.click(".inbox-tiles .tile >> nth=5", { modifiers: ["Shift"] });
  assert.equal(await chosen(page), 5);
  await page.keyboard.press("Escape");
  assert.equal(await chosen(page), 0);
  const from = await page.locator(".inbox-tiles .tile >> nth=0").boundingBox();
  await page.mouse.move(from.x + 20, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 60);
  await page.mouse.move(from.x + 150, from.y + 30);
  await page.mouse.up();
  assert.equal(await chosen(page), 2);
  await page.keyboard.press("u");
  await left(page, all - 2);
  assert.equal((await stateOf(page)).inbox.unknown, 2);
  await page.keyboard.press("Control+z");
  await left(page, all);
  await page.click('.inbox-modes button:text-is("Label next")');
  await page.waitForSelector(".inbox-photo");
  const first = await page.getAttribute(".inbox-next", "data-next");
  await check(page, "inbox-next");
  await page.keyboard.press("n");
  await page.keyboard.type("first");
  await page.keyboard.press("Enter");
  await left(page, all - 1);
  await page.waitForFunction((gone) => document.querySelector(".inbox-next")?.dataset.next !== gone, first);
  await page.keyboard.press("Control+z");
  await left(page, all);
  await page.click('.inbox-modes button:text-is("Groups")');
  await quiet(page);
  await dismissAll(page);
}

async function looksRight(browser, page) {
  await check(page, "inbox-light");
  await page.click('[aria-label="Dark colours"]');
  await check(page, "inbox-dark");
  await page.click('[aria-label="Light colours"]');
  await page.evaluate(() => document.activeElement.blur());  // Enter is for the group again
  for (const colorScheme of ["light", "dark"]) {
    const phone = await browser.newContext({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, colorScheme });
    await phone.addCookies(await page.context().cookies());
    const small = await phone.newPage();
    watch(small, new URL(page.url()).origin);
    await small.goto(page.url());
    await small.click("[data-tab=inbox]");
    await small.waitForSelector(".inbox-tiles .tile");
    await check(small, `phone-inbox-${colorScheme}`);
    await small.click('.inbox-modes button:text-is("Label next")');
    await small.waitForSelector(".inbox-photo");
    await check(small, `phone-inbox-next-${colorScheme}`);
    await phone.close();
  }
}

let browser = null;
try {
  const address = await startFirst();
  browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
  const artist = await (await browser.newContext()).newPage();
  const { files, truth } = await makeHeap(artist, join(scratch, "heap"), cache, NAMES, EACH);
  await artist.context().close();
  const page = await open(browser, address);
  const known = await sortHeap(page, files, truth, () => looksRight(browser, page));
  console.log(`ok first start: ${(100 * known.right).toFixed(1)} % of ${files.length} photos right after ${known.clicks} clicks and keys`);
  await openProject(page, "empty", true);
  const fresh = await sortHeap(page, files, truth, () => triesEverything(page));
  console.log(`ok a project without classes: ${(100 * fresh.right).toFixed(1)} % right after ${fresh.clicks} clicks and keys, ${NAMES.join("").length} of them the letters of the names`);
  assert.ok(known.right >= LEAST_RIGHT && known.clicks <= MOST_CLICKS, "first start");
  assert.ok(fresh.right >= LEAST_RIGHT, "a project without classes");
  assert.deepEqual(faults, []);
} catch (error) {
  console.log(`FAILED ${error.stack ?? error}`);
  for (const fault of faults) console.log(`  ${fault}`);
  process.exitCode = 1;
} finally {
  await browser?.close();
  end();
  rmSync(scratch, { recursive: true, force: true });
}
