import { bars } from "../charts/bars.js";
import { measured } from "../charts/measured.js";
import { element, list, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, change, count, percent, time, words } from "../format.js";
import { chosenFigure, section, tiles } from "../section.js";

const kMostGroups = 24;
const kSlight = 0.05;
const what = { training_runs: ["step time", time], memory: ["peak memory", bytes] };

function groups(answer) {
  const keys = Object.keys(answer).filter((key) => key.startsWith("by_"));
  return {
    choices: keys.map((value) => ({ value, name: words(value.slice(3)).toLowerCase() })),
    draw: (key) => {
      const all = Object.entries(answer[key]).sort((a, b) => b[1].used - a[1].used);
      return bars({
        label: `Median error of each ${words(key.slice(3)).toLowerCase()}`,
        rows: all
          .slice(0, kMostGroups)
          .map(([name, group]) => ({
            name: `${name} (${count(group.used)})`,
            values: { median: group.median_abs_error, more: group.p90_abs_error - group.median_abs_error },
          })),
        parts: [
          { key: "median", name: "Largest error of half of the rows", colour: (colours) => colours.list[0] },
          { key: "more", name: "Largest error of nine rows in ten", colour: (colours) => colours.list[5] },
        ],
        text: percent,
        unit: "error, as a share of what was measured",
        caption: "Largest groups first, with the number of their rows.",
        figures: {
          caption: `Errors by ${words(key.slice(3)).toLowerCase()}`,
          columns: [
            { name: "" },
            { name: "Rows", number: true },
            { name: "Median", number: true },
            { name: "Mean", number: true },
            { name: "Error of 9 in 10, at most", number: true },
            { name: "Bias", number: true },
            { name: "Within 10%", number: true },
          ],
          rows: all.map(([name, group]) => [
            name,
            count(group.used),
            percent(group.median_abs_error),
            percent(group.mean_abs_error),
            percent(group.p90_abs_error),
            change(group.mean_signed_error),
            percent(group.within_10_percent),
          ]),
        },
      });
    },
  };
}

/** The mean error with its sign, and what the sign means. */
function bias({ kind, mean_signed_error: error }) {
  const [less, more] = kind === "memory" ? ["too little memory", "too much memory"] : ["too fast", "too slow"];
  const size = Math.abs(error) < kSlight ? "slightly " : "";
  return {
    name: "Bias",
    value: change(error),
    rest: error === 0 ? "predicts neither too much nor too little" : `predicts ${size}${error < 0 ? less : more}`,
  };
}

function chosen(choices) {
  return section(
    "Choices",
    "Does it choose the fastest plan?",
    list([
      `${count(choices.groups)} groups of runs differ only in the plan; in ${count(choices.best_chosen)} of them the plan predicted fastest was also measured fastest.`,
      `The plan predicted fastest was slower than the fastest measured by ${percent(choices.mean_regret)} on average (median ${percent(choices.median_regret)}, worst ${percent(choices.worst_regret)}).`,
    ]),
  );
}

function labels(told) {
  return section(
    "Fits",
    "Does it tell whether a run fits?",
    paragraph(
      `${count(told.right)} verdicts are right and ${count(told.wrong)} wrong. Of those predicted more than 5% of the capacity away from the limit, ${count(told.clear_right)} are right and ${count(told.clear_wrong)} wrong. ${count(told.fits_called_oom)} runs that fitted were predicted to run out of memory; ${count(told.oom_called_fits)} that ran out of memory were predicted to fit.`,
    ),
  );
}

export function validatePage({ answer, pictures }) {
  const [name, text] = what[answer.kind] ?? ["time", time];
  const points = answer.results
    .filter((row) => row.measured > 0 && row.predicted > 0)
    .map((row) => ({ id: row.id, group: row.source ?? "", measured: row.measured, predicted: row.predicted, error: row.error }));
  const thinned =
    answer.results.length < pictures.results
      ? ` The picture shows ${count(answer.results.length)} of ${count(pictures.results)} results, evenly spread over the file.`
      : "";
  const skipped = Object.entries(answer.skipped).sort((a, b) => b[1] - a[1]);
  return [
    element(
      "p",
      { class: "lead" },
      `${count(answer.used)} of ${count(answer.rows)} rows were predicted and compared with what was measured.`,
    ),
    answer.median_abs_error === undefined || answer.median_abs_error === null
      ? undefined
      : tiles([
          { name: "Median error", value: percent(answer.median_abs_error) },
          { name: "Error of 9 in 10 rows, at most", value: percent(answer.p90_abs_error) },
          { name: "Within 10%", value: percent(answer.within_10_percent), rest: "of the rows" },
          bias(answer),
        ]),
    points.length > 0
      ? section(
          "Measured",
          `Predicted against measured ${name}`,
          paragraph(`Each point is a row of the file.${thinned}`),
          figure(measured({ points, text, what: name })),
        )
      : undefined,
    answer.choices?.groups > 0 ? chosen(answer.choices) : undefined,
    answer.labels && labels(answer.labels),
    section("Groups", "Where it is right and where it is not", chosenFigure("By", groups(answer))),
    skipped.length > 0
      ? section(
          "Left out",
          "What was left out and why",
          table({
            caption: "Rows that were not predicted",
            columns: [{ name: "Rows", number: true }, { name: "Why" }],
            rows: skipped.map(([why, rows]) => [count(rows), why]),
          }),
        )
      : undefined,
  ];
}
