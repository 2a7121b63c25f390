// The planner in a worker, so that the page stays alive while it thinks.
import { planner } from "./planner.js";

/** The module behind a stream of gzip. */
async function compiled(stream) {
  return WebAssembly.compile(await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

/** The module that is packed into the page: gzip, in base64. */
export async function unpacked(packed) {
  const letters = atob(packed);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return compiled(new Blob([bytes]).stream());
}

/** The module in a file beside the page, in gzip's format; a host may have unpacked it on the way. */
export async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} cannot be fetched (${answer.status})`);
  const bytes = await answer.arrayBuffer();
  const [first, second] = new Uint8Array(bytes, 0, 2);
  return first === 0x1f && second === 0x8b ? compiled(new Blob([bytes]).stream()) : WebAssembly.compile(bytes);
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
