// The best plan for each value of a field.
import { count, percent, time } from "../format.js";
import { lines } from "./lines.js";

const figures = {
  step_time_s: { name: "Time of a step", text: time },
  mfu: { name: "MFU", text: percent },
  days: { name: "Days of the whole run", text: (days) => `${days.toPrecision(3)} days` },
  gpu_hours: { name: "GPU-hours of the whole run", text: count },
  cost: { name: "Cost of the whole run", text: count },
};

/** `sweep` of the answer; `names` of its plans in the same order. One view for each figure. */
export function sweepView(sweep, names, field) {
  const points = sweep.map((point, i) => ({ ...point, name: names[i]?.code ?? point.refused }));
  const found = points.filter((point) => point.step_time_s !== undefined);
  const choices = Object.entries(figures)
    .filter(([key]) => found.some((point) => point[key] !== undefined))
    .map(([value, { name }]) => ({ value, name }));
  const draw = (key) => ({
    ...lines({
      label: `${figures[key].name} for each ${field}`,
      curves: [{ name: "best plan", points: points.map((point) => [String(point.value), point.fits ? (point[key] ?? null) : null]) }],
      x: { name: field, names: points.map(({ value }) => String(value)) },
      y: figures[key],
    }),
    caption: found.every(({ fits }) => fits) ? undefined : "Where no plan fits in memory there is no point.",
    figures: {
      caption: `Best plans by ${field}`,
      columns: [{ name: field }, { name: "Plan" }, ...choices.map(({ name }) => ({ name, number: true }))],
      rows: points.map((point) => [
        String(point.value),
        point.name + (point.fits === false ? " (does not fit)" : ""),
        ...choices.map(({ value }) => (point[value] === undefined ? "" : figures[value].text(point[value]))),
      ]),
    },
  });
  return { choices, draw };
}
