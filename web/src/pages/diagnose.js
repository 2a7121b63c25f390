// What happened to a job: findings with their evidence, causes and changes.
import { element, list, paragraph, table } from "../dom.js";
import { bytes, time } from "../format.js";
import { notes, section, tiles } from "../section.js";

const part = (title, lines) => (lines.length > 0 ? [element("h3", {}, title), list(lines)] : []);

/** A cause with its public source, the address in brackets at its end, as a link. */
const sourced = (cause) => {
  const [, text, address] = /^(.*) \((https:\/\/[^\s()]+)\)$/s.exec(cause) ?? [];
  return address ? element("span", {}, `${text} (`, element("a", { href: address, rel: "noreferrer" }, address), ")") : cause;
};

/** Ranks as "0-3, 7". */
const ranksText = (ranks) => {
  const runs = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last && rank === last[1] + 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
};
const place = ({ file, line, call }) => `${file}${line ? `:${line}` : ""}${call ? `, ${call}` : ""}`;

const finding = (found, i) =>
  section(
    `${i + 1}. ${found.kind}`,
    found.what,
    paragraph(`${found.kind}, ${place(found.where)}`),
    ...part("Evidence", found.evidence),
    ...part("Usual causes", found.causes.map(sourced)),
    ...part(
      "What to do",
      found.changes.map((change) => change.words),
    ),
  );

const files = (answer) =>
  section(
    "Files",
    "What was read",
    table({
      caption: "Files",
      columns: [{ name: "File" }, { name: "Kind" }, { name: "Ranks" }],
      rows: answer.files.map((file) => [file.path, file.what, ranksText(file.ranks)]),
    }),
  );

const planTiles = (plan) => [
  { name: "Predicted step", value: time(plan.step_time_s), rest: "of the plan beside the logs" },
  {
    name: "Measured step",
    value: plan.measured_step_time_s === null ? "unknown" : time(plan.measured_step_time_s),
    rest: "the median of steady steps",
  },
  { name: "Predicted peak", value: bytes(plan.peak_memory_bytes), rest: `of ${bytes(plan.capacity_bytes)}` },
];

export const diagnosePage = ({ answer }) => [
  tiles([
    { name: "Findings", value: String(answer.findings.length), rest: "the cause of the others first" },
    ...(answer.plan ? planTiles(answer.plan) : []),
  ]),
  ...answer.findings.map(finding),
  files(answer),
  notes(answer.notes),
];
