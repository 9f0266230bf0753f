// Starts the studio and waits for the address that it prints.
import { spawn } from "node:child_process";
import { join } from "node:path";

// On a project or none, without a browser.
export const launch = (program, words, home) => launchWith(program, [...words, "--home", home, "--cache", join(home, "features"), "--no-open"]);

// The process, and a promise of its address.
export function launchWith(program, words, environment = process.env) {
  const studio = spawn(program, ["studio", ...words], { stdio: ["ignore", "pipe", "inherit"], env: environment });
  const address = new Promise((done, bad) => {
    let text = "";
    studio.stdout.on("data", (data) => {
      text += data;
      const found = /http:\S+/.exec(text);
      if (found) done(found[0]);
    });
    studio.on("exit", (code) => bad(new Error(`annulus studio ended with ${code}`)));
  });
  return { studio, address };
}
