// What logs said: of themselves, and against a plan.
import { bars } from "../charts/bars.js";
import { lines } from "../charts/lines.js";
import { element, list, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, count, rate, time, words } from "../format.js";
import { section, tiles } from "../section.js";

const operation = (name) => words(name).toLowerCase().replaceAll(" ", "-");
const kSameJob = 0.1; // of the predicted calls that the log of the same job has at least
const ofGroup = (size) => (size === null || size === undefined ? "" : ` of ${size} GPUs`);
const single = (key, name) => [{ key, name, colour: (colours) => colours.list[0] }];

function sources(answer) {
  return section(
    "Logs",
    "What was read",
    table({
      caption: "Files",
      columns: [
        { name: "Log", number: true },
        { name: "Format" },
        { name: "Version" },
        { name: "Lines", number: true },
        { name: "Not understood", number: true },
        { name: "Remarks" },
      ],
      rows: answer.sources.map((source) => [
        source.log,
        source.format,
        source.version,
        count(source.lines),
        count(source.unexplained),
        source.notes.join("; "),
      ]),
    }),
  );
}

function belowKnee(answer) {
  if (answer.below_knee.length === 0) return undefined;
  return section(
    "Small messages",
    "Messages that are too small for their links",
    paragraph("Below the knee the start of a message takes longer than its bytes; joining such messages would save most of it."),
    table({
      caption: "Calls below the knee",
      columns: [
        { name: "Operation" },
        { name: "Knee", number: true },
        { name: "Calls below the knee", number: true },
        { name: "All calls", number: true },
        { name: "Bytes", number: true },
        { name: "Time", number: true },
      ],
      rows: answer.below_knee.map((row) => [
        operation(row.operation) + ofGroup(row.group_size),
        bytes(row.knee_bytes),
        count(row.count),
        count(row.of),
        bytes(row.payload_bytes),
        row.time_s === undefined || row.time_s === null ? "" : time(row.time_s),
      ]),
    }),
  );
}

function sizes(answer) {
  const operations = [...new Set(answer.histogram.map((row) => row.operation))];
  const names = [...new Set(answer.histogram.map((row) => row.from_bytes))].sort((a, b) => a - b);
  const at = (name, from) => answer.histogram.find((row) => row.operation === name && row.from_bytes === from)?.count;
  const picture = bars({
    label: "Calls by the size of their payload",
    rows: names.map((from) => ({
      name: `${bytes(from)} to ${bytes(2 * from)}`,
      values: Object.fromEntries(operations.map((name) => [name, at(name, from)])),
    })),
    parts: operations.map((name, i) => ({ key: name, name: operation(name), colour: (colours) => colours.list[i % colours.list.length] })),
    text: count,
    unit: "calls",
    total: ({ values }) => Object.values(values).reduce((sum, value) => sum + (value ?? 0), 0),
  });
  return names.length > 0 ? section("Sizes", "How large the messages are", figure(picture)) : undefined;
}

function operations(answer) {
  const timed = answer.by_operation.filter((row) => row.time_s > 0);
  return section(
    "Operations",
    "What was called",
    figure(
      bars({
        label: "Payload of each operation",
        rows: answer.by_operation.map((row) => ({
          name: operation(row.operation) + ofGroup(row.group_size),
          values: { payload: row.payload_bytes },
        })),
        parts: single("payload", "Payload"),
        text: bytes,
        unit: "bytes of full buffers",
        total: (row) => row.values.payload ?? 0,
      }),
    ),
    timed.length > 0 &&
      figure(
        bars({
          label: "Time of each operation",
          rows: timed.map((row) => ({ name: operation(row.operation) + ofGroup(row.group_size), values: { time: row.time_s } })),
          parts: single("time", "Time"),
          text: time,
          unit: "time in calls, of all ranks",
          total: (row) => row.values.time,
        }),
      ),
    table({
      caption: "Calls by operation",
      columns: [{ name: "Operation" }, { name: "Calls", number: true }, { name: "Payload", number: true }, { name: "Time", number: true }],
      rows: answer.by_operation.map((row) => [
        operation(row.operation) + ofGroup(row.group_size),
        count(row.count),
        bytes(row.payload_bytes),
        row.time_s > 0 ? time(row.time_s) : "not in the logs",
      ]),
    }),
  );
}

const groups = (answer) =>
  section(
    "Groups",
    "Who talked with whom",
    table({
      caption: "Communicators",
      columns: [
        { name: "GPUs", number: true },
        { name: "Ranks" },
        { name: "Calls" },
        { name: "Payload", number: true },
        { name: "Probably used for" },
      ],
      rows: answer.communicators.map((row) => [
        row.group_size,
        row.ranks.join(" "),
        Object.entries(row.calls)
          .map(([name, calls]) => `${count(calls)} ${operation(name)}`)
          .join(", "),
        bytes(row.payload_bytes),
        row.probably,
      ]),
    }),
  );

const latencies = (answer) =>
  section(
    "Latency",
    "Start and rate of the links",
    paragraph("A line through the shortest time of each size."),
    table({
      caption: "Latency",
      columns: [{ name: "Operation" }, { name: "Start", number: true }, { name: "Rate", number: true }, { name: "Knee", number: true }],
      rows: answer.latency.map((row) => [
        operation(row.operation) + ofGroup(row.group_size),
        time(row.latency_s),
        rate(row.rate_bytes_per_s),
        bytes(row.knee_bytes),
      ]),
    }),
  );

export function characterizePage({ answer }) {
  const payload = answer.by_operation.reduce((sum, row) => sum + row.payload_bytes, 0);
  return [
    tiles([
      { name: "Calls", value: count(answer.records), rest: "of all ranks in the logs" },
      { name: "Payload", value: bytes(payload), rest: "full buffers, summed over the calls" },
      { name: "Communicators", value: count(answer.communicators.length) },
      {
        name: "Not understood",
        value: count(answer.unexplained),
        rest: "lines or events",
        kind: answer.unexplained > 0 ? "bad" : undefined,
      },
    ]),
    answer.by_operation.length > 0 && operations(answer),
    sizes(answer),
    groups(answer),
    answer.latency.length > 0 && latencies(answer),
    belowKnee(answer),
    sources(answer),
  ];
}

const schemeName = (row) => `${row.scheme}: ${operation(row.operation)}${ofGroup(row.group_size)}`;

function predictedAndLogged(answer) {
  const pair = [
    { key: "predicted", name: "Predicted", colour: (colours) => colours.list[0] },
    { key: "logged", name: "In the log", colour: (colours) => colours.list[1] },
  ];
  const picture = (label, key, text, unit) =>
    figure(
      bars({
        label,
        stacked: false,
        rows: answer.by_scheme.map((row) => ({
          name: schemeName(row),
          values: { predicted: row[`predicted_${key}`], logged: row[`logged_${key}`] },
        })),
        parts: pair,
        text,
        unit,
      }),
    );
  return section(
    "Messages",
    "Predicted against what was sent",
    picture("Bytes, predicted and in the log", "bytes", bytes, "payload bytes"),
    table({
      caption: "Calls and bytes by scheme",
      columns: [
        { name: "Messages" },
        { name: "Calls predicted", number: true },
        { name: "Calls in the log", number: true },
        { name: "Bytes predicted", number: true },
        { name: "Bytes in the log", number: true },
      ],
      rows: answer.by_scheme.map((row) => [
        schemeName(row),
        count(row.predicted_calls),
        count(row.logged_calls),
        bytes(row.predicted_bytes),
        bytes(row.logged_bytes),
      ]),
    }),
  );
}

function measuredTimes(answer) {
  const timed = answer.by_scheme.filter((row) => row.time_s > 0);
  if (timed.length === 0) return undefined;
  const columns = [
    ["exposed_s", "Not hidden by computation"],
    ["hidden_s", "Hidden beside computation"],
  ];
  const sides = [
    { key: "predicted_s", name: "Predicted", colour: (colours) => colours.list[0] },
    { key: "transfer_s", name: "In the log", colour: (colours) => colours.list[1] },
  ];
  return section(
    "Time",
    "How long the messages took",
    paragraph(
      "The time in a call is its transfer (the shortest time of all ranks) and the wait for the last rank. Stepwright predicts the transfer of each call alone.",
    ),
    figure(
      bars({
        label: "Transfer of messages, predicted and in the log",
        stacked: false,
        rows: timed.map((row) => ({ name: schemeName(row), values: { predicted_s: row.predicted_s, transfer_s: row.transfer_s } })),
        parts: sides,
        text: time,
        unit: "time of all ranks",
      }),
    ),
    figure(
      bars({
        label: "Measured time of messages",
        rows: timed.map((row) => ({ name: schemeName(row), values: { exposed_s: row.exposed_s, hidden_s: row.hidden_s } })),
        parts: columns.map(([key, name], i) => ({ key, name, colour: (colours) => (i === 0 ? colours.bad : colours.list[2]) })),
        text: time,
        unit: "time of all ranks",
        total: ({ values }) => (values.exposed_s ?? 0) + (values.hidden_s ?? 0),
      }),
    ),
    table({
      caption: "Measured time by scheme",
      columns: [
        { name: "Messages" },
        { name: "In calls", number: true },
        { name: "Transfer", number: true },
        { name: "Predicted", number: true },
        { name: "Waiting", number: true },
        { name: "Not hidden", number: true },
      ],
      rows: timed.map((row) => [
        schemeName(row),
        time(row.time_s),
        time(row.transfer_s),
        time(row.predicted_s),
        time(row.waiting_s),
        time(row.exposed_s ?? 0),
      ]),
    }),
  );
}

function bandwidth(answer) {
  const timed = answer.by_size.filter((row) => row.busbw_bytes_per_s > 0);
  if (timed.length === 0) return undefined;
  const names = [...new Set(timed.map(schemeName))];
  const curves = names.map((name) => ({
    name,
    points: timed.filter((row) => schemeName(row) === name).map((row) => [row.payload_bytes, row.busbw_bytes_per_s]),
  }));
  return section(
    "Bandwidth",
    "What the links gave",
    figure(
      lines({
        label: "Bus bandwidth over the size of the message",
        curves,
        x: { name: "payload", text: bytes, log: true, base: 2 },
        y: { name: "bus bandwidth", text: rate },
      }),
    ),
  );
}

/** Says first that plan and log are of different jobs, where hardly a call matches. */
function otherJob(answer) {
  if (answer.calls === 0 || answer.matched >= kSameJob * answer.calls) return undefined;
  return element(
    "p",
    { class: "badge", role: "alert" },
    element("strong", {}, "Plan and log are of two different jobs: "),
    `${count(answer.matched)} of ${count(answer.calls)} predicted calls are in the log. Compare the plan with the log of its own run before you read the differences below.`,
  );
}

export function comparePage({ answer, pictures }) {
  const same = answer.differences.length === 0;
  return [
    otherJob(answer),
    element("p", { class: "lead" }, `The plan: ${pictures.name.words}.`),
    tiles([
      {
        name: same ? "The run sent what the plan says" : "The run sent something else",
        value: `${count(answer.differences.length)} differences`,
        kind: same ? "good" : "bad",
      },
      { name: "Calls predicted", value: count(answer.calls), rest: `on ${count(answer.communicators)} communicators` },
      { name: "Calls that match", value: count(answer.matched), rest: `${count(answer.ranks)} ranks, ${count(answer.steps)} steps` },
      { name: "Bytes", value: answer.byte_difference === 0 ? "equal" : bytes(answer.byte_difference), rest: "logged less predicted" },
      ...(answer.logged_step_time_s === undefined
        ? []
        : [{ name: "One step took", value: time(answer.logged_step_time_s), rest: `${time(answer.step_time_s)} predicted` }]),
    ]),
    !same && section("Differences", "What differs", list(answer.differences)),
    answer.by_scheme.length > 0 && predictedAndLogged(answer),
    measuredTimes(answer),
    bandwidth(answer),
    belowKnee(answer),
    answer.remarks.length > 0 && section("Remarks", "What was assumed or left out", list(answer.remarks)),
    sources(answer),
  ];
}
