import { breakdown } from "../charts/breakdown.js";
import { element, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, change, count, percent, time } from "../format.js";
import { notes, section } from "../section.js";
import { headline, planSections } from "./plan.js";

/** Before and after `--set`. */
function compared({ baseline, changed }) {
  const ratio = changed.step_time_s / baseline.step_time_s - 1;
  const row = (name, key, text) => [name, text(baseline[key]), text(changed[key]), change(changed[key] / baseline[key] - 1)];
  return section(
    "Before and after",
    "Before and after the change",
    paragraph(`A step takes ${time(changed.step_time_s)} instead of ${time(baseline.step_time_s)} (${change(ratio)}).`),
    table({
      caption: "Before and after",
      columns: [{ name: "" }, { name: "Before", number: true }, { name: "After", number: true }, { name: "Change", number: true }],
      rows: [
        row("Step", "step_time_s", time),
        row("Tokens/s of each GPU", "tokens_per_s_per_device", count),
        row("MFU", "mfu", percent),
        row("Peak memory", "peak_memory_bytes", bytes),
      ],
    }),
    figure(
      breakdown({
        label: "Time of the critical stage, before and after",
        rows: [
          { name: "before", breakdown: baseline.breakdown },
          { name: "after", breakdown: changed.breakdown },
        ],
      }),
    ),
  );
}

export function predictPage({ answer, pictures }) {
  const lead = element("p", { class: "lead" }, `The plan: ${pictures.name.words}. `, element("code", {}, pictures.name.code));
  return [
    lead,
    headline(pictures.prediction, pictures.whole_run),
    answer.baseline && compared(answer),
    ...planSections(pictures),
    notes(answer.notes),
  ];
}
