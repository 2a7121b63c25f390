// Bars over time in rows: the timeline of a step.
import { hint } from "../dom.js";
import { time, words } from "../format.js";
import { axis, legend } from "../figure.js";

const kRow = 22;
const kLetter = 7.2; // of a mark, in pixels
const kAround = 6;
const kAllWork = 0.995;
const kLeastWorkForText = 0.6;
const kGap = "rgba(255, 255, 255, 0.7)"; // between bars

const fillsOf = (kind, colours) => {
  const gap = colours.waiting("bubble");
  return { work: kind === "waiting" ? gap : colours.of(kind), wait: colours.waiting(kind), gap };
};

/** The place of a bar in the picture; nothing where it is out of sight. */
function placeOf(params, api) {
  const row = api.value(0);
  const [left, middle] = api.coord([api.value(1), row]);
  const [right] = api.coord([api.value(2), row]);
  const height = Math.min(18, api.size([0, 1])[1] * 0.82);
  const { x, y, width, height: room } = params.coordSys;
  const from = Math.max(left, x);
  const to = Math.min(Math.max(right, left + 0.6), x + width);
  if (to <= from || middle < y || middle > y + room) return undefined;
  return { x: from, y: middle - height / 2, width: to - from, height };
}

/** A bar that is as high as it computes; above that it waits. `fills` {work, wait, gap}. */
function drawBar(place, { work = 1, share, waits }, fills) {
  const { y, height, ...length } = place;
  const lineWidth = place.width > 6 ? 0.5 : 0;
  if (waits) return [{ type: "rect", shape: place, style: { fill: fills.wait, stroke: kGap, lineWidth } }];
  const worked = { type: "rect", shape: { ...length, y: y + height * (1 - work), height: height * work }, style: { fill: fills.work, opacity: 0.25 + 0.75 * share, stroke: kGap, lineWidth } };
  if (work > kAllWork) return [worked];
  return [{ type: "rect", shape: place, style: { fill: fills.gap, stroke: kGap, lineWidth } }, worked];
}

/** The mark inside of a bar, where there is room for it. */
function drawMark({ x, y, width, height }, { mark, waits, work = 1 }, colours) {
  if (mark === undefined || waits || work < kLeastWorkForText || width < kAround + kLetter * String(mark).length) return [];
  const text = {
    type: "text",
    silent: true,
    style: { text: String(mark), x: x + width / 2, y: y + height * (1 - work / 2), align: "center", verticalAlign: "middle", fontSize: 11, fill: colours.isDark ? "#0c1016" : "#ffffff" },
  };
  return [text];
}

/**
 * `rows` are names from top to bottom, `bars` [{row, start, end, kind, share, work, waits, mark,
 * heading, lines()}] with `start` and `end` in seconds, `kinds` {key: name}. `mark` is a number or word in the
 * bar, `share` how strong its colour is, `work` the part of it that computes, the rest
 * waits, and so does all of one that `waits`.
 */
export function gantt({ label, rows, bars, kinds, caption, end, figures, zoomTo, views, timeName = "time since the step began" }) {
  const used = [...new Set([...Object.keys(kinds), ...bars.map(({ kind }) => kind)])].filter((kind) => bars.some((bar) => bar.kind === kind || (kind === "waiting" && bar.work <= kAllWork)));
  const of = Object.fromEntries(used.map((kind) => [kind, bars.filter((bar) => bar.kind === kind)]));
  const nameOf = (kind) => kinds[kind] ?? words(kind);
  const names = used.map(nameOf);
  const option = ({ colours, narrow, width }) => ({
    legend: legend(colours, width, names).legend,
    grid: { top: legend(colours, width, names).height, left: narrow ? 6 : 10, right: 18, bottom: 74, containLabel: true },
    xAxis: axis(colours, {
      type: "value",
      min: 0,
      max: end,
      name: timeName,
      nameGap: 26,
      splitNumber: narrow ? 3 : 7,
      axisLabel: { formatter: (value) => time(value), hideOverlap: true, showMaxLabel: false },
    }),
    yAxis: axis(colours, {
      type: "category",
      inverse: true,
      data: rows,
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: { color: colours.ink, fontSize: narrow ? 10 : 12, interval: 0, width: narrow ? 96 : 220, overflow: "truncate" },
    }),
    dataZoom: [
      { type: "slider", xAxisIndex: 0, filterMode: "weakFilter", bottom: 6, height: 20, labelFormatter: "", brushSelect: false, ...zoomTo },
      { type: "inside", xAxisIndex: 0, filterMode: "weakFilter", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, moveOnMouseWheel: false, ...zoomTo },
    ],
    tooltip: {
      formatter: ({ seriesIndex, dataIndex }) => {
        const bar = of[used[seriesIndex]][dataIndex];
        return hint(bar.heading, [
          ["From", time(bar.start)],
          ["Takes", time(bar.end - bar.start)],
          ...bar.lines(),
        ]);
      },
    },
    series: used.map((kind) => ({ kind, fills: fillsOf(kind, colours) })).map(({ kind, fills }) => ({
      name: nameOf(kind),
      type: "custom",
      color: fills.work,
      clip: true,
      progressive: 0,
      encode: { x: [1, 2], y: 0 },
      renderItem: (params, api) => {
        const place = placeOf(params, api);
        const bar = of[kind][params.dataIndex];
        return place && { type: "group", children: [...drawBar(place, bar, fills), ...drawMark(place, bar, colours)] };
      },
      data: of[kind].map(({ row, start: from, end: to }) => [row, from, to]),
    })),
  });
  return { label, option, height: 84 + kRow * Math.max(rows.length, 2), names, views, caption, figures };
}
