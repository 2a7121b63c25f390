// The timeline of one step: the whole of it slot by slot, and a part of it operator by operator.
import { bytes, percent, time, words } from "../format.js";
import { timelineTerms } from "../terms.js";
import { gantt } from "./gantt.js";

const laneName = (lane) => (lane.startsWith("link") ? lane : lane === "compute" ? "computation" : `${lane.replace("_", " ")} stream`);
const rowName = (row) => `${row.of ?? ""}stage ${row.stage}: ${laneName(row.lane)}`;

/** The rows of the overview as [{stage, lane, end, bars [{start, end, kind, microBatch, share}]}]. */
function opened(timeline) {
  return timeline.rows.map(({ stage, lane, bars: numbers }) => {
    const bars = [];
    let at = 0;
    for (let i = 0; i < numbers.length; i += 5) {
      const start = at + numbers[i];
      at = start + numbers[i + 1];
      bars.push({
        start: start * timeline.unit_s,
        end: at * timeline.unit_s,
        kind: timeline.kinds[numbers[i + 2]],
        microBatch: numbers[i + 3],
        share: numbers[i + 4] / 1000,
      });
    }
    return { stage, lane, bars, end: timeline.step_time_s };
  });
}

const ofMicroBatch = (number) => (number < 0 ? [] : [["Micro-batch", `${number} (from 0)`]]);

const kInSight = 60; // bars of a row that are told apart

/** The gaps between the bars of a row of computation, as bars; `end` is that of the row. */
function gaps(bars, place, end, least) {
  const found = [];
  let at = 0;
  for (const { start, end: next } of [...bars, { start: end, end }]) {
    if (start - at > least)
      found.push({ row: place, start: at, end: start, kind: "waiting", share: 1, heading: timelineTerms.waiting, lines: () => [] });
    at = Math.max(at, next);
  }
  return found;
}

// The phases whose operators are in a slot of a kind; of other kinds nothing is told.
const kPhases = {
  forward: ["forward"],
  backward: ["data_gradient", "weight_gradient", "recompute"],
  data_gradient: ["data_gradient", "recompute"],
  weight_gradient: ["weight_gradient"],
};

/**
 * The seconds of each operator of a row of the detail, longest first, as [name, seconds]; `wanted(phase)` chooses.
 * @param {number[]} bars
 * @param {any} detail
 * @param {(phase: string) => boolean} [wanted]
 */
function operatorSeconds(bars, { names, unit_s: unit }, wanted = () => true) {
  const sums = new Map();
  for (let i = 0; i < bars.length; i += 5) {
    const name = bars[i + 2];
    if (wanted(names[name].split("|")[2])) sums.set(name, (sums.get(name) ?? 0) + bars[i + 1] * unit);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/**
 * The operators of a slot as a table, as they are in the two passes that are drawn in detail; nothing where those say nothing of it.
 * @param {import("../types").Bar} bar
 */
function operatorsOf({ kind, stage, lane }, { detail, critical_stage: critical }) {
  if (!detail || lane !== "compute" || !kPhases[kind]) return undefined;
  const computing = detail.rows.filter((row) => row.lane === "compute");
  const row = computing.find((one) => one.stage === stage) ?? computing.find((one) => one.stage === critical);
  const list = row ? operatorSeconds(row.bars, detail, (phase) => kPhases[kind].includes(phase)) : [];
  if (list.length === 0) return undefined;
  return {
    caption: `Operators of one ${timelineTerms[kind].toLowerCase()} of stage ${row.stage}, in the middle of the step`,
    columns: [{ name: "Operator" }, { name: "Operation" }, { name: "Phase" }, { name: "Time", number: true }],
    rows: list.map(([name, seconds]) => {
      const [operator, operation, phase] = detail.names[name].split("|");
      return [operator, words(operation).toLowerCase(), words(phase).toLowerCase(), time(seconds)];
    }),
  };
}

function shown(rows, timeline, label) {
  const most = Math.max(...rows.map((row) => row.bars.length));
  const part = 100 * Math.min(1, kInSight / most);
  const waiting = rows.flatMap((row, place) => (row.lane === "compute" ? gaps(row.bars, place, row.end, 2 * timeline.unit_s) : []));
  const busy = rows.flatMap((row, place) =>
    row.bars.map((bar) => ({
      ...bar,
      row: place,
      stage: row.stage,
      lane: row.lane,
      share: row.lane === "compute" ? 1 : bar.share,
      work: row.lane === "compute" ? bar.share : 1,
      mark: row.lane === "compute" && bar.microBatch >= 0 ? bar.microBatch : undefined,
      heading: `${timelineTerms[bar.kind] ?? words(bar.kind)}, stage ${row.stage}`,
      lines: () => [...ofMicroBatch(bar.microBatch), [row.lane === "compute" ? "Of that computing" : "Of that busy", percent(bar.share)]],
    })),
  );
  const bars = [...waiting, ...busy];
  return gantt({
    label,
    rows: rows.map(rowName),
    bars,
    kinds: timelineTerms,
    end: Math.max(...rows.map((row) => row.end)),
    inside: (bar) => operatorsOf(bar, timeline),
    zoomTo: { start: 0, end: part },
    views:
      part < 100
        ? [
            { name: "How the step begins", start: 0, end: part },
            { name: "How it ends", start: 100 - part, end: 100 },
            { name: "The whole step", start: 0, end: 100 },
          ]
        : undefined,
    caption:
      "Each row is one stream or link of a pipeline stage. Numbers are micro-batches. A bar of computation is filled as high as it computes; hatched time waits. A paler bar of messages is busy for less of its length. Zoom: slider, Ctrl and wheel, two fingers, or the keys + − 0 and the arrows. Click a bar to pin it, another with Shift to measure between the two; the keys n and p go to the next and the one before, Escape unpins.",
    figures: {
      caption: "How long each row is busy",
      columns: [
        { name: "Stage", number: true },
        { name: "Stream or link" },
        { name: "Busy", number: true },
        { name: "Share of the step", number: true },
      ],
      rows: rows.map((row) => {
        const busy = row.bars.reduce((sum, bar) => sum + bar.share * (bar.end - bar.start), 0);
        return [row.stage, laneName(row.lane), time(busy), percent(busy / timeline.step_time_s)];
      }),
    },
  });
}

/** What can be chosen to see of the overview, and its picture; with another plan's timeline both on one axis. */
export function overview(timeline, pinned) {
  const rows = opened(timeline);
  const stages = [...new Set(rows.map(({ stage }) => stage))];
  const both = pinned ? [...opened(pinned).map((row) => ({ ...row, of: "A, " })), ...rows.map((row) => ({ ...row, of: "now, " }))] : [];
  const choices = [
    ...(pinned ? [{ value: "both", name: "computation of A and of this plan" }] : []),
    { value: "compute", name: "computation of every stage" },
    ...stages.map((stage) => ({ value: String(stage), name: `all streams and links of stage ${stage}` })),
    { value: "all", name: "everything" },
  ];
  const draw = (value) => {
    if (value === "both")
      return shown(
        both.filter((row) => row.lane === "compute"),
        timeline,
        "Timelines of one step of A and of this plan",
      );
    const chosen = rows.filter((row) => value === "all" || (value === "compute" ? row.lane === "compute" : String(row.stage) === value));
    return shown(chosen, timeline, "Timeline of one step");
  };
  return { choices, draw, first: pinned ? "both" : "compute" };
}

const kindOf = (phase, scheme) => (scheme === "none" ? phase : scheme);

/** The operators of a row of the detail, as bars. */
function operatorBars(row, place, { unit_s: unit, names }) {
  const link = row.lane.startsWith("link");
  const list = [];
  for (let i = 0; i < row.bars.length; i += 5) {
    const [start, length, name, layer, microBatch] = row.bars.slice(i, i + 5);
    const [operator, operation, phase, scheme, size] = names[name].split("|");
    list.push({
      row: place,
      name: link ? undefined : name,
      start: start * unit,
      end: (start + length) * unit,
      kind: link ? row.lane : kindOf(phase, scheme),
      share: link ? 0.5 : 1,
      waits: row.lane === "compute" && scheme !== "none",
      mark: link ? undefined : operator,
      heading: `${operator} (${words(operation).toLowerCase()})`,
      lines: () => [
        ["Phase", words(phase).toLowerCase()],
        ...(layer < 0 ? [] : [["Layer", String(layer)]]),
        ...ofMicroBatch(microBatch),
        ...(size > 0 ? [["Message", bytes(Number(size))]] : []),
      ],
    });
  }
  return list;
}

/** One forward and one backward, operator by operator, of one stage. */
export function detail(timeline) {
  const { from_s: from, to_s: to, unit_s: unit, names, rows } = timeline.detail;
  const stages = [...new Set(rows.map(({ stage }) => stage))];
  const choices = stages.map((stage) => ({ value: String(stage), name: `stage ${stage}` }));
  const draw = (value) => {
    const chosen = rows.filter(({ stage }) => String(stage) === value);
    const bars = chosen.flatMap((row, place) => operatorBars(row, place, timeline.detail));
    const sums = new Map();
    for (const { name, start, end } of bars) {
      if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + end - start);
    }
    const all = to - from;
    const waiting = chosen.flatMap((row, place) =>
      row.lane === "compute"
        ? gaps(
            bars.filter((bar) => bar.row === place),
            place,
            all,
            2 * unit,
          )
        : [],
    );
    const sorted = [...sums].sort((a, b) => b[1] - a[1]);
    return gantt({
      label: `One forward and one backward of stage ${value}, operator by operator`,
      rows: chosen.map(({ lane }) => laneName(lane)),
      bars: [...waiting, ...bars],
      kinds: timelineTerms,
      end: all,
      timeName: `time since ${time(from)} of the step`,
      zoomTo: { start: 0, end: 12 },
      views: [
        { name: "A layer or two of the forward", start: 0, end: 12 },
        { name: "The end of the backward", start: 88, end: 100 },
        { name: "Both passes", start: 0, end: 100 },
      ],
      caption:
        "Point at a bar for its name, layer and message; click to pin it, another with Shift to measure between the two. Hatched time in the row of computation waits. Drag the slider to the rest of the two passes.",
      figures: {
        caption: "Seconds of each operator in what is shown",
        columns: [
          { name: "Operator" },
          { name: "Operation" },
          { name: "Phase" },
          { name: "Time", number: true },
          { name: "Share of what is shown", number: true },
        ],
        rows: sorted.map(([name, seconds]) => {
          const [operator, operation, phase] = names[name].split("|");
          return [operator, words(operation).toLowerCase(), words(phase).toLowerCase(), time(seconds), percent(seconds / all)];
        }),
      },
    });
  };
  return { choices, draw, first: String(timeline.critical_stage) };
}
