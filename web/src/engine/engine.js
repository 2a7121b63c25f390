// The planner in a worker, so that the page stays alive while it thinks.
import { unlzma } from "./lzma.js";
import { planner } from "./planner.js";

const kMagic = 0x6d736100; // "\0asm"

/** The module that is packed into bytes, or that they are: a host may have unpacked it on the way. */
const compiled = (bytes) => WebAssembly.compile(new DataView(bytes.buffer).getUint32(0, true) === kMagic ? bytes : unlzma(bytes));

/** The module that is packed into the page, in base64. */
export const unpacked = (packed) => compiled(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)));

/** The module in a file beside the page. */
export async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} cannot be fetched (${answer.status})`);
  return compiled(new Uint8Array(await answer.arrayBuffer()));
}

// A planner that failed where nothing should fail is made anew.
const kWork = `
const planner = ${planner};
let module;
let ask;
onmessage = async ({ data }) => {
  if (data.module) {
    module = data.module;
    return;
  }
  try {
    ask ??= await planner(module, (progress) => postMessage({ progress }));
    postMessage({ answer: ask(data) });
  } catch (error) {
    ask = undefined;
    postMessage({ answer: { error: "the planner stopped: " + error.message } });
  }
};`;

/** A planner of a module that answers one question after the other. */
export class Engine {
  constructor(module) {
    this.module = module;
  }

  /**
   * The answer to a question; `tell` hears how far a search is.
   * @param {object} question
   * @param {(progress: any) => void} tell
   */
  ask(question, tell = () => {}) {
    if (!this.worker) this.start();
    return new Promise((answered) => {
      this.waiting.push({ answered, tell });
      this.worker.postMessage(question);
    });
  }

  /** Leaves every question that is open without an answer. */
  stop() {
    this.worker?.terminate();
    this.worker = undefined;
  }

  start() {
    this.waiting = [];
    const file = URL.createObjectURL(new Blob([kWork], { type: "text/javascript" }));
    this.worker = new Worker(file);
    this.worker.postMessage({ module: this.module });
    this.worker.onmessage = ({ data }) => {
      if (data.progress) this.waiting[0].tell(data.progress);
      else this.waiting.shift().answered(data.answer);
    };
  }
}
