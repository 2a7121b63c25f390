// What `stepwright check` says of a job: whether it starts, whether it fits, and what would be faster.
import { element, paragraph, table } from "../dom.js";
import { bytes, percent, probability, time } from "../format.js";
import { section } from "../section.js";
import { button } from "./controls.js";
import { Search } from "./search.js";

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const starts = (answer) =>
  ({ true: "It starts.", false: "It does not start.", null: "Nobody knows whether it starts." })[String(answer.starts)];

/** The verdict in sentences. */
function verdict(answer) {
  const parts = [paragraph(starts(answer), answer.starts === false ? "bad" : undefined)];
  if (answer.step_time_s !== undefined) {
    const fits = { fits: "It fits", tight: "It is tight" }[answer.verdict] ?? "It does not fit";
    const range = `${time(answer.low_s)} to ${time(answer.high_s)} with a probability of 80%`;
    parts.push(paragraph(`${fits} (chance it fits: ${probability(answer.p_fits)}). A step takes ${time(answer.step_time_s)}, ${range}.`));
  }
  if (answer.fault) parts.push(paragraph(`The job ${answer.fault}.`, "bad"));
  return parts;
}

/** The changes towards the best plan, each after all above it. */
function gains({ gains: changes, gain }, take, what) {
  const lines = changes.some((change) => change.in_files.length > 0);
  const row = (change) => [
    change.set.join(", "),
    ...(lines ? [change.in_files.join("\n")] : []),
    change.gain_s > 0 ? time(change.gain_s) : "makes it fit",
    time(change.step_time_s),
    button("Take it with all above", () => take(change.plan)),
  ];
  const columns = [
    { name: "Change" },
    ...(lines ? [{ name: "In your files" }] : []),
    { name: "Saves", number: true },
    { name: "Step after it", number: true },
    { name: "" },
  ];
  return [
    paragraph(gain > 0 ? `A faster plan saves ${percent(gain)} of the step:` : "A plan of this job that fits:"),
    table({ caption: `Changes of ${what} towards the best plan`, columns, rows: changes.map(row) }),
  ];
}

function remedies({ remedies: list }, take, what) {
  const row = (remedy) => [
    capital(remedy.name),
    remedy.words.join("\n"),
    time(remedy.step_time_s),
    bytes(remedy.peak_memory_bytes),
    button("Take it", () => take(remedy.plan)),
  ];
  const columns = [
    { name: "Change" },
    { name: "In its files" },
    { name: "Step", number: true },
    { name: "Memory", number: true },
    { name: "" },
  ];
  return table({ caption: `Changes that let ${what} fit, the fastest of each kind`, columns, rows: list.map(row) });
}

/** The parts of an answer of `check` on `what`; `take(plan)` shows another plan. */
function checked(answer, take, what) {
  if (answer.error !== undefined) return [paragraph(answer.error, "bad")];
  const better = answer.gains.length > 0 ? gains(answer, take, what) : [answer.fits && paragraph("No faster plan of this job was found.")];
  return [...verdict(answer), ...better, answer.remedies.length > 0 && remedies(answer, take, what)].filter(Boolean);
}

/** A button that checks `what`, which `question()` holds: `button`, `told` with the answer, `clear()`. `want(wish)` shows another plan. */
export function checkButton(what, { module, question, want }) {
  const told = element("div", { role: "status" });
  const search = new Search(module, told);
  const check = async () => {
    const answer = await search.run(`Check ${what}`, { ask: "check", ...question() });
    told.replaceChildren(...checked(answer, (plan) => want({ plan }), what));
  };
  return {
    button: button(`Check ${what}`, check),
    told,
    clear: () => {
      search.stop();
      told.replaceChildren();
    },
  };
}

/** The part "Check": `show()` follows another plan in sight, `plan()`; `want(wish)` shows another. */
export function checkPart({ module, plan, want }) {
  const question = () => ({ text: JSON.stringify(plan()), name: "the plan" });
  const check = checkButton("this plan", { module, question, want });
  const about = paragraph("Does it start, does it fit, and what would be faster? A search of the job answers, as `stepwright check` does.");
  return {
    part: section("Check", "Before you queue it", about, element("div", { class: "controls" }, check.button), check.told),
    show: check.clear,
  };
}
