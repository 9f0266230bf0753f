// Starts the studio on a project and waits for the address that it prints.
import { spawn } from "node:child_process";
import { join } from "node:path";

// The process, and a promise of its address.
export function launch(program, project, home) {
  const studio = spawn(program, ["studio", project, "--home", home, "--cache", join(home, "features"), "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
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
