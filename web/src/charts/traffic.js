// Who sends how much to whom.
import { hint } from "../dom.js";
import { axis } from "../figure.js";
import { bytes, percent } from "../format.js";

const kMostRows = 40;
const kDecades = 4; // what is smaller has the palest colour
const kLabels = 16;

export function trafficMatrix(traffic) {
  const sides = Math.ceil(traffic.ranks / traffic.ranks_each);
  const name = (side) => {
    if (traffic.ranks_each === 1) return `GPU ${side}`;
    const nodes = traffic.ranks_each / traffic.devices_per_node;
    if (nodes === 1) return `node ${side}`;
    return `nodes ${side * nodes} to ${(side + 1) * nodes - 1}`;
  };
  const names = Array.from({ length: sides }, (_, side) => name(side));
  const sizes = traffic.cells.map((cell) => Math.log10(cell[2]));
  const most = sizes.length > 0 ? Math.max(...sizes) : 1;
  const least = Math.max(most - kDecades, Math.min(...sizes, most - 1));
  const every = Math.ceil(sides / kLabels) - 1;
  const nodes = { show: traffic.ranks_each === 1, interval: (side) => side % traffic.devices_per_node === 0 };
  const option = ({ colours, narrow }) => ({
    grid: { top: 10, left: 22, right: narrow ? 10 : 120, bottom: narrow ? 106 : 50, containLabel: true },
    xAxis: axis(colours, { type: "category", data: names, name: "receiver", nameGap: 30, axisTick: { show: false }, splitLine: nodes, axisLabel: { interval: every, hideOverlap: true } }),
    yAxis: axis(colours, { type: "category", inverse: true, data: names, name: narrow ? "" : "sender", nameGap: 62, axisTick: { show: false }, splitLine: nodes, axisLabel: { interval: every } }),
    visualMap: {
      min: least,
      max: most,
      calculable: false,
      orient: narrow ? "horizontal" : "vertical",
      right: narrow ? "center" : 0,
      top: narrow ? undefined : "middle",
      left: narrow ? "center" : undefined,
      bottom: narrow ? 0 : undefined,
      itemHeight: narrow ? 120 : 180,
      text: [bytes(10 ** most), bytes(10 ** least)],
      formatter: (value) => bytes(10 ** value),
      textStyle: { color: colours.ink },
      inRange: { color: colours.isDark ? ["#17324d", "#2f7fc1", "#8fd0f5", "#fff3c4"] : ["#d6e8f7", "#56b4e9", "#0072b2", "#12304d"] },
    },
    tooltip: {
      formatter: ({ dataIndex }) => {
        const [from, to, size] = traffic.cells[dataIndex];
        return hint(from === to ? `inside ${names[from]}` : `${names[from]} to ${names[to]}`, [
          ["In one step", bytes(size)],
          ["Of everything that is sent", percent(size / traffic.total_bytes)],
        ]);
      },
    },
    series: [{ type: "heatmap", data: traffic.cells.map(([from, to, size]) => [to, from, Math.log10(size)]), progressive: 0 }],
  });
  const largest = [...traffic.cells].sort((a, b) => b[2] - a[2]).slice(0, kMostRows);
  return {
    label: "Traffic matrix of one step",
    option,
    height: (width, narrow) => Math.min(narrow ? width + 96 : 560, 640),
    caption: "Bytes from each sender (row) to each receiver (column) in one step, on a logarithmic scale. Lines part the nodes.",
    figures: {
      caption: largest.length < traffic.cells.length ? `The largest ${kMostRows} of ${traffic.cells.length} pairs` : "All pairs",
      columns: [{ name: "Sender" }, { name: "Receiver" }, { name: "Bytes in one step", number: true }],
      rows: largest.map(([from, to, size]) => [names[from], names[to], bytes(size)]),
    },
  };
}
