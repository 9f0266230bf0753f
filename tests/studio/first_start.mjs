// The first start: a project of emoji, a browser that inherits nothing, and a new project within a minute.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, home, opened, openProject, ready, stateOf, studioProcess, teach } from "./harness.mjs";
import { PATTERNS } from "./pictures.mjs";

const NAMES = Object.keys(PATTERNS);
const EMOJI = process.env.ANNULUS_TEST_EMOJI === "1";  // they were downloaded

// Fields of /proc/PID/stat from the third on: state, parent, group, session.
const statOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ");
  } catch {
    return [];  // it has ended
  }
};

export const firstStart = {
  async "opens a browser that has nothing of the studio's"({ address }) {
    for (const end = Date.now() + 60000; !existsSync(opened);) {
      assert.ok(Date.now() < end, "nothing was opened");
      await new Promise((done) => setTimeout(done, 20));
    }
    const [at, session, ...descriptors] = readFileSync(opened, "utf8").trim().split("\n");
    assert.equal(at, address);
    assert.notEqual(session, statOf(studioProcess())[3]);
    assert.deepEqual(descriptors.filter((line) => /socket:|pipe:|eventpoll|features/.test(line)), []);
    const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && statOf(name)[1] === String(studioProcess()));
    assert.deepEqual(children, []);
  },
  async "opens on emoji"({ page }) {
    if (!EMOJI) {
      console.log("  without emoji, which cannot be had");
      const { project, notice } = await stateOf(page);
      assert.equal(project, "my-photos");
      assert.match(notice, /could not be made/);
      return;
    }
    await page.waitForSelector('[data-class="avocado"] .covers img', { state: "attached" });
    const { project, classes, photos } = await stateOf(page);
    assert.equal(project, "emoji");
    assert.ok(classes >= 40 && photos === 3 * classes, `${classes} classes, ${photos} photos`);
  },
  async "ten classes from first start within a minute"({ page, started }) {
    await openProject(page, "patterns", true);
    for (const name of NAMES) await teach(page, name, [1, 2, 3]);
    await ready(page, 10);
    const seconds = (Date.now() - started) / 1000;
    console.log(`  ten classes taught and learnt ${seconds.toFixed(1)} s after the first start`);
    assert.ok(seconds < 60, `${seconds} s`);
  },
  async "knows the emoji"({ page }) {
    if (!EMOJI) return;
    await openProject(page, "emoji");
    const { classes } = await stateOf(page);
    await ready(page, classes);
    let right = 0;
    for (const name of ["avocado", "owl", "rocket"]) {
      const photo = join(home, "emoji", "photos", name, readdirSync(join(home, "emoji", "photos", name))[0]);
      await page.setInputFiles('[data-testid="pick try"]', photo);
      await page.waitForSelector(`[data-testid=verdict][data-file="${photo.split("/").at(-1)}"]`);
      if ((await page.textContent(".bar-name")) === name) ++right;
    }
    assert.equal(right, 3);
    await check(page, "emoji");
    await openProject(page, "patterns");
    await ready(page, 10);
  },
};
