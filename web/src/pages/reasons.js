// Why a plan has each of its choices: what the nearest plan with another value takes or needs.
import { bytes, percent, time } from "../format.js";
import { timeTerms } from "../terms.js";

const kNegligible = 0.002; // of a step

const at = (plan, place) => place.split(".").reduce((part, key) => part?.[key], plan);
const degree = (name, key) => ({ name, of: (plan) => at(plan, `parallel.${key}`) ?? 1 });
const text = (value) =>
  value === undefined ? undefined : typeof value === "string" ? value : JSON.stringify(value).replaceAll(/["{}]/g, "").replaceAll(":", " ");

const kChoices = [
  degree("tensor", "tensor"),
  degree("pipeline", "pipeline"),
  degree("context", "context"),
  degree("expert", "expert"),
  { name: "micro-batch", of: (plan) => plan.micro_batch ?? 1 },
  { name: "schedule", of: (plan) => plan.schedule?.kind ?? plan.schedule ?? "none" },
  { name: "sharding", of: (plan) => text(plan.sharding?.states ?? plan.sharding) },
  { name: "recompute", of: (plan) => text(plan.recompute) ?? "none" },
];

/**
 * What takes longer in another plan than in the best, largest first.
 * @returns {[string, number][]}
 */
const losses = (best, other) =>
  timeTerms
    .map(([, name, seconds]) => /** @type {[string, number]} */ ([name.toLowerCase(), seconds(other) - seconds(best)]))
    .filter(([, more]) => more > 0)
    .sort((a, b) => b[1] - a[1]);

/** In how many choices two plans differ. */
const apart = (a, b) => kChoices.filter(({ of }) => String(of(a)) !== String(of(b))).length;

/** The plan nearest to the best among those with another value of a choice; of equally near ones the fastest that fits. */
function nearest(best, others, { of }) {
  const differing = others.filter(({ plan }) => String(of(plan)) !== String(of(best.plan)));
  const order = (other) => [apart(best.plan, other.plan), other.fits ? 0 : 1, other.step_time_s];
  return differing.sort(
    (a, b) =>
      order(a)
        .map((value, i) => value - order(b)[i])
        .find((value) => value !== 0) ?? 0,
  )[0];
}

/** One reason as a sentence. */
function reason(best, other, choice) {
  const head = `${choice.name} ${choice.of(best.plan)}, not ${choice.of(other.plan)}`;
  const also = kChoices.filter((one) => one !== choice && String(one.of(best.plan)) !== String(one.of(other.plan)));
  const beside =
    also.length > 0 ? ` (the nearest plan found also has ${also.map((one) => `${one.name} ${one.of(other.plan)}`).join(", ")})` : "";
  if (!other.fits) return `${head}: that needs ${bytes(other.peak_memory_bytes)} and does not fit${beside}.`;
  const gain = other.step_time_s - best.step_time_s;
  if (gain < kNegligible * best.step_time_s) return `${head}: as fast within ${percent(kNegligible)}${beside}.`;
  const [first] = losses(best.breakdown, other.breakdown);
  const most = first ? `, most of it ${first[0]} (${time(first[1])} more there)` : "";
  return `${head}: saves ${time(gain)} of a step${most}${beside}.`;
}

/** A reason for each choice of the best plan that other found plans make differently. */
export function reasons(answer) {
  const [best, ...others] = [...answer.plans, ...answer.alternatives];
  return kChoices.flatMap((choice) => {
    const other = nearest(best, others, choice);
    return other ? [reason(best, other, choice)] : [];
  });
}
