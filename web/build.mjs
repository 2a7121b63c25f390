// Bundles src/ into one page without any reference to the outside: `node build.mjs [FILE]`.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const output = process.argv[2] ?? here("../stepwright/report/page.html");

async function bundled(entry) {
  const result = await build({
    entryPoints: [here(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2020",
    legalComments: "none",
  });
  return result.outputFiles[0].text.trim();
}

const [template, style, script] = await Promise.all([
  readFile(here("src/page.html"), "utf8"),
  bundled("src/page.css"),
  bundled("src/main.js"),
]);
// The page runs this script and no other, whatever the content holds.
const hash = createHash("sha256").update(script).digest("base64");
const parts = { STYLE: style, SCRIPT: script, HASH: hash };
await writeFile(
  output,
  template.replace(/@(STYLE|SCRIPT|HASH)@/g, (_, part) => parts[part]),
);
