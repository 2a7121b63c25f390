// What fills the memory: of each stage at its peak, and of one stage over the step.
import { hint } from "../dom.js";
import { axis, legend } from "../figure.js";
import { bytes, byteTicks, time } from "../format.js";
import { memoryTerms } from "../terms.js";
import { bars } from "./bars.js";

const kSlider = 28;
const kinds = Object.keys(memoryTerms);

/** `memory` as `stepwright memory --json` prints it; above it that of plan A, where there is one. */
export function memoryPeaks(memory, before) {
  const all = [...(before ? before.stages.map((stage) => ({ ...stage, of: "A, " })) : []), ...memory.stages];
  const used = kinds.filter((kind) => all.some((stage) => stage.kinds[kind] > 0));
  return bars({
    label: "Memory of each stage at its peak",
    rows: all.map(({ of = "", stage, kinds: values }) => ({ name: `${of}stage ${stage}`, values })),
    parts: used.map((kind) => ({ key: kind, name: memoryTerms[kind], colour: (colours) => colours.of(kind) })),
    text: bytes,
    unit: "memory of one GPU of the stage",
    total: (row) => Object.values(row.values).reduce((sum, value) => sum + value, 0),
    limits: [
      { name: "usable", value: memory.capacity_bytes - memory.reserve_bytes, colour: ({ bad }) => bad },
      { name: "capacity", value: memory.capacity_bytes, colour: ({ soft }) => soft },
    ],
    caption:
      "The share of framework and fragmentation is an estimate: CUDA context, communicators, and what the allocator loses to rounding.",
    figures: {
      caption: "Memory of each stage at its peak, by kind",
      columns: [
        { name: "Stage", number: !before },
        ...used.map((kind) => ({ name: memoryTerms[kind], number: true })),
        { name: "Peak", number: true },
      ],
      rows: all.map(({ of = "", ...stage }) => [
        `${of}${stage.stage}`,
        ...used.map((kind) => bytes(stage.kinds[kind])),
        bytes(stage.peak_memory_bytes),
      ]),
    },
  });
}

/** The kinds of memory over the step, stacked, with the memory that is usable and the capacity. */
function curveSeries({ fillings, curve }, used, memory, colours) {
  const usable = memory.capacity_bytes - memory.reserve_bytes;
  const line = (name, value, colour, position) => ({
    yAxis: value,
    lineStyle: { color: colour, type: "dashed" },
    label: { formatter: `${name}: ${bytes(value)}`, position, color: colour },
  });
  return used.map(([kind, i], place) => ({
    name: memoryTerms[kind],
    type: "line",
    stack: "memory",
    step: "end",
    symbol: "none",
    color: colours.of(kind),
    lineStyle: { width: 0 },
    areaStyle: { opacity: 0.85 },
    data: curve.map(([at, filling]) => [at, fillings[filling][i]]),
    markLine:
      place === 0
        ? {
            symbol: "none",
            silent: true,
            data: [
              line("usable", usable, colours.bad, "insideStartTop"),
              line("capacity", memory.capacity_bytes, colours.soft, "insideEndTop"),
            ],
          }
        : undefined,
  }));
}

/** The table of what the memory holds, each filling once. */
const curveFigures = ({ fillings, curve }, used, stage) => ({
  caption: `What stage ${stage} holds over the step`,
  columns: [
    ...used.map(([kind]) => ({ name: memoryTerms[kind], number: true })),
    { name: "Total", number: true },
    { name: "First reached after", number: true },
  ],
  rows: fillings.map((filling, number) => [
    ...used.map(([, i]) => bytes(filling[i])),
    bytes(filling.reduce((sum, value) => sum + value, 0)),
    time(curve.find((point) => point[1] === number)[0]),
  ]),
});

/** One stage over the step. */
export function memoryCurve(curves, stage, memory, step) {
  const { fillings } = curves.stages[stage];
  const used = curves.kinds.map((kind, i) => [kind, i]).filter(([, i]) => fillings.some((filling) => filling[i] > 0));
  const names = used.map(([kind]) => memoryTerms[kind]);
  const option = ({ colours, narrow, width }) => ({
    legend: legend(colours, width, names).legend,
    grid: { top: legend(colours, width, names).height + 8, left: 22, right: 18, bottom: 46 + kSlider, containLabel: true },
    xAxis: axis(colours, {
      type: "value",
      min: 0,
      max: step,
      name: "time since the step began",
      nameGap: 26,
      splitNumber: narrow ? 3 : 7,
      axisLabel: { formatter: (value) => time(value), hideOverlap: true, showMaxLabel: false },
    }),
    yAxis: axis(colours, {
      type: "value",
      name: narrow ? "" : "memory of one GPU",
      nameGap: 62,
      ...byteTicks(0, 1.02 * Math.max(memory.capacity_bytes, memory.peak_memory_bytes), 8),
      axisLabel: { formatter: bytes },
    }),
    dataZoom: [
      { type: "slider", xAxisIndex: 0, bottom: 6, height: 20, labelFormatter: "", filterMode: "none", brushSelect: false },
      { type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false },
    ],
    tooltip: {
      trigger: "axis",
      formatter: (points) => {
        const lines = points.filter(({ value }) => value[1] > 0).map(({ seriesName, value }) => [seriesName, bytes(value[1])]);
        const sum = points.reduce((all, { value }) => all + value[1], 0);
        return hint(`after ${time(points[0].value[0])}`, [...lines, ["Total", bytes(sum)]]);
      },
    },
    series: curveSeries(curves.stages[stage], used, memory, colours),
  });
  return {
    label: `Memory of stage ${stage} over the step`,
    option,
    height: 350,
    slider: kSlider,
    names,
    caption: "Each step of the curve is the peak of a forward or a backward, then what stays allocated until the next.",
    figures: curveFigures(curves.stages[stage], used, stage),
  };
}
