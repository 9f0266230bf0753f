// build.mjs FOLDER: bundles the page into FOLDER: index.html, studio.js, studio.css.
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";

const folder = process.argv[2] ?? "built";
await mkdir(folder, { recursive: true });
await build({
  entryPoints: { studio: "src/main.tsx" },
  outdir: folder,
  bundle: true,
  minify: true,
  charset: "ascii",
  target: ["es2020"],
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
});
await build({ entryPoints: { studio: "src/studio.css" }, outdir: folder, bundle: true, minify: true, charset: "ascii" });
await copyFile("src/index.html", `${folder}/index.html`);
