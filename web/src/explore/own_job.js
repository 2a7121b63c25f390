// A job of one's own: files that are dropped, opened or pasted, or forms; what the planner makes of them.
import { element, list, paragraph, table } from "../dom.js";
import { checkButton } from "./checked.js";
import { button } from "./controls.js";
import { ownFields } from "./own_fields.js";

const kCode = /^\s*(import|from|def|class)\s/m;

/** The name that a pasted text would have as a file, by which readers know its language. */
function nameOfText(text) {
  const start = text.trimStart();
  if (start.startsWith("{")) return "pasted.json";
  if (start.startsWith("#!") || /\s--[\w-]+[ =]/.test(text) || /^\s*(torchrun|srun|deepspeed|accelerate)\b/m.test(text)) return "pasted.sh";
  if (/^\s*\[[\w.-]+\]\s*$/m.test(text)) return "pasted.toml";
  return kCode.test(text) ? "pasted.py" : "pasted.yaml";
}

const place = ({ file, line }) => (file ? `${file}${line ? `:${line}` : ""}` : "");

const kLists = [
  [
    "read",
    "Read",
    [
      ["Setting", "name"],
      ["Value", "value"],
      ["Where", place],
      ["Sets", "field"],
    ],
  ],
  [
    "assumed",
    "Assumed",
    [
      ["Field", "field"],
      ["Value", "value"],
      ["Why", "why"],
    ],
  ],
  [
    "not_read",
    "Not read",
    [
      ["Setting", "name"],
      ["Value", "value"],
      ["Where", place],
      ["Changes the step", "matters"],
      ["Leaves out", "why"],
    ],
  ],
];

/**
 * A table of a list of an answer, folded; nothing of an empty list.
 * @param {any} answer
 * @param {any[]} list
 */
function folded(answer, [key, name, columns]) {
  const rows = answer[key];
  if (rows.length === 0) return undefined;
  const cell = (row, from) => String((typeof from === "function" ? from(row) : row[from]) ?? "");
  const shown = table({
    caption: name,
    columns: columns.map(([word]) => ({ name: word })),
    rows: rows.map((row) => columns.map(([, from]) => cell(row, from))),
  });
  return element("details", { class: "own-list" }, element("summary", {}, `${name}: ${rows.length}`), shown);
}

/** The facts of a model: [name, value]. */
function facts({ name, parameters, layers, hidden, heads, kv_heads: keys, ffn, vocabulary, experts }) {
  const rows = [
    ["Parameters", parameters.toLocaleString("en-US")],
    ["Layers", layers],
    ["Hidden size", hidden],
    ["Attention heads, key-value heads", `${heads}, ${keys}`],
    ["Feed-forward width", ffn],
    ["Vocabulary", vocabulary],
  ];
  if (experts) rows.push(["Experts, used per token", `${experts.count}, ${experts.top_k}`]);
  const shown = table({
    caption: `The model ${name}`,
    columns: [{ name: "Property" }, { name: "Value", number: true }],
    rows: rows.map(([word, value]) => [word, String(value ?? "")]),
  });
  return element("details", { class: "own-list" }, element("summary", {}, "The model as it was read"), shown);
}

const readAll = (files) => Promise.all([...files].map(async (file) => ({ name: file.name, text: await file.text() })));

/** The parts of the panel that take files: `files` of what was opened, dropped or pasted. */
function intake(changed) {
  const file = element("input", { type: "file", multiple: "", "aria-label": "Your files", class: "own-files" });
  const pasted = element("textarea", { rows: "3", spellcheck: "false", "aria-label": "Paste a file", placeholder: "or paste one here" });
  const part = element(
    "div",
    { class: "own-drop" },
    paragraph("Drop or open a config.json, a launch script, YAML, TOML, a job or a plan. Nothing leaves the browser."),
    file,
    pasted,
  );
  let files = [];
  const bring = async (given) => {
    files = await readAll(given);
    changed();
  };
  file.addEventListener("change", () => file.files.length > 0 && bring(file.files));
  pasted.addEventListener("change", () => changed());
  part.addEventListener("dragover", (event) => event.preventDefault());
  part.addEventListener("drop", (event) => {
    event.preventDefault();
    bring(event.dataTransfer.files);
  });
  const text = () => (pasted.value.trim() === "" ? [] : [{ name: nameOfText(pasted.value), text: pasted.value }]);
  return { part, files: () => [...files, ...text()] };
}

/**
 * The panel "Your own job". `ask(question)` asks the planner, `beside()` is the job in sight, and
 * `want(wish)` shows a plan or a job; a search takes the planner's `module`. `part`; `show(plan)` follows the plan in sight.
 */
export function ownJob(choices, { ask, module, beside, want }) {
  const said = element("div", { role: "status" });
  const failed = element("p", { class: "bad", role: "alert", hidden: "" });
  const fields = ownFields(choices);
  const source = intake(() => read());
  const tell = (failure) => {
    const placed = fields.tell(failure);
    failed.hidden = !failure || placed;
    failed.textContent = failed.hidden ? "" : failure.error;
    if (failure) said.replaceChildren(...(placed ? [paragraph("A field needs a change.", "bad")] : []));
  };
  const show = (answer) => {
    said.replaceChildren(
      ...[
        paragraph(`${answer.about}.`),
        answer.refused && paragraph(`It does not start: ${answer.refused}.`, "bad"),
        answer.notes.length > 0 && list(answer.notes),
        ...kLists.map((one) => folded(answer, one)),
        facts(answer.model),
      ].filter(Boolean),
    );
  };
  const read = async () => {
    const files = source.files();
    check.button.disabled = files.length === 0;
    check.clear();
    const answer = await ask({ ask: "import", files, given: fields.given(), beside: beside() });
    if (answer.error !== undefined) return tell(answer);
    tell();
    show(answer);
    return want({ plan: answer.plan ?? answer.job, name: files[0]?.name ?? "your job" });
  };
  const question = () => ({ files: source.files(), given: fields.given(), beside: beside() });
  const check = checkButton("these files", { module, question, want });
  check.button.disabled = true; // there are none yet
  const use = button("Plan this job", read);
  fields.part.addEventListener("change", () => source.files().length > 0 && read());
  const part = element(
    "details",
    { class: "group own-job" },
    element("summary", {}, "Your own job"),
    source.part,
    fields.part,
    element("div", { class: "controls" }, use, check.button),
    failed,
    said,
    check.told,
  );
  return {
    part,
    show: ({ job }) => {
      const { cluster } = job;
      if (!part.open) fields.choose(typeof cluster === "string" ? cluster.split(":")[0] : cluster.profile);
    },
  };
}
