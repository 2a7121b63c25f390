// Where the time of a step goes: one row for each plan or stage.
import { time } from "../format.js";
import { timeTerms, waits } from "../terms.js";
import { bars } from "./bars.js";

const kHatched = "Hatched is time in which nothing is computed.";

/**
 * `rows` [{name, breakdown}].
 * @param {{label: string, rows: any[], caption?: string}} given
 */
export function breakdown({ label, rows, caption }) {
  const used = timeTerms.filter(([, , seconds]) => rows.some((row) => seconds(row.breakdown) > 0));
  const sum = (row) => timeTerms.reduce((all, [, , seconds]) => all + seconds(row.breakdown), 0);
  const made = rows.map((row) => ({ ...row, values: Object.fromEntries(used.map(([kind, , seconds]) => [kind, seconds(row.breakdown)])) }));
  return bars({
    label,
    rows: made,
    parts: used.map(([kind, name]) => ({
      key: kind,
      name,
      colour: (colours) => (waits.includes(kind) ? colours.waiting(kind) : colours.of(kind)),
    })),
    text: time,
    unit: "time (s)",
    total: sum,
    caption: caption ? `${caption} ${kHatched}` : kHatched,
    figures: {
      caption: `${label}, by kind`,
      columns: [{ name: "" }, ...used.map(([, name]) => ({ name, number: true })), { name: "Step", number: true }],
      rows: rows.map((row) => [row.name, ...used.map(([, , seconds]) => time(seconds(row.breakdown))), time(sum(row))]),
    },
  });
}
