// The planner, compiled to WebAssembly with interfaces of WASI.

/**
 * Makes a planner of a compiled module: a function that answers a question with an object, as
 * `explore` of stepwright/explore/explore.h does, or with {error}. `tell` hears how far a search is:
 * {simulating, done, most}. It stands alone: a worker is made of its text.
 * @param {WebAssembly.Module} module
 * @param {(progress: object) => void} tell
 */
export async function planner(module, tell = () => {}) {
  const bytes = () => new Uint8Array(made.exports.memory.buffer);
  const numbers = () => new DataView(made.exports.memory.buffer);
  const kNotHere = 52; // of WASI's errors: no such function
  const offered = {
    clock_time_get: (clock, precision, at) => {
      numbers().setBigUint64(at, BigInt(Math.round(1e6 * performance.now())), true);
      return 0;
    },
    environ_sizes_get: (count, size) => {
      numbers().setUint32(count, 0, true);
      numbers().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    // The folder from which paths start; there are no files in it.
    __syscall_getcwd: (at) => {
      bytes().set([0x2f, 0], at);
      return 2;
    },
    emscripten_notify_memory_growth: () => {},
    proc_exit: (code) => {
      throw new Error(`it ended with code ${code}`);
    },
    tell: (simulating, done, most) => tell({ simulating: simulating !== 0, done, most }),
  };
  // There are no files, and none of the rest is called: what asks for it is told so.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = offered[name] ?? (() => (from === "env" ? -kNotHere : kNotHere));
  }
  /** @type {any} */
  const made = await WebAssembly.instantiate(module, imports);
  const { _initialize, malloc, free, ask } = made.exports;
  _initialize?.();
  return (question) => {
    const text = new TextEncoder().encode(`${JSON.stringify(question)}\0`);
    const at = malloc(text.length);
    bytes().set(text, at);
    const answer = ask(at);
    free(at);
    const rest = bytes().subarray(answer);
    const told = JSON.parse(new TextDecoder().decode(rest.subarray(0, rest.indexOf(0))));
    free(answer);
    return told;
  };
}
