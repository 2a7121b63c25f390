// Step time against memory of the plans that were simulated.
import { element, hint } from "../dom.js";
import { axis, legend } from "../figure.js";
import { bytes, byteTicks, time } from "../format.js";

const kMostNames = 9; // of points; more would lie over each other

/** Returns the line of the front, with the memory that is usable and the band of plans as fast as the best. */
function frontSeries({ front, usable, error }, colours, narrow) {
  return {
    name: "Front",
    type: "line",
    step: "start",
    symbolSize: 10,
    color: colours.list[0],
    data: front.map(pointOf),
    label: {
      show: !narrow && front.length <= kMostNames,
      position: [6, -13],
      color: colours.ink,
      fontSize: 10,
      formatter: ({ dataIndex }) => front[dataIndex].name,
    },
    labelLayout: { hideOverlap: true },
    markLine: {
      symbol: "none",
      silent: true,
      data: [
        {
          xAxis: usable,
          lineStyle: { color: colours.bad, type: "dashed" },
          label: { formatter: "usable memory", position: "insideEndTop", color: colours.bad },
        },
      ],
    },
    markArea: error > 0 && {
      silent: true,
      itemStyle: { color: colours.list[2], opacity: 0.12 },
      label: { color: colours.soft, position: "insideTopRight", fontSize: 11 },
      data: [
        [
          { name: narrow ? "" : "as fast as the best, within the model's error", yAxis: front[0].step_time_s },
          { yAxis: front[0].step_time_s * (1 + error) },
        ],
      ],
    },
  };
}

const pointOf = (plan) => [plan.peak_memory_bytes, plan.step_time_s];

/**
 * `front` and `others` [{name, words, step_time_s, peak_memory_bytes}], the front fastest first; `usable`
 * bytes of a device; `error`, the share below which the model does not tell plans apart. A click on a point opens its plan:
 * `open(plan)`, or its words below the picture.
 * @param {{front: any[], others: any[], usable: number, capacity: number, error?: number, open?: (plan: any) => void}} given
 * @returns {import("../types").Spec}
 */
export function pareto({ front, others, usable, capacity, error = 0, open }) {
  const told = element("p", { class: "pinned", role: "status" }, open ? "Click a point to open its plan." : "Click a point for its plan.");
  const show = (plan) =>
    told.replaceChildren(
      element("code", {}, plan.name),
      plan.words ? ` ${plan.words}` : "",
      ` Step ${time(plan.step_time_s)}, ${bytes(plan.peak_memory_bytes)}.`,
    );
  const names = ["Front", "Other plans"];
  const sizes = [...front, ...others].map((plan) => plan.peak_memory_bytes);
  const option = ({ colours, narrow, width }) => ({
    legend: legend(colours, width, names).legend,
    grid: { top: 38, left: 24, right: 24, bottom: 46, containLabel: true },
    xAxis: axis(colours, {
      type: "value",
      name: "peak memory of one GPU",
      nameGap: 28,
      ...byteTicks(Math.min(...sizes), 1.01 * Math.max(capacity, ...sizes), narrow ? 3 : 6),
      axisLabel: { formatter: bytes, hideOverlap: true },
    }),
    yAxis: axis(colours, { type: "value", scale: true, name: narrow ? "" : "time of a step", nameGap: 56, axisLabel: { formatter: time } }),
    tooltip: {
      formatter: ({ seriesIndex, dataIndex }) => {
        const plan = (seriesIndex === 0 ? front : others)[dataIndex];
        return hint(plan.name, [
          ["Step", time(plan.step_time_s)],
          ["Memory", bytes(plan.peak_memory_bytes)],
        ]);
      },
    },
    series: [
      frontSeries({ front, usable, error }, colours, narrow),
      { name: "Other plans", type: "scatter", symbolSize: 8, color: colours.list[1], data: others.map(pointOf) },
    ],
  });
  return {
    label: "Step time against memory",
    option,
    height: 380,
    caption: `No simulated plan is both faster and smaller than a plan of the front.${error > 0 ? " Plans in the band differ from the best by less than the model's own error: measure them before you choose." : ""}`,
    beside: () => [told],
    clicked: ({ seriesIndex, dataIndex }) => (open ?? show)((seriesIndex === 0 ? front : others)[dataIndex]),
    figures: {
      caption: "Plans that none beats in both time and memory, fastest first",
      columns: [{ name: "Plan" }, { name: "Step", number: true }, { name: "Memory", number: true }],
      rows: front.map((plan) => [plan.name, time(plan.step_time_s), bytes(plan.peak_memory_bytes)]),
    },
  };
}
