import { bars } from "../charts/bars.js";
import { gantt } from "../charts/gantt.js";
import { element, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, change, percent, time } from "../format.js";
import { section, tiles } from "../section.js";

const ways = [
  ["serial_s", "One operator after the other"],
  ["serial_own_overlap_s", "Reductions beside weight gradients"],
  ["interleaved_s", "Interleaved, with barriers"],
  ["event_s", "Interleaved, with events"],
  ["lower_bound_s", "Lower bound"],
];
const lanes = { forward: "forward", backward: "backward", communication: "messages" };
const kinds = { forward: "Operators of the forward", backward: "Operators of the backward", tensor: "Messages" };

/** The blocks one after the other, each with what runs in it on three rows. */
function blocks(list) {
  const drawn = [];
  let at = 0;
  list.forEach((block, number) => {
    Object.keys(lanes).forEach((lane, row) => {
      if (block[lane].length === 0 || block.seconds <= 0) return;
      const ids = block[lane].join(" ");
      drawn.push({
        row,
        start: at,
        end: at + block.seconds,
        kind: lane === "communication" ? "tensor" : lane,
        share: 1,
        mark: ids,
        heading: `Block ${number + 1}: ${ids}`,
        lines: () => [["Of that not hidden", time(block.seconds - block.compute_s)]],
      });
    });
    at += block.seconds;
  });
  return gantt({
    label: "The blocks of the interleaved pair",
    rows: Object.values(lanes),
    bars: drawn,
    kinds,
    end: at,
    timeName: "time since the pair began",
    caption: "What stands in one column runs together. The table below says what the ids stand for.",
    figures: {
      caption: "Blocks in order",
      columns: [
        { name: "Block", number: true },
        { name: "Forward" },
        { name: "Backward" },
        { name: "Messages" },
        { name: "Time", number: true },
        { name: "Not hidden", number: true },
      ],
      rows: list.map((block, i) => [
        i + 1,
        block.forward.join(" "),
        block.backward.join(" "),
        block.communication.join(" "),
        time(block.seconds),
        time(block.seconds - block.compute_s),
      ]),
    },
  });
}

/** What the ids stand for. */
const operators = ({ forward, backward }) =>
  table({
    caption: "Operators of the layer",
    columns: [{ name: "Id" }, { name: "Operator" }, { name: "Alone", number: true }],
    rows: [...forward, ...backward].map(({ id, what, seconds }) => [id, what, time(seconds)]),
  });

export function interleavePage({ answer, pictures }) {
  const gain = answer.interleaved_s / answer.serial_s - 1;
  return [
    element(
      "p",
      { class: "lead" },
      `The forward of one micro-batch beside the backward of another, of layer ${pictures.layer}, by the plan ${pictures.name.words}.`,
    ),
    tiles([
      { name: "One after the other", value: time(answer.serial_s) },
      { name: "Interleaved", value: time(answer.interleaved_s), rest: change(gain), kind: gain < 0 ? "good" : undefined },
      {
        name: "Messages not hidden",
        value: time(answer.exposed_s),
        rest: `${percent(answer.exposed_s / answer.interleaved_s)} of the pair`,
      },
      { name: "More memory", value: bytes(answer.peak_extra_bytes), rest: `${bytes(answer.serial_extra_bytes)} one after the other` },
    ]),
    section(
      "Order",
      "What runs together",
      paragraph(`Operators of the forward are listed from ${answer.starts_at} on; those of the next layer are marked with a prime (').`),
      figure(blocks(answer.blocks)),
      operators(answer.operators),
    ),
    section(
      "Time",
      "How long the pair takes",
      figure(
        bars({
          label: "Time of a forward and a backward of one layer",
          rows: ways.map(([key, name]) => ({ name, values: { time: answer[key] } })),
          parts: [{ key: "time", name: "Time", colour: (colours) => colours.list[0] }],
          text: time,
          unit: "time of the pair",
          total: (row) => row.values.time,
          figures: {
            caption: "Time of a forward and a backward together",
            columns: [{ name: "" }, { name: "Time", number: true }, { name: "Against no interleaving", number: true }],
            rows: ways.map(([key, name]) => [name, time(answer[key]), change(answer[key] / answer.serial_s - 1)]),
          },
        }),
      ),
    ),
  ];
}
