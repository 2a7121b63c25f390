// Bars over time in rows: the timeline of a step, drawn pixel by pixel, its bars found, pinned and measured.
import { hint } from "../dom.js";
import { axis, legend } from "../figure.js";
import { time, words } from "../format.js";
import { textOn } from "../palette.js";
import { theme } from "../theme.js";
import { Pins, searchField } from "./pins.js";

const kRow = 22;
const kSlider = 28;
const kLetter = 7.2; // of a mark, in pixels
const kAround = 6;
const kAllWork = 0.995;
const kLeastWorkForText = 0.6;
const kThin = 1; // pixels: bars below it that touch are drawn as one
const kLeastWidth = 0.6;

const fillsOf = (kind, colours) => {
  const gap = colours.waiting("bubble");
  return {
    work: kind === "waiting" ? gap : colours.of(kind),
    wait: colours.waiting(kind),
    gap,
    text: textOn(colours.of(kind)),
    part: colours.paper,
  };
};

/** The bars of each row, in order of time. */
function inRows(rows, bars) {
  const sorted = rows.map(() => []);
  for (const bar of bars) sorted[bar.row].push(bar);
  for (const row of sorted) row.sort((a, b) => a.start - b.start);
  return sorted;
}

/** The place of the first bar of a row that ends after a time. */
function firstAfter(row, at) {
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle].end > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where a row lies in the picture, and what of it is in sight. */
function placeOf({ coordSys: { x, y, width, height: room } }, api, end) {
  const row = api.value(0);
  const [origin, middle] = api.coord([0, row]);
  const scale = (api.coord([end, row])[0] - origin) / end;
  const height = Math.min(18, api.size([0, 1])[1] * 0.82);
  return middle < y || middle > y + room ? undefined : { origin, scale, least: x, most: x + width, y: middle - height / 2, height };
}

/**
 * A bar that is as high as it computes; above that it waits. Lines of the paper's colour part the bars.
 * @param {{x: number, y: number, width: number, height: number}} place
 * @param {{work?: number, share: number, waits?: boolean}} bar
 * @param {any} fills
 */
function drawBar(place, { work = 1, share, waits }, fills) {
  const { y, height, ...length } = place;
  const apart = { stroke: fills.part, lineWidth: place.width > 4 ? 1 : 0 };
  if (waits) return [{ type: "rect", shape: place, style: { fill: fills.wait, ...apart } }];
  const worked = {
    type: "rect",
    shape: { ...length, y: y + height * (1 - work), height: height * work },
    style: { fill: fills.work, opacity: 0.25 + 0.75 * share, ...apart },
  };
  if (work > kAllWork) return [worked];
  return [{ type: "rect", shape: place, style: { fill: fills.gap, ...apart } }, worked];
}

/** The mark inside of a bar, where there is room for it. */
function drawMark({ x, y, width, height }, { mark, waits, work = 1 }, fills) {
  if (mark === undefined || waits || work < kLeastWorkForText || width < kAround + kLetter * String(mark).length) return [];
  const style = {
    text: String(mark),
    x: x + width / 2,
    y: y + height * (1 - work / 2),
    align: "center",
    verticalAlign: "middle",
    fontSize: 11,
    fill: fills.text,
  };
  return [{ type: "text", silent: true, style }];
}

/**
 * The marks of one row: a bar for each that is wider than a pixel, and one for each run of thinner ones, as strong as they
 * fill it. So a row has no more marks than pixels.
 */
function drawRow(row, place, fills) {
  const { origin, scale, least, most, y, height } = place;
  const drawn = [];
  let run;
  const flush = () => {
    if (run)
      drawn.push(
        ...drawBar(
          { x: run.from, y, width: Math.max(run.to - run.from, kLeastWidth), height },
          { work: run.work / run.busy, share: Math.min(1, run.busy / Math.max(run.to - run.from, run.busy)) },
          fills,
        ),
      );
    run = undefined;
  };
  for (let i = firstAfter(row, (least - origin) / scale); i < row.length; i += 1) {
    const bar = row[i];
    const from = Math.max(origin + bar.start * scale, least);
    if (from >= most) break;
    const to = Math.min(origin + bar.end * scale, most);
    const width = to - from;
    if (width >= kThin) {
      flush();
      const at = { x: from, y, width, height };
      drawn.push(...drawBar(at, bar, fills), ...drawMark(at, bar, fills));
      continue;
    }
    if (run && from - run.to > kThin) flush();
    run ??= { from, to, busy: 0, work: 0 };
    run.to = Math.max(run.to, to);
    run.busy += Math.max(width, 1e-3);
    run.work += Math.max(width, 1e-3) * (bar.waits ? 0 : (bar.work ?? 1));
  }
  flush();
  return drawn;
}

/** Vertical lines at the pinned bars. */
const pinLines = (pins, colours) => ({
  type: "line",
  data: [],
  silent: true,
  markLine: {
    symbol: "none",
    animation: false,
    data: pins.list.flatMap(({ start, end }, i) =>
      [start, end].map((at) => ({
        xAxis: at,
        lineStyle: { color: colours.ink, type: i === 0 ? "solid" : "dashed", width: 1 },
        label: { show: false },
      })),
    ),
  },
});

/** The axes of time and of the rows; on a narrow screen the names lie over the bars, which take the whole width. */
const axes = ({ rows, end, timeName }, { colours, narrow, width }) => ({
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
    axisLabel: {
      color: colours.ink,
      interval: 0,
      overflow: "truncate",
      ...(narrow
        ? { fontSize: 10, inside: true, align: "left", verticalAlign: "bottom", padding: [0, 0, 11, -4], width: width - 40 }
        : { fontSize: 12, width: 220 }),
    },
    z: 10,
  }),
});

const zooms = (zoom) => [
  { type: "slider", xAxisIndex: 0, filterMode: "none", bottom: 6, height: 24, labelFormatter: "", brushSelect: false, ...zoom },
  { type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, moveOnMouseWheel: false, ...zoom },
];

/** The bars of one kind as a series: an item for each row. */
const seriesOf = (name, rows, fills, end) => ({
  name,
  type: "custom",
  color: fills.work,
  clip: true,
  progressive: 0,
  encode: { x: [1, 2], y: 0 },
  renderItem: (params, api) => {
    const row = rows[api.value(0)];
    const place = row.length > 0 && placeOf(params, api, end);
    return place && { type: "group", children: drawRow(row, place, fills) };
  },
  data: rows.map((_, row) => [row, 0, end]),
});

/** The bar of a row below a time, or the one next to it. */
function barAt(row, at) {
  const next = Math.min(firstAfter(row, at), row.length - 1);
  return row[next].start > at && next > 0 && at - row[next - 1].end < row[next].start - at ? row[next - 1] : row[next];
}

/** The kinds that bars have, in the order of `kinds`, each with its bars by row: [{kind, name, rows}]. */
function kindsOf(rows, bars, kinds) {
  const waitsSomewhere = bars.some(({ work }) => work <= kAllWork);
  const used = [...new Set([...Object.keys(kinds), ...bars.map(({ kind }) => kind)])];
  return used
    .map((kind) => ({ kind, name: kinds[kind] ?? words(kind), own: bars.filter((bar) => bar.kind === kind) }))
    .filter(({ kind, own }) => own.length > 0 || (kind === "waiting" && waitsSomewhere))
    .map(({ kind, name, own }) => ({ kind, name, rows: inRows(rows, own) }));
}

/**
 * `rows` are names from top to bottom, `bars` [{row, start, end, kind, share, work, waits, mark,
 * heading, lines()}] with `start` and `end` in seconds, `kinds` {key: name}. `mark` is a number or word in the
 * bar, `share` how strong its colour is, `work` the part of it that computes, the rest
 * waits, and so does all of one that `waits`. `inside(bar)`, where given, is a table of what a pinned bar holds.
 * @param {import("../types").Gantt} given
 * @returns {import("../types").Spec}
 */
export function gantt({
  label,
  rows,
  bars,
  kinds,
  caption,
  end,
  figures,
  zoomTo: zoom,
  views,
  inside,
  timeName = "time since the step began",
}) {
  const used = kindsOf(rows, bars, kinds);
  const names = used.map(({ name }) => name);
  const pins = new Pins({ rows, bars, end, inside });
  let pointer = 0; // pixels from the left
  const below = (chart, { seriesIndex, dataIndex }, pixel) =>
    barAt(used[seriesIndex].rows[dataIndex], chart.convertFromPixel({ xAxisIndex: 0 }, pixel));
  const option = ({ colours, narrow, width, chart }) => ({
    legend: legend(colours, width, names).legend,
    grid: { top: legend(colours, width, names).height, left: narrow ? 6 : 10, right: 18, bottom: 46 + kSlider, containLabel: true },
    ...axes({ rows, end, timeName }, { colours, narrow, width }),
    dataZoom: zooms(zoom),
    tooltip: {
      formatter: (mark) => {
        const bar = below(chart, mark, pointer);
        return hint(bar.heading, [["From", time(bar.start)], ["Takes", time(bar.end - bar.start)], ...bar.lines()]);
      },
    },
    series: [...used.map((one) => seriesOf(one.name, one.rows, fillsOf(one.kind, colours), end)), pinLines(pins, colours)],
  });
  return {
    label,
    option,
    rows: true,
    slider: kSlider,
    height: (_, narrow) => 84 + (narrow ? 2 * kRow - 4 : kRow) * Math.max(rows.length, 2),
    names,
    views,
    caption,
    figures,
    beside: (picture) => [searchField(pins, picture), pins.show(picture)],
    pointed: ({ offsetX }) => {
      pointer = offsetX;
    },
    clicked: (mark, picture) => {
      if (mark.seriesIndex < used.length) pins.pin(picture, below(picture.chart, mark, mark.event.offsetX), mark.event.event?.shiftKey);
    },
    key: (event, picture) => pins.steer(event, picture),
    pinned: ({ chart }) => chart.setOption({ series: [...used.map(() => ({})), pinLines(pins, theme())] }),
  };
}
