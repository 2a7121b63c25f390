// Predicted against measured.
import { hint } from "../dom.js";
import { axis, legend } from "../figure.js";
import { change } from "../format.js";

const kGroups = 7;

/** The points of each source, the sources with the most first; the rest are "others". */
function grouped(points) {
  const sizes = new Map();
  for (const { group } of points) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const large = [...sizes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, kGroups)
    .map(([group]) => group);
  const groups = sizes.size > kGroups ? [...large, "others"] : large;
  const of = Object.fromEntries(groups.map((group) => [group, []]));
  for (const point of points) of[large.includes(point.group) ? point.group : "others"].push(point);
  return { groups, of };
}

/** `points` [{id, group, measured, predicted, error}]. */
export function measured({ points, text, what }) {
  const { groups, of } = grouped(points);
  const all = points.flatMap((point) => [point.measured, point.predicted]).filter((value) => value > 0);
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  const most = all.reduce((a, b) => Math.max(a, b), 0);
  const line = (factor, type) => [{ coord: [least, least * factor], lineStyle: { type } }, { coord: [most, most * factor] }];
  const ends = {
    type: "log",
    min: least / 1.2,
    max: most * 1.2,
    axisLabel: { formatter: text, hideOverlap: true, showMinLabel: false, showMaxLabel: false },
  };
  const option = ({ colours, narrow, width }) => ({
    legend: legend(colours, width, groups).legend,
    grid: { top: legend(colours, width, groups).height + 8, left: 24, right: 20, bottom: 46, containLabel: true },
    xAxis: axis(colours, { ...ends, name: `measured ${what}`, nameGap: 28, splitNumber: narrow ? 3 : 5 }),
    yAxis: axis(colours, { ...ends, name: narrow ? "" : `predicted ${what}`, nameGap: 60 }),
    tooltip: {
      formatter: ({ seriesName, dataIndex }) => {
        const point = of[seriesName]?.[dataIndex];
        return (
          point &&
          hint(point.id, [
            ["Measured", text(point.measured)],
            ["Predicted", text(point.predicted)],
            ["Error", change(point.error)],
            ["Source", point.group],
          ])
        );
      },
    },
    series: groups.map((group, i) => ({
      name: group,
      type: "scatter",
      symbolSize: 6,
      color: colours.list[i % colours.list.length],
      itemStyle: { opacity: 0.75 },
      data: of[group].map((point) => [point.measured, point.predicted]),
      markLine:
        i === 0
          ? {
              silent: true,
              symbol: "none",
              label: { show: false },
              lineStyle: { color: colours.soft },
              data: [line(1, "solid"), line(1.1, "dotted"), line(1 / 1.1, "dotted")],
            }
          : undefined,
    })),
  });
  return {
    label: `Predicted against measured ${what}`,
    option,
    names: groups,
    height: (width) => Math.min(Math.max(360, width * 0.62), 560),
    caption: "On the solid line the prediction is right; between the dotted ones it is at most 10% off.",
  };
}
