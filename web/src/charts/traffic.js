// Who sends how much to whom, of all messages or of one scheme.
import { hint } from "../dom.js";
import { axis } from "../figure.js";
import { bytes, percent } from "../format.js";

const kMostRows = 40;
const kDecades = 4; // what is smaller has the palest colour
const kLabels = 16;
const kMarked = 2; // diagonals of a scheme that have its name

const kSchemes = {
  tensor: "tensor",
  context: "context",
  expert: "expert",
  pipeline: "pipeline",
  data: "data",
  control: "control",
  none: "other",
};

/** The names of the sides of the matrix: GPUs, nodes or runs of nodes. */
function sideNames({ ranks, ranks_each: each, devices_per_node: node }) {
  const nodes = each / node;
  const name = (side) => (each === 1 ? `GPU ${side}` : nodes === 1 ? `node ${side}` : `nodes ${side * nodes} to ${(side + 1) * nodes - 1}`);
  return Array.from({ length: Math.ceil(ranks / each) }, (_, side) => name(side));
}

/** How far apart sender and receiver of a scheme are, the distances with the most bytes first: [[distance, bytes]]. */
function distances({ cells }) {
  const sums = new Map();
  for (const [from, to, size] of cells) sums.set(to - from, (sums.get(to - from) ?? 0) + size);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

const apart = (distance, unit) =>
  distance === 0
    ? `inside a ${unit}`
    : `${Math.abs(distance)} ${unit}${Math.abs(distance) === 1 ? "" : "s"} ${distance > 0 ? "on" : "back"}`;

/** The diagonals of the schemes by name: [{place: [receiver, sender], name}], one mark for those that share a diagonal. */
function marks(schemes) {
  const named = new Map();
  for (const one of schemes) {
    for (const [distance] of distances(one).slice(0, kMarked)) named.set(distance, [...(named.get(distance) ?? []), kSchemes[one.scheme]]);
  }
  return [...named].map(([distance, names]) => ({ value: distance >= 0 ? [distance, 0] : [0, -distance], name: names.join(", ") }));
}

const kPale = { light: ["#d6e8f7", "#56b4e9", "#0072b2", "#12304d"], dark: ["#17324d", "#2f7fc1", "#8fd0f5", "#fff3c4"] };

function scale(cells, colours, narrow) {
  const sizes = cells.map((cell) => Math.log10(cell[2]));
  const most = sizes.length > 0 ? Math.max(...sizes) : 1;
  const least = Math.max(most - kDecades, Math.min(...sizes, most - 1));
  const place = narrow
    ? { orient: "horizontal", left: "center", bottom: 0, itemHeight: 120 }
    : { orient: "vertical", right: 0, top: "middle", itemHeight: 180 };
  return {
    min: least,
    max: most,
    calculable: false,
    seriesIndex: 0,
    ...place,
    text: [bytes(10 ** most), bytes(10 ** least)],
    formatter: (value) => bytes(10 ** value),
    textStyle: { color: colours.ink },
    inRange: { color: kPale[colours.isDark ? "dark" : "light"] },
  };
}

/** The matrix of `shown` {cells, total_bytes}, a part of all messages; `schemes` are those whose diagonals get their names. */
function matrix(traffic, shown, schemes) {
  const names = sideNames(traffic);
  const every = Math.ceil(names.length / kLabels) - 1;
  const side = {
    type: "category",
    data: names,
    axisTick: { show: false },
    splitLine: { show: traffic.ranks_each === 1, interval: (place) => place % traffic.devices_per_node === 0 },
    axisLabel: { interval: every, hideOverlap: true },
  };
  const partOf = (from, to) =>
    schemes.flatMap(({ scheme, cells }) =>
      cells.filter((cell) => cell[0] === from && cell[1] === to).map((cell) => [`${kSchemes[scheme]}-parallel`, bytes(cell[2])]),
    );
  return ({ colours, narrow }) => ({
    grid: { top: 26, left: 22, right: narrow ? 10 : 120, bottom: narrow ? 106 : 50, containLabel: true },
    xAxis: axis(colours, { ...side, name: "receiver", nameGap: 30 }),
    yAxis: axis(colours, { ...side, inverse: true, name: narrow ? "" : "sender", nameGap: 62 }),
    visualMap: scale(shown.cells, colours, narrow),
    tooltip: {
      formatter: ({ seriesIndex, dataIndex }) => {
        if (seriesIndex > 0) return "";
        const [from, to, size] = shown.cells[dataIndex];
        return hint(from === to ? `inside ${names[from]}` : `${names[from]} to ${names[to]}`, [
          ["In one step", bytes(size)],
          ["Share of all bytes sent", percent(size / traffic.total_bytes)],
          ...partOf(from, to),
        ]);
      },
    },
    series: [
      { type: "heatmap", data: shown.cells.map(([from, to, size]) => [to, from, Math.log10(size)]), progressive: 0 },
      {
        type: "scatter",
        silent: true,
        symbolSize: 5,
        color: colours.bad,
        data: marks(schemes),
        label: {
          show: true,
          position: "top",
          formatter: ({ name }) => name,
          color: colours.ink,
          backgroundColor: colours.paper,
          padding: [1, 3],
          fontSize: 11,
        },
        labelLayout: { moveOverlap: "shiftX" },
      },
    ],
  });
}

/** The diagonals as a table: how far apart sender and receiver of each scheme are. */
function diagonals(traffic) {
  const nodes = traffic.ranks_each / traffic.devices_per_node;
  const unit = traffic.ranks_each === 1 ? "GPU" : nodes === 1 ? "node" : `run of ${nodes} nodes`;
  return {
    caption: "Diagonals of the matrix: how far apart sender and receiver are",
    columns: [
      { name: "Messages" },
      { name: "Bytes in one step", number: true },
      { name: "Share", number: true },
      { name: "Distance from sender to receiver" },
    ],
    rows: traffic.schemes.map((one) => [
      `${kSchemes[one.scheme]}-parallel`,
      bytes(one.total_bytes),
      percent(one.total_bytes / traffic.total_bytes),
      distances(one)
        .slice(0, 4)
        .map(([distance]) => apart(distance, unit))
        .join(", "),
    ]),
  };
}

/** The matrix as views of a figure: all messages, and each scheme alone. */
export function trafficMatrix(traffic) {
  const names = sideNames(traffic);
  const choices = [
    { value: "all", name: `all messages (${bytes(traffic.total_bytes)})` },
    ...traffic.schemes.map((one) => ({
      value: one.scheme,
      name: `${kSchemes[one.scheme]}-parallel messages alone (${bytes(one.total_bytes)})`,
    })),
  ];
  const draw = (value) => {
    const schemes = value === "all" ? traffic.schemes : traffic.schemes.filter(({ scheme }) => scheme === value);
    const shown = value === "all" ? traffic : schemes[0];
    const largest = [...shown.cells].sort((a, b) => b[2] - a[2]).slice(0, kMostRows);
    return {
      label: "Traffic matrix of one step",
      option: matrix(traffic, shown, schemes),
      height: (width, narrow) => Math.min(narrow ? width + 96 : 560, 640),
      caption:
        "Bytes from each sender (row) to each receiver (column) in one step, on a logarithmic scale. Lines part the nodes; names stand at the diagonals with the most bytes of each kind of parallelism.",
      figures: {
        caption: largest.length < shown.cells.length ? `The largest ${kMostRows} of ${shown.cells.length} pairs` : "All pairs",
        columns: [{ name: "Sender" }, { name: "Receiver" }, { name: "Bytes in one step", number: true }],
        rows: largest.map(([from, to, size]) => [names[from], names[to], bytes(size)]),
      },
    };
  };
  return { choices, draw, diagonals: diagonals(traffic) };
}
