// The parts that every page about one plan has.
import { breakdown } from "../charts/breakdown.js";
import { memoryCurve, memoryPeaks } from "../charts/memory.js";
import { sensitivity } from "../charts/sensitivity.js";
import { detail, overview } from "../charts/timeline.js";
import { trafficMatrix } from "../charts/traffic.js";
import { element, paragraph, table } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, change, count, flops, percent, plain, probability, time } from "../format.js";
import { chosenFigure, section, tiles } from "../section.js";
import { lossName } from "../terms.js";

const kSecondsOfADay = 86400;
const dayCount = (days) => `${days < 100 ? days.toPrecision(3) : count(days)} days`;

const tokenCount = (tokens) => {
  const [size, unit] = tokens >= 1e12 ? [1e12, "T"] : tokens >= 1e9 ? [1e9, "B"] : [1, ""];
  return `${plain(tokens / size)}${unit} tokens`;
};

/** What a whole run takes, beside its steps alone; of a trillion tokens and steps alone where nothing is said of a run. */
function wholeRun(prediction, run) {
  const steps = (days) => `steps alone ${dayCount(days)}`;
  if (run === undefined)
    return {
      name: "1T tokens take",
      value: dayCount(1e12 / prediction.tokens_per_s / kSecondsOfADay),
      rest: "without restarts, checkpoints and evaluation",
    };
  if (run.refused !== undefined) return { name: `${tokenCount(run.tokens)} never end`, value: "no end", kind: "bad", rest: run.refused };
  const { days, low, high, gpu_hours: hours, cost, steps_alone: alone } = run;
  const price = cost === undefined ? "" : `, costs ${count(cost)}`;
  return {
    name: `${tokenCount(run.tokens)} take`,
    value: dayCount(days),
    rest: `${dayCount(low.days)} to ${dayCount(high.days)} with a probability of 80%, restarts and checkpoints included; ${steps(alone.days)}; ${count(hours)} GPU-hours${price}`,
  };
}

/** How a figure differs from that of plan A, as a line of its tile. */
const againstA = (now, before, text) => (before === undefined ? undefined : `A: ${text(before)} (${change(now / before - 1)})`);

/**
 * The figures that matter first; `run` may say what a whole run takes, as `whole_run` of answers, `before` is the prediction of
 * plan A that each is compared with.
 */
export function headline(prediction, run, before) {
  const { capacity_bytes: capacity, reserve_bytes: reserve, peak_memory_bytes: peak, p_fits: likely } = prediction;
  const against = (key, text) => againstA(prediction[key], before?.[key], text);
  return tiles([
    {
      name: "One step takes",
      value: time(prediction.step_time_s),
      rest: `${time(prediction.low_s)} to ${time(prediction.high_s)} with a probability of 80%`,
      against: against("step_time_s", time),
    },
    {
      name: "Throughput",
      value: `${count(prediction.tokens_per_s)} tokens/s`,
      rest: `${count(prediction.tokens_per_s_per_device)} tokens/s of each GPU`,
      against: against("tokens_per_s", (rate) => `${count(rate)} tokens/s`),
    },
    {
      ...wholeRun(prediction, run),
      against:
        before &&
        againstA(
          1 / prediction.tokens_per_s,
          1 / before.tokens_per_s,
          (seconds) => `${dayCount((1e12 * seconds) / kSecondsOfADay)} for 1T tokens`,
        ),
    },
    {
      name: "MFU",
      value: percent(prediction.mfu),
      rest: `${flops(prediction.tflops_per_device * 1e12)} of ${flops(prediction.peak_flops)}`,
      against: against("mfu", percent),
    },
    {
      name: { fits: "Memory: it fits", tight: "Memory: tight" }[prediction.verdict] ?? "Out of memory",
      value: bytes(peak),
      kind: prediction.fits ? "good" : "bad",
      rest: `${bytes(capacity - reserve)} usable of ${bytes(capacity)}. Chance it fits: ${probability(likely)}`,
      against: against("peak_memory_bytes", bytes),
    },
  ]);
}

/** The largest losses as a sentence. */
export function lossSentence({ losses, mfu }) {
  const ideal = `The model's own FLOPs at the dense peak would take ${percent(mfu)} of the step.`;
  const largest = losses.filter(({ time_s: seconds }) => seconds > 0).slice(0, 3);
  if (largest.length === 0) return ideal;
  const told = largest.map(({ what, time_s: seconds, share }) => `${lossName(what).toLowerCase()} (${time(seconds)}, ${percent(share)})`);
  return `${ideal} The largest losses: ${told.join("; ")}.`;
}

/** The breakdown of every stage, as a picture; above them the stages of plan A, where there is one. */
export function stageTimes(prediction, before) {
  const many = prediction.stages.length > 1;
  const critical = many ? ` Stage ${prediction.critical_stage} is the critical one: it waits least for others.` : "";
  const of = ({ stages, critical_stage: most }, name) =>
    stages.map((stage) => ({
      name: `${name}stage ${stage.stage} (${stage.layers} layers)${stages.length > 1 && stage.stage === most ? ", critical" : ""}`,
      breakdown: stage.breakdown,
    }));
  const rows = [...(before ? of(before, "A, ") : []), ...of(prediction, "")];
  return breakdown({
    label: "Time of each pipeline stage",
    rows,
    caption: `Messages count only where computation waits for them.${critical}`,
  });
}

/** Memory of one stage over the step, the fullest first: views of a figure. */
function memoryOverStep({ prediction, memory, memory_curves: curves }) {
  return {
    choices: curves.stages.map(({ stage }) => ({ value: String(stage), name: `stage ${stage}` })),
    draw: (stage) => memoryCurve(curves, Number(stage), memory, prediction.step_time_s),
    first: String(fullest(memory)),
  };
}

const fullest = (memory) => memory.stages.reduce((a, b) => (b.peak_memory_bytes > a.peak_memory_bytes ? b : a)).stage;

/** The sentence before the best plan of a search in which none fits. */
export const noneFits = (best) =>
  best.verdict === "tight"
    ? `No plan fits with the confidence asked for; this one is tight (chance it fits: ${probability(best.p_fits)}):`
    : "No plan fits; this one needs the least memory:";

const usableOf = (memory) => memory.capacity_bytes - memory.reserve_bytes;
const outOfHost = (memory) => !memory.fits && memory.verdict !== "tight" && memory.peak_memory_bytes <= usableOf(memory);

/** Whether a plan fits, with what it needs and what there is. */
export function fitSentence(memory) {
  const needs = `needs ${bytes(memory.peak_memory_bytes)}, ${bytes(usableOf(memory))} usable`;
  if (memory.fits) return `Fits: ${needs}`;
  if (memory.verdict === "tight") return `Tight: ${needs}, chance it fits ${probability(memory.p_fits)}`;
  if (outOfHost(memory))
    return `Out of host memory: a node needs ${bytes(memory.host_memory_bytes)} of its ${bytes(memory.host_capacity_bytes)}`;
  return `Out of memory: ${needs}`;
}

/** How full the fullest GPU is, and which stages are too full, in sentences. */
export function memorySentence(memory) {
  if (outOfHost(memory)) return `${fitSentence(memory)}.`;
  const over = memory.stages.filter((stage) => stage.peak_memory_bytes > usableOf(memory)).length;
  const stages =
    memory.stages.length > 1
      ? ` Stage ${fullest(memory)} is the fullest.${over > 0 ? ` ${over} of ${memory.stages.length} stages need more than is usable.` : ""}`
      : "";
  const asked = memory.verdict === "tight" ? ` That is ${bytes(memory.over_by_bytes)} more than fits with the confidence asked for.` : "";
  return `${fitSentence(memory)}. A GPU has ${bytes(memory.capacity_bytes)}; what is not usable is kept in reserve.${asked}${stages}`;
}

const operators = ({ timeline }) => chosenFigure("Show", detail(timeline));
const overStep = (pictures) => chosenFigure("Show", memoryOverStep(pictures));

function trafficSection({ traffic }) {
  if (traffic.cells.length === 0) return undefined;
  const views = trafficMatrix(traffic);
  return section(
    "Traffic",
    "Who sends how much to whom",
    paragraph(`All GPUs together send ${bytes(traffic.total_bytes)} in one step.`),
    chosenFigure("Show", views),
    table(views.diagonals),
  );
}

const whatIfSection = (pictures) =>
  section(
    "What if",
    "What if one thing were different",
    paragraph(
      "Change of the tokens per second of the whole cluster. A larger batch makes a step longer but trains on more tokens, so compare throughput.",
    ),
    figure(sensitivity(pictures.sensitivity)),
  );

/** Time by kind, timeline, memory, traffic and what if, of one plan. */
export function planSections(pictures) {
  const { prediction, memory, timeline } = pictures;
  return [
    section("Time", "Where the time of a step goes", paragraph(lossSentence(prediction)), figure(stageTimes(prediction))),
    section(
      "Timeline",
      "The timeline of one step",
      chosenFigure("Show", overview(timeline)),
      element("h3", {}, "Operator by operator"),
      operators(pictures),
    ),
    section(
      "Memory",
      "What fills the memory",
      paragraph(memorySentence(memory)),
      figure(memoryPeaks(memory)),
      element("h3", {}, "Memory over the step"),
      overStep(pictures),
    ),
    trafficSection(pictures),
    whatIfSection(pictures),
  ];
}

/** What a page that shows time, timeline and memory itself does not yet show of a plan. */
export const furtherSections = (pictures) => [
  section("Operators", "One forward and one backward", operators(pictures)),
  section("Memory over time", "What fills the memory over the step", overStep(pictures)),
  trafficSection(pictures),
  whatIfSection(pictures),
];
