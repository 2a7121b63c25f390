// Curves over one variable.
import { hint } from "../dom.js";
import { axis, legend } from "../figure.js";

/**
 * `curves` [{name, points [[x, y]], dashed}], `x` and `y` {name, text(number), log}. Points that a
 * logarithm does not know are left out.
 * @param {import("../types").Lines} given
 * @returns {import("../types").Spec}
 */
export function lines({ label, curves, x, y, caption, height = 340, figures, steps }) {
  const drawable = ([at, value]) => value === null || ((!x.log || at > 0) && (!y.log || value > 0));
  const names = curves.length > 1 ? curves.map(({ name }) => name) : [];
  const option = ({ colours, narrow, width }) => ({
    legend: legend(colours, width, names).legend,
    grid: { top: legend(colours, width, names).height + 6, left: 46, right: 20, bottom: 46, containLabel: true },
    xAxis: axis(colours, {
      type: x.names ? "category" : x.log ? "log" : "value",
      data: x.names,
      logBase: x.base ?? 10,
      name: x.name,
      nameGap: 28,
      min: x.log || x.tight ? "dataMin" : undefined,
      max: x.log || x.tight ? "dataMax" : undefined,
      splitNumber: narrow ? 3 : 6,
      axisLabel: { formatter: x.names ? undefined : x.text, hideOverlap: true },
    }),
    yAxis: axis(colours, {
      type: y.log ? "log" : "value",
      name: narrow ? "" : y.name,
      nameGap: 74,
      axisLabel: { formatter: y.text, hideOverlap: true },
    }),
    tooltip: {
      trigger: "axis",
      formatter: (points) => {
        const at = points[0];
        const heading = x.names ? at.name : (x.text ?? String)(at.value[0]);
        return hint(
          heading,
          points
            .filter(({ value }) => (Array.isArray(value) ? value[1] : value) !== null)
            .map(({ seriesName, value }) => [seriesName, y.text(Array.isArray(value) ? value[1] : value)]),
        );
      },
    },
    series: curves.map(({ name, points, dashed }, i) => ({
      name,
      type: "line",
      step: steps,
      symbolSize: 7,
      connectNulls: false,
      color: dashed ? colours.ink : colours.list[i % colours.list.length],
      lineStyle: { type: dashed || i >= colours.list.length ? "dashed" : "solid", width: 2 },
      data: points.filter(drawable),
    })),
  });
  const own = {
    caption: `${label}: figures`,
    columns: [{ name: "Curve" }, { name: x.name, number: true }, { name: y.name, number: true }],
    rows: curves.flatMap(({ name, points }) =>
      points.filter(([, value]) => value !== null).map(([at, value]) => [name, x.names ? String(at) : x.text(Number(at)), y.text(value)]),
    ),
  };
  return { label, option, height, names, caption, figures: figures ?? own };
}
