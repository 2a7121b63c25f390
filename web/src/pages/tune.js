import { breakdown } from "../charts/breakdown.js";
import { pareto } from "../charts/pareto.js";
import { sweepView } from "../charts/sweep.js";
import { element, list, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, change, count, percent, probability, time } from "../format.js";
import { chosenFigure, notes, section } from "../section.js";
import { reasons } from "./reasons.js";
import { headline, lossSentence, noneFits, planSections } from "./plan.js";

/** What else is to be known of the choice: proof, rule of thumb, ties. */
function whySentences(answer, prediction) {
  const told = [lossSentence(prediction)];
  if (answer.baseline && answer.speedup_over_baseline > 0) {
    const factor = answer.speedup_over_baseline.toFixed(2);
    told.push(`The usual rule of thumb would take ${time(answer.baseline.step_time_s)}, ${factor} times as long.`);
  }
  if (answer.unbound)
    told.push(
      `A plan of ${time(answer.unbound.step_time_s)}, ${percent(answer.unbound.gain)} faster, cannot be started by any framework's files: ${answer.unbound.why}.`,
    );
  const tied = answer.plans.filter((plan) => plan.tied).length - 1;
  if (tied > 0)
    told.push(
      `${tied === answer.plans.length - 1 ? "At least " : ""}${count(tied)} other ${tied === 1 ? "plan is" : "plans are"} at most 3% slower than the best. Measured, such plans often come in the other order.`,
    );
  told.push(
    answer.optimality_gap > 0
      ? `No plan that fits can be more than ${percent(answer.optimality_gap)} faster, by the bounds of the search.`
      : "No plan that fits is faster, by proof.",
  );
  return told;
}

/** A reason for each choice, then the rest. */
const why = (answer, prediction) =>
  section(
    "Why",
    answer.plans[0].fits ? "Why this plan" : "Why no plan fits",
    answer.plans[0].fits && list(reasons(answer)),
    list(whySentences(answer, prediction)),
  );

const planCell = ({ code, words }) =>
  element("div", { class: "plan" }, element("code", {}, code), element("div", { class: "soft" }, words));

function alternatives(answer, names) {
  const best = answer.plans[0];
  const plans = [best, ...answer.alternatives];
  const called = [names.plans[0], ...names.alternatives];
  const slower = (plan) => change(plan.step_time_s / best.step_time_s - 1);
  return section(
    "Alternatives",
    "The best plan beside the best of each other family",
    paragraph("A family is one choice of degrees, kind of schedule, sharding strategy and recomputation."),
    figure(
      breakdown({
        label: "Time of the best plans",
        rows: plans.map((plan, i) => ({ name: called[i].code, breakdown: plan.breakdown })),
        caption: "Of the critical stage of each plan.",
      }),
    ),
    table({
      caption: "The best plan of each family against the best of all",
      columns: [
        { name: "Plan" },
        { name: "Step", number: true },
        { name: "Against the best", number: true },
        { name: "MFU", number: true },
        { name: "Memory", number: true },
        { name: "Chance it fits", number: true },
        { name: "Better" },
        { name: "Worse" },
        { name: "Supported by" },
      ],
      rows: plans.map((plan, i) => [
        planCell(called[i]),
        time(plan.step_time_s),
        i === 0 ? "the best" : slower(plan),
        percent(plan.mfu),
        bytes(plan.peak_memory_bytes),
        probability(plan.p_fits),
        (plan.wins ?? []).join("; "),
        (plan.loses ?? []).join("; "),
        plan.runs_on.join(", ") || "no framework",
      ]),
      best: 0,
    }),
  );
}

function front(answer, pictures) {
  const { names, memory, stated_error: error } = pictures;
  if (answer.pareto.length === 0) return undefined;
  const codes = new Set(names.pareto.map(({ code }) => code));
  const called = (plans, list) => plans.map((plan, i) => ({ ...plan, name: list[i].code, words: list[i].words }));
  const seen = new Map();
  for (const plan of [...called(answer.plans, names.plans), ...called(answer.alternatives, names.alternatives)]) {
    if (plan.fits && !codes.has(plan.name)) seen.set(plan.name, plan);
  }
  const picture = pareto({
    front: called(answer.pareto, names.pareto),
    others: [...seen.values()],
    usable: memory.capacity_bytes - memory.reserve_bytes,
    capacity: memory.capacity_bytes,
    error,
  });
  return section("Trade-off", "Less memory for more time", figure(picture));
}

function against({ changes, ...own }) {
  const rows = changes.map((change) => [
    change.set.join(" "),
    change.kind,
    time(change.step_time_s),
    time(change.gain_s),
    bytes(change.peak_memory_bytes),
  ]);
  return section(
    "Your plan",
    "From your own plan to the best",
    paragraph(
      `Your plan takes ${time(own.step_time_s)}${{ fits: "", tight: " and is tight in memory" }[own.verdict] ?? " and does not fit in memory"}. Each change comes on top of those before it.`,
    ),
    table({
      caption: "Changes, in order",
      columns: [
        { name: "--set" },
        { name: "Kind" },
        { name: "Step", number: true },
        { name: "Gain", number: true },
        { name: "Memory", number: true },
      ],
      rows,
    }),
  );
}

/** Gains of less certainty that a plan fits, of a device with more memory and of two overlapped micro-batches. */
function beyond(answer) {
  const { more_memory: more, two_strands: strands } = answer;
  if (more.length === 0 && !strands) return undefined;
  return section(
    "More memory",
    "What more risk, more memory or two overlapped micro-batches would gain",
    strands &&
      paragraph(
        `Two micro-batches overlapped, which only Stepwright's own executor runs, would take ${time(strands.step_time_s)} a step: ${time(strands.gain_s)} less, by a plan near the best.`,
      ),
    more.length > 0 &&
      table({
        caption: "By plans near the best",
        columns: [
          { name: "Memory of a GPU", number: true },
          { name: "Step", number: true },
          { name: "Gain", number: true },
          { name: "Needs", number: true },
          { name: "Chance it fits", number: true },
        ],
        rows: more.map((step) => [
          bytes(step.capacity_bytes),
          time(step.step_time_s),
          time(step.gain_s),
          bytes(step.peak_memory_bytes),
          probability(step.p_fits),
        ]),
      }),
  );
}

const refused = (answer) =>
  table({
    caption: "Why combinations are not legal",
    columns: [{ name: "Combinations", number: true }, { name: "Rule that refuses them" }],
    rows: answer.rejected.map(({ count: points, reason }) => [count(points), reason]),
  });

export function tunePage({ answer, pictures }) {
  const best = answer.plans[0];
  const { names } = pictures;
  const lead = element(
    "p",
    { class: "lead" },
    best.fits ? "The plan to train with: " : `${noneFits(best)} `,
    `${pictures.name.words}. `,
    element("code", {}, pictures.name.code),
  );
  const starts = best.export && element("p", {}, `${best.framework} starts it: `, element("code", {}, best.export), " writes its files.");
  const sweep = answer.sweep && sweepView(answer.sweep, names.sweep, pictures.sweep_field);
  const [timePart, ...rest] = planSections(pictures);
  return [
    lead,
    starts,
    headline(pictures.prediction, pictures.whole_run),
    why(answer, pictures.prediction),
    answer.against && against(answer.against),
    answer.alternatives.length > 0 ? alternatives(answer, names) : undefined,
    front(answer, pictures),
    sweep && section("Sweep", `The best plan for each ${pictures.sweep_field}`, chosenFigure("Show", sweep)),
    timePart,
    ...rest,
    beyond(answer),
    section(
      "Search",
      "What was searched",
      paragraph(
        `Of ${count(answer.space.total)} combinations of choices ${count(answer.space.legal)} are legal; ${count(answer.space.priced)} were estimated, lower bounds ruled out ${count(answer.space.bounded)}, and ${count(answer.space.simulated)} were simulated.`,
      ),
      refused(answer),
    ),
    notes(answer.notes),
  ];
}
