import { bars } from "../charts/bars.js";
import { lines } from "../charts/lines.js";
import { element, list, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, count, percent, plain, rate, time, words } from "../format.js";
import { chosenFigure, section } from "../section.js";

const kSame = 1.0005;
const one = (key, name) => [{ key, name, colour: (colours) => colours.list[0] }];

/** How people read the numbers of an axis of a study. */
function reading(title) {
  if (title === "busbw") return { name: "bus bandwidth (as nccl-tests define it)", text: rate };
  if (title.startsWith("share")) return { name: title, text: percent };
  if (title === "message") return { name: "message", text: bytes };
  if (title === "rate of a NIC") return { name: "rate of a NIC, times that of the cluster", text: plain };
  return { name: title, text: plain };
}

const answered = (...sentences) => element("p", { class: "lead" }, sentences.filter(Boolean).join(" "));
const leastOf = (list, value) => list.reduce((a, b) => (value(b) < value(a) ? b : a));

/** Where a curve begins and ends, of the one that ends highest. */
function panelAnswer({ title, curves, x, y }) {
  const drawn = curves
    .filter(({ points }) => points.some(([, value]) => value !== null))
    .map((curve) => ({ ...curve, points: curve.points.filter(([, value]) => value !== null) }));
  if (drawn.length === 0) return undefined;
  const last = ({ points }) => points[points.length - 1];
  const highest = leastOf(drawn, (curve) => -last(curve)[1]);
  const [[from, least], [to, most]] = [highest.points[0], last(highest)];
  const of = drawn.length > 1 ? ` (highest: ${highest.name.replaceAll("_", "-")})` : "";
  return `${title}${of}: ${reading(y).text(least)} at ${reading(x).text(from)} (${reading(x).name}), ${reading(y).text(most)} at ${reading(x).text(to)}.`;
}

const panels = ({ panels: panelsOf }) => [
  panelsOf.length > 1 ? list(panelsOf.map(panelAnswer).filter(Boolean)) : answered(...panelsOf.map(panelAnswer)),
  ...panelsOf.map((panel) =>
    section(
      words(panel.key),
      panel.title,
      figure(
        lines({
          label: panel.title,
          curves: panel.curves.map((curve) => ({ ...curve, name: curve.name.replaceAll("_", "-") })),
          x: { ...reading(panel.x), log: true, base: 2 },
          y: reading(panel.y),
        }),
      ),
    ),
  ),
];

function choices({ choices: list }) {
  const found = list.filter((choice) => choice.step_time_s !== undefined);
  const best = found.length > 0 && leastOf(found, (choice) => choice.step_time_s);
  return [
    answered(
      best
        ? `The fastest plan, ${time(best.step_time_s)} a step, is chosen by ${found
            .filter((one) => one.step_time_s <= best.step_time_s * kSame)
            .map(({ by }) => by)
            .join(", ")}.`
        : "No way to choose finds a plan that fits.",
    ),
    section(
      "Choices",
      "Which plan each way of choosing picks",
      paragraph("Each way chooses from the same space and is judged on the same cost model."),
      figure(
        bars({
          label: "Step time of the plan that each way picks",
          rows: found.map(({ by, step_time_s: step }) => ({ name: by, values: { step } })),
          parts: one("step", "Step"),
          text: time,
          unit: "time of a step",
          total: (row) => row.values.step,
        }),
      ),
      table({
        caption: "Plans evaluated and search time of each way",
        columns: [
          { name: "By" },
          { name: "Step", number: true },
          { name: "Plans evaluated", number: true },
          { name: "Search took", number: true },
        ],
        rows: list.map((choice) => [
          choice.by,
          choice.step_time_s === undefined ? "nothing fits" : time(choice.step_time_s),
          count(choice.evaluated),
          time(choice.seconds),
        ]),
      }),
    ),
  ];
}

const named = (schedule) => schedule.schedule + (schedule.chunks > 1 ? ` (${schedule.chunks} chunks)` : "");

const most = (values) => Math.max(...values);

const everySchedule = (played, refused) =>
  table({
    caption: "Every schedule",
    columns: [
      { name: "Schedule" },
      { name: "Step", number: true },
      { name: "Longest wait", number: true },
      { name: "Closed form", number: true },
      { name: "Kept", number: true },
    ],
    rows: [
      ...played.map((schedule) => [
        named(schedule),
        time(schedule.makespan_s),
        time(most(schedule.idle_s)),
        schedule.closed_form_s === undefined ? "" : time(schedule.closed_form_s),
        plain(most(schedule.peak_activations)),
      ]),
      ...refused.map((schedule) => [schedule.schedule, schedule.refused, "", "", ""]),
    ],
  });

function schedules({ schedules: list }) {
  const played = list.filter((schedule) => !schedule.refused);
  const refused = list.filter((schedule) => schedule.refused);
  const best = played.length > 0 && leastOf(played, (schedule) => schedule.makespan_s);
  const smallest = played.length > 0 && leastOf(played, (schedule) => most(schedule.peak_activations));
  return [
    best &&
      answered(
        `${named(best)} is the fastest: ${time(best.makespan_s)}, of which its longest wait is ${time(most(best.idle_s))}.`,
        `${named(smallest)} keeps the fewest activations: ${plain(most(smallest.peak_activations))} at once.`,
      ),
    section(
      "Time",
      "How long each schedule takes",
      figure(
        bars({
          label: "Time of the busiest stage of each schedule",
          rows: played.map((schedule) => {
            const idle = most(schedule.idle_s);
            return { name: named(schedule), values: { busy: schedule.makespan_s - idle, idle } };
          }),
          parts: [
            { key: "busy", name: "Computes", colour: (colours) => colours.list[0] },
            { key: "idle", name: "Waits (the bubble)", colour: (colours) => colours.list[7] },
          ],
          text: time,
          unit: "time of a step",
          total: ({ values }) => values.busy + values.idle,
          caption: "Of the stage that waits longest.",
        }),
      ),
    ),
    section(
      "Memory",
      "How many micro-batches' activations each keeps",
      figure(
        bars({
          label: "Activations of micro-batches kept at once, of the fullest stage",
          rows: played.map((schedule) => ({ name: named(schedule), values: { peak: most(schedule.peak_activations) } })),
          parts: one("peak", "Kept"),
          text: plain,
          unit: "activations of one micro-batch through a whole stage",
          total: (row) => row.values.peak,
        }),
      ),
      everySchedule(played, refused),
    ),
  ];
}

function collectives(answer) {
  const keys = [...new Set(answer.points.map((point) => `${point.operation}|${point.payload_bytes}`))];
  const view = {
    choices: keys.map((value) => {
      const [operation, size] = value.split("|");
      return { value, name: `${operation.replaceAll("_", "-")} of ${bytes(Number(size))}` };
    }),
    draw: (key) => {
      const points = answer.points.filter((point) => `${point.operation}|${point.payload_bytes}` === key);
      const names = [...new Set(points.flatMap((point) => point.schedules.map(({ name }) => name)))];
      const curve = (name) => ({
        name,
        points: points.flatMap((point) => {
          const found = point.schedules.find((schedule) => schedule.name === name);
          return found ? [[point.ranks, found.simulated_s ?? found.closed_s]] : [];
        }),
      });
      const least = { name: "least possible", dashed: true, points: points.map((point) => [point.ranks, point.least_s]) };
      return lines({
        label: `Time of ${view.choices.find(({ value }) => value === key).name}`,
        curves: [...names.map(curve), least],
        x: { name: "GPUs", text: plain, log: true, base: 2 },
        y: { name: "time", text: time, log: true },
        height: 420,
      });
    },
  };
  const largest = leastOf(answer.points, (point) => -point.ranks);
  const fastest = leastOf(largest.schedules, (schedule) => schedule.simulated_s ?? schedule.closed_s);
  return [
    answered(
      `On ${plain(largest.ranks)} GPUs the fastest ${largest.operation.replaceAll("_", "-")} of ${bytes(largest.payload_bytes)} is ${fastest.name}: ${time(fastest.simulated_s ?? fastest.closed_s)}; no schedule can take less than ${time(largest.least_s)}.`,
    ),
    section(
      "Scaling",
      "How the schedules of a collective scale",
      paragraph(
        `Nodes of ${answer.devices_per_node} GPUs, ${rate(answer.inside_bytes_per_s)} inside the node and ${answer.nics_per_node} NICs of ${rate(answer.nic_bytes_per_s)}. Simulated where it was asked for, else in closed form.`,
      ),
      chosenFigure("Show", view),
    ),
  ];
}

const kinds = { search: choices, schedules, collectives };

export const studyPage = ({ answer, pictures }) => (kinds[pictures.what] ?? panels)(answer);
