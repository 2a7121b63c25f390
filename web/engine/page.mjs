// Puts the engine into the page, as the command puts its answers there: node page.mjs PAGE ENGINE OUT
import { readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const [page, engine, out] = process.argv.slice(2);
const packed = gzipSync(await readFile(engine), { level: 9 }).toString("base64");
const content = { stepwright: "report/1", command: "serve", title: "Explorer", engine: packed };
await writeFile(
  out,
  (await readFile(page, "utf8")).replace("@CONTENT@", () => JSON.stringify(content)),
);
