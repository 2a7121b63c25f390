// Asks an engine: node ask.mjs MODULE, a question a line on standard input, an answer a line out.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { planner } from "../../web/src/engine/planner.js";

const ask = await planner(await WebAssembly.compile(await readFile(process.argv[2])));
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(ask(JSON.parse(line))));
