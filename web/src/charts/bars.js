// Horizontal bars: one row for each thing, one colour for each part of it.
import { hint } from "../dom.js";
import { axis, legend } from "../figure.js";
import { bytes, byteTicks } from "../format.js";

const kRow = 34;
const kPaperRow = 26;
const kNarrowRow = 48; // with the name above the bar
const kBar = 22;
const kLimitName = 15;

const sum = (row) => Object.values(row.values).reduce((all, value) => all + Math.max(value, 0), 0);

/** Lines with their names above the bars, one over the other. */
const limitLines = (limits, text, colours) => ({
  symbol: "none",
  silent: true,
  data: limits.map(({ name, value, colour }, i) => ({
    xAxis: value,
    lineStyle: { color: colour(colours), type: "dashed" },
    label: {
      formatter: `${name}: ${text(value)}`,
      position: "start",
      distance: 2 + kLimitName * i,
      align: "right",
      color: colour(colours),
    },
  })),
});

/** The parts of a row with their values. */
function rowHint(row, { parts, text, total }) {
  const lines = parts.filter(({ key }) => row.values[key]).map(({ key, name }) => [name, text(row.values[key])]);
  if (total) lines.push(["Total", text(total(row))]);
  return hint(row.name, lines);
}

/** The names of the rows, on a narrow screen above their bars. */
const rowLabel = (colours, narrow, longest) =>
  narrow
    ? { color: colours.ink, inside: true, align: "left", verticalAlign: "bottom", padding: [0, 0, kBar / 2 + 3, -4] }
    : { color: colours.ink, ...(longest > 50 ? { width: 360, overflow: "break", lineHeight: 15 } : {}) };

/**
 * `rows` [{name, values: {part: number}}], `parts` [{key, name, colour(colours)}], `text(number)`
 * for people, `unit` under the axis. Stacked, or with `stacked: false` side by side. `limits`
 * [{name, value, colour(colours)}] are lines across all rows.
 * @param {import("../types").Bars} given
 * @returns {import("../types").Spec}
 */
export function bars({ label, rows, parts, text, unit, caption, figures, stacked = true, total, limits = [] }) {
  const shown = parts.filter(({ key }) => rows.some(({ values }) => values[key]));
  const each = stacked ? kRow : kRow + 16 * (shown.length - 1);
  const names = shown.length > 1 ? shown.map(({ name }) => name) : [];
  const values = rows.map((row) => (stacked ? sum(row) : Math.max(0, ...Object.values(row.values))));
  const most = Math.max(...values, ...limits.map(({ value }) => value), 0);
  const longest = Math.max(...rows.map(({ name }) => name.length));
  const option = ({ colours, narrow, width }) => ({
    legend: legend(colours, width, names).legend,
    grid: {
      top: legend(colours, width, names).height + kLimitName * limits.length,
      left: 8,
      right: total ? (narrow ? 64 : 84) : 24,
      bottom: 44,
      containLabel: true,
    },
    xAxis: axis(colours, {
      type: "value",
      name: unit,
      nameGap: 28,
      ...(text === bytes ? byteTicks(0, most, narrow ? 3 : 6) : {}),
      splitNumber: narrow ? 3 : 5,
      axisLabel: { formatter: text, hideOverlap: true },
    }),
    yAxis: axis(colours, {
      type: "category",
      inverse: true,
      data: rows.map(({ name }) => name),
      axisTick: { show: false },
      axisLabel: rowLabel(colours, narrow, longest),
      z: 10,
    }),
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: ([first]) => rowHint(rows[first.dataIndex], { parts: shown, text, total }),
    },
    series: shown.map(({ key, name, colour }, i) => ({
      name,
      type: "bar",
      stack: stacked ? "all" : undefined,
      markLine: i === 0 && limits.length > 0 ? limitLines(limits, text, colours) : undefined,
      barMaxWidth: kBar,
      data: rows.map(({ values }) => {
        const value = values[key] ?? 0;
        return colour.length > 1 ? { value, itemStyle: { color: colour(colours, value) } } : value;
      }),
      itemStyle: { color: colour(colours, 0), borderColor: colours.paper, borderWidth: 0.5 },
      label:
        total && i === shown.length - 1
          ? { show: true, position: "right", color: colours.ink, formatter: ({ dataIndex }) => text(total(rows[dataIndex])) }
          : undefined,
    })),
  });
  const height = (_, narrow, paper) =>
    56 + kLimitName * limits.length + rows.length * (each + (narrow ? kNarrowRow - kRow : paper ? kPaperRow - kRow : 0));
  return { label, option, rows: true, height, names, caption, figures };
}
