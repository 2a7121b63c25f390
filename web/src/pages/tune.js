import { breakdown } from "../charts/breakdown.js";
import { pareto } from "../charts/pareto.js";
import { sweepView } from "../charts/sweep.js";
import { element, list, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, count, percent, probability, time } from "../format.js";
import { chosenFigure, notes, section } from "../section.js";
import { headline, lossSentence, planSections } from "./plan.js";

function whySentences(answer, prediction) {
  const told = [];
  const gap = percent(answer.optimality_gap);
  told.push(
    `The search looked at ${count(answer.space.legal)} legal plans and ruled most of them out by bounds; ${count(answer.space.simulated)} were simulated.` +
      (answer.optimality_gap > 0 ? ` By these bounds no plan that fits can be more than ${gap} faster.` : " No plan that fits is faster, by proof."),
  );
  if (answer.baseline && answer.speedup_over_baseline > 0) {
    const factor = answer.speedup_over_baseline.toFixed(2);
    told.push(`The usual rule of thumb would take ${time(answer.baseline.step_time_s)}, ${factor} times as long.`);
  }
  if (answer.unbound) told.push(`A plan of ${time(answer.unbound.step_time_s)}, ${percent(answer.unbound.gain)} faster, is started by no framework's files: ${answer.unbound.why}.`);
  told.push(lossSentence(prediction));
  const tied = answer.plans.filter((plan) => plan.tied).length - 1;
  if (tied > 0) told.push(`${tied === answer.plans.length - 1 ? "At least " : ""}${count(tied)} other ${tied === 1 ? "plan is" : "plans are"} within the model's own error of the best: measure before you decide between them.`);
  return told;
}

const planCell = ({ code, words }) => element("div", { class: "plan" }, element("code", {}, code), element("div", { class: "soft" }, words));

function alternatives(answer, names) {
  const best = answer.plans[0];
  const plans = [best, ...answer.alternatives];
  const called = [names.plans[0], ...names.alternatives];
  const what = (plan, i) => (i === 0 ? "the best" : [...plan.wins.map((win) => `+ ${win}`), ...plan.loses.map((loss) => `− ${loss}`)].join("; "));
  return section(
    "Alternatives",
    "The best plan beside the best of each other family",
    paragraph("A family is one choice of degrees, kind of schedule, sharding strategy and recomputation."),
    figure(breakdown({ label: "Time of the best plans", rows: plans.map((plan, i) => ({ name: called[i].code, breakdown: plan.breakdown })), caption: "Of the critical stage of each plan." })),
    table({
      caption: "Beside the best plan: + better, - worse",
      columns: [{ name: "Plan" }, { name: "Step", number: true }, { name: "MFU", number: true }, { name: "Memory", number: true }, { name: "P(fits)", number: true }, { name: "Against the best" }, { name: "Started by the files of" }],
      rows: plans.map((plan, i) => [planCell(called[i]), time(plan.step_time_s), percent(plan.mfu), bytes(plan.peak_memory_bytes), probability(plan.p_fits), what(plan, i), plan.runs_on.join(", ")]),
      best: 0,
    }),
  );
}

function front(answer, pictures) {
  const { names, memory, stated_error: error } = pictures;
  if (answer.pareto.length === 0) return undefined;
  const codes = new Set(names.pareto.map(({ code }) => code));
  const called = (plans, list) => plans.map((plan, i) => ({ ...plan, name: list[i].code }));
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
  const rows = changes.map((change) => [change.set.join(" "), change.kind, time(change.step_time_s), time(change.gain_s), bytes(change.peak_memory_bytes)]);
  return section(
    "Your plan",
    "From your own plan to the best",
    paragraph(`Your plan takes ${time(own.step_time_s)}${own.fits ? "" : " and does not fit in memory"}. Each change comes on top of those before it.`),
    table({
      caption: "Changes, in order",
      columns: [{ name: "--set" }, { name: "Kind" }, { name: "Step", number: true }, { name: "Gain", number: true }, { name: "Memory", number: true }],
      rows,
    }),
  );
}

/** What less certainty that it fits, a device with more memory and two strands would gain. */
function beyond(answer) {
  const { more_memory: more, two_strands: strands } = answer;
  if (more.length === 0 && !strands) return undefined;
  return section(
    "More memory",
    "What more risk, more memory or two strands would gain",
    strands && paragraph(`Two strands of micro-batches, which only Stepwright's own executor runs, would take ${time(strands.step_time_s)}: ${time(strands.gain_s)} less, by a plan near the best.`),
    more.length > 0 &&
      table({
        caption: "By plans near the best",
        columns: [{ name: "Memory of a GPU", number: true }, { name: "Step", number: true }, { name: "Gain", number: true }, { name: "Needs", number: true }, { name: "P(fits)", number: true }],
        rows: more.map((step) => [bytes(step.capacity_bytes), time(step.step_time_s), time(step.gain_s), bytes(step.peak_memory_bytes), probability(step.p_fits)]),
      }),
  );
}

const refused = (answer) =>
  table({
    caption: "Why combinations are not legal",
    columns: [{ name: "Combinations", number: true }, { name: "Refused by the rule that" }],
    rows: answer.rejected.map(({ count: points, reason }) => [count(points), reason]),
  });

export function tunePage({ answer, pictures }) {
  const best = answer.plans[0];
  const { names } = pictures;
  const lead = element("p", { class: "lead" }, best.fits ? "The plan to train with: " : "No plan fits; this one needs the least memory: ", `${pictures.name.words}. `, element("code", {}, pictures.name.code));
  const starts = best.export && element("p", {}, `${best.framework} starts it: `, element("code", {}, best.export), " writes its files.");
  const sweep = answer.sweep && sweepView(answer.sweep, names.sweep, pictures.sweep_field);
  const [timePart, ...rest] = planSections(pictures);
  return [
    lead,
    starts,
    headline(pictures.prediction, pictures.whole_run),
    section("Why", best.fits ? "Why this plan" : "What was searched", list(whySentences(answer, pictures.prediction))),
    answer.against && against(answer.against),
    answer.alternatives.length > 0 ? alternatives(answer, names) : undefined,
    front(answer, pictures),
    sweep && section("Sweep", `The best plan for each ${pictures.sweep_field}`, chosenFigure("Show", sweep)),
    timePart,
    ...rest,
    beyond(answer),
    section("Search", "What was searched", paragraph(`Of ${count(answer.space.total)} combinations of choices ${count(answer.space.legal)} are legal; ${count(answer.space.priced)} were estimated, lower bounds ruled out ${count(answer.space.bounded)}, and ${count(answer.space.simulated)} were simulated.`), refused(answer)),
    notes(answer.notes),
  ];
}
