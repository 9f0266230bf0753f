// smoothness.mjs ADDRESS CHROMIUM: scrolls through all classes of a running studio and tells how long the page was busy. By hand; docs/studio.md has a result.
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_PATH ?? ".", "x.js"));
const { chromium } = require("playwright-core");
const [address, browserPath] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(address);
await page.waitForSelector(".covers img");
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");
const busy = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
const before = await busy();
const result = await page.evaluate(async () => {
  const long = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration))).observe({ entryTypes: ["longtask"] });
  const box = document.querySelector(".classes .scroll");
  const frames = [];
  const began = performance.now();
  let last = began;
  for (let top = 0; top < box.scrollHeight - box.clientHeight; top += 240) {
    box.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(done));
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  frames.sort((a, b) => a - b);
  const at = (share) => frames[Math.floor(share * (frames.length - 1))].toFixed(1);
  return { seconds: ((last - began) / 1000).toFixed(1), frames: frames.length, median: at(0.5), p95: at(0.95), worst: at(1), long_tasks: long.length,
           longest: Math.max(0, ...long).toFixed(0), nodes: document.querySelectorAll("*").length };
});
const after = await busy();
result.scripting_seconds = (after.ScriptDuration - before.ScriptDuration).toFixed(2);
result.layout_seconds = (after.LayoutDuration - before.LayoutDuration + after.RecalcStyleDuration - before.RecalcStyleDuration).toFixed(2);
console.log(JSON.stringify(result));
await browser.close();
