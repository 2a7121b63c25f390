// The parts that every page about one plan has.
import { breakdown } from "../charts/breakdown.js";
import { memoryCurve, memoryPeaks } from "../charts/memory.js";
import { sensitivity } from "../charts/sensitivity.js";
import { detail, overview } from "../charts/timeline.js";
import { trafficMatrix } from "../charts/traffic.js";
import { element, paragraph } from "../dom.js";
import { figure } from "../figure.js";
import { bytes, count, flops, percent, plain, probability, time } from "../format.js";
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
  if (run === undefined) return { name: "1T tokens take", value: dayCount(1e12 / prediction.tokens_per_s / kSecondsOfADay), rest: "without restarts, checkpoints and evaluation" };
  if (run.refused !== undefined) return { name: `${tokenCount(run.tokens)} never end`, value: "no end", kind: "bad", rest: run.refused };
  const { days, low, high, gpu_hours: hours, cost, steps_alone: alone } = run;
  const price = cost === undefined ? "" : `, costs ${count(cost)}`;
  return {
    name: `${tokenCount(run.tokens)} take`,
    value: dayCount(days),
    rest: `${dayCount(low.days)} to ${dayCount(high.days)} with a probability of 80%, restarts and checkpoints included; ${steps(alone.days)}; ${count(hours)} GPU-hours${price}`,
  };
}

/** The figures that matter first; `run` may say what a whole run takes, as `whole_run` of answers. */
export function headline(prediction, run) {
  const { capacity_bytes: capacity, reserve_bytes: reserve, peak_memory_bytes: peak, p_fits: likely } = prediction;
  return tiles([
    { name: "One step takes", value: time(prediction.step_time_s), rest: `${time(prediction.low_s)} to ${time(prediction.high_s)} with a probability of 80%` },
    { name: "Throughput", value: `${count(prediction.tokens_per_s)} tokens/s`, rest: `${count(prediction.tokens_per_s_per_device)} tokens/s of each GPU` },
    wholeRun(prediction, run),
    { name: "MFU", value: percent(prediction.mfu), rest: `${flops(prediction.tflops_per_device * 1e12)} of ${flops(prediction.peak_flops)}` },
    {
      name: prediction.fits ? "Memory: it fits" : "Memory: it does not fit",
      value: bytes(peak),
      kind: prediction.fits ? "good" : "bad",
      rest: `${prediction.fits ? "" : `${bytes(peak - capacity + reserve)} too much: `}of ${bytes(capacity)}, ${bytes(reserve)} of that kept free; it fits with a probability of ${probability(likely)}`,
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

/** The breakdown of every stage, as a picture. */
export function stageTimes(prediction) {
  const many = prediction.stages.length > 1;
  const critical = many ? ` Stage ${prediction.critical_stage} is the critical one: it waits least for others.` : "";
  const rows = prediction.stages.map((stage) => ({ name: `stage ${stage.stage} (${stage.layers} layers)${many && stage.stage === prediction.critical_stage ? ", critical" : ""}`, breakdown: stage.breakdown }));
  return breakdown({ label: "Time of each pipeline stage", rows, caption: `Messages count only where computation waits for them.${critical}` });
}

/** What fills one stage over the step, the fullest first: views of a figure. */
function memoryOverStep({ prediction, memory, memory_curves: curves }) {
  return {
    choices: curves.stages.map(({ stage }) => ({ value: String(stage), name: `stage ${stage}` })),
    draw: (stage) => memoryCurve(curves, Number(stage), memory, prediction.step_time_s),
    first: String(fullest(memory)),
  };
}

const fullest = (memory) => memory.stages.reduce((a, b) => (b.peak_memory_bytes > a.peak_memory_bytes ? b : a)).stage;

/** What does not fit, by how much, and where, in a sentence; empty where all does. */
export function misfitSentence(memory) {
  if (memory.fits) return "";
  const usable = memory.capacity_bytes - memory.reserve_bytes;
  if (memory.peak_memory_bytes <= usable)
    return `The plan does not fit: the host of a node would hold ${bytes(memory.host_memory_bytes)} of the ${bytes(memory.host_capacity_bytes)} that it has.`;
  const over = memory.stages.filter((stage) => stage.peak_memory_bytes > usable).length;
  const others = memory.stages.length > 1 ? ` ${over} of ${memory.stages.length} stages are over.` : "";
  return `The plan does not fit: stage ${fullest(memory)} needs ${bytes(memory.peak_memory_bytes)}, ${bytes(memory.over_by_bytes)} more than a plan may use of a GPU.${others}`;
}

/** How full the fullest GPU is, in a sentence. */
export const memorySentence = (memory) =>
  `${misfitSentence(memory)} The fullest GPU, of stage ${fullest(memory)}, holds ${bytes(memory.peak_memory_bytes)} at its peak. A plan may use ${bytes(memory.capacity_bytes - memory.reserve_bytes)} of the ${bytes(memory.capacity_bytes)} of a GPU; the rest is kept in reserve.`.trim();

const operators = ({ timeline }) => chosenFigure("Show", detail(timeline));
const overStep = (pictures) => chosenFigure("Show", memoryOverStep(pictures));

const trafficSection = ({ traffic }) =>
  traffic.cells.length > 0
    ? section(
        "Traffic",
        "Who sends how much to whom",
        paragraph(`All GPUs together send ${bytes(traffic.total_bytes)} in one step.`),
        figure(trafficMatrix(traffic)),
      )
    : undefined;

const whatIfSection = (pictures) =>
  section(
    "What if",
    "What if one thing were different",
    paragraph("The change of the tokens per second of the whole cluster. A larger batch takes longer and trains on more tokens, so the throughput says more than the time of a step."),
    figure(sensitivity(pictures.sensitivity)),
  );

/** Time by kind, timeline, memory, traffic and what if, of one plan. */
export function planSections(pictures) {
  const { prediction, memory, timeline } = pictures;
  return [
    section("Time", "Where the time of a step goes", paragraph(lossSentence(prediction)), figure(stageTimes(prediction))),
    section("Timeline", "The timeline of one step", chosenFigure("Show", overview(timeline)), element("h3", {}, "Operator by operator"), operators(pictures)),
    section("Memory", "What fills the memory", paragraph(memorySentence(memory)), figure(memoryPeaks(memory)), element("h3", {}, "Over the step"), overStep(pictures)),
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
