// Step time against memory of the plans that were simulated.
import { hint } from "../dom.js";
import { axis, legend } from "../figure.js";
import { bytes, byteTicks, time } from "../format.js";

/**
 * `front` and `others` [{name, step_time_s, peak_memory_bytes}], the front fastest first; `usable`
 * bytes of a device; `error`, the share below which the model does not tell plans apart.
 */
export function pareto({ front, others, usable, capacity, error }) {
  const point = (plan) => [plan.peak_memory_bytes, plan.step_time_s];
  const tied = front[0].step_time_s * (1 + error);
  const names = ["Front", "Other plans"];
  const sizes = [...front, ...others].map((plan) => plan.peak_memory_bytes);
  const option = ({ colours, narrow, width }) => ({
    legend: legend(colours, width, names).legend,
    grid: { top: 38, left: 24, right: 24, bottom: 46, containLabel: true },
    xAxis: axis(colours, { type: "value", name: "peak memory of one GPU", nameGap: 28, ...byteTicks(Math.min(...sizes), 1.01 * Math.max(capacity, ...sizes), narrow ? 3 : 6), axisLabel: { formatter: bytes, hideOverlap: true } }),
    yAxis: axis(colours, { type: "value", scale: true, name: narrow ? "" : "time of a step", nameGap: 56, axisLabel: { formatter: time } }),
    tooltip: {
      formatter: ({ seriesIndex, dataIndex }) => {
        const plan = (seriesIndex === 0 ? front : others)[dataIndex];
        return hint(plan.name, [["Step", time(plan.step_time_s)], ["Memory", bytes(plan.peak_memory_bytes)]]);
      },
    },
    series: [
      {
        name: "Front",
        type: "line",
        step: "start",
        symbolSize: 10,
        color: colours.list[0],
        data: front.map(point),
        markLine: {
          symbol: "none",
          silent: true,
          data: [{ xAxis: usable, lineStyle: { color: colours.bad, type: "dashed" }, label: { formatter: "usable memory", position: "insideEndTop", color: colours.bad } }],
        },
        markArea: {
          silent: true,
          itemStyle: { color: colours.list[2], opacity: 0.12 },
          label: { color: colours.soft, position: "insideTopRight", fontSize: 11 },
          data: [[{ name: narrow ? "" : "as fast as the best, within the model's error", yAxis: front[0].step_time_s }, { yAxis: tied }]],
        },
      },
      { name: "Other plans", type: "scatter", symbolSize: 8, color: colours.list[1], data: others.map(point) },
    ],
  });
  return {
    label: "Step time against memory",
    option,
    height: 380,
    caption: "Nothing that was simulated is both faster and smaller than a plan of the front. Plans in the band differ from the best by less than the model's own stated error: measure those before you decide between them.",
    figures: {
      caption: "The front, fastest first",
      columns: [{ name: "Plan" }, { name: "Step", number: true }, { name: "Memory", number: true }],
      rows: front.map((plan) => [plan.name, time(plan.step_time_s), bytes(plan.peak_memory_bytes)]),
    },
  };
}
