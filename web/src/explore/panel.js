// The panel of the explorer: the choices of a plan and its job, each with its place in the file.
import { element } from "../dom.js";
import { flag, number, size, words } from "./controls.js";

const named = (list) => list.map((value) => ({ value, name: value }));
const explained = (list) => list.map(({ name, text }) => ({ value: name, name: text ? `${name}: ${text}` : name }));

/** What a model or a cluster is called that stands in the plan or is known by its name. */
const nameOf = (what) => (typeof what === "string" ? what : (what.profile ?? `${what.name ?? "its own"} (in the plan)`));

const devicesOf = ({ tensor, context, pipeline, data }) => tensor * context * pipeline * data;

/** Sizes of data parallelism with which whole nodes are filled. */
const dataSizes = (plan, sizes) => {
  const { data, ...rest } = plan.parallel;
  return sizes.data.filter((value) => devicesOf({ ...rest, data: value }) % sizes.devices_per_node === 0);
};

const takeNodes = ({ job }, nodes) => {
  job.cluster.nodes = nodes;
  delete job.cluster.devices;
};

const group = (name, ...parts) => element("fieldset", {}, element("legend", {}, name), parts.flat());

/** Controls, each with what sets it to what a plan says. */
class Controls {
  constructor() {
    this.all = [];
  }

  add(control, show) {
    this.all.push({ control, show });
    return control.part;
  }

  show(plan, sizes) {
    for (const { control, show } of this.all) show(control, plan, sizes);
  }
}

/**
 * `choices` as the planner tells them. `changed(plan, settle)` gets the plan that a person asks for, and
 * whether what depends on the change shall follow; `begun(job)` the job where another model or cluster is asked for. `show(plan, sizes)` sets all.
 */
export function panel(choices, { changed, begun }) {
  let shown;
  const change = (write, settle = false) => (value) => {
    const plan = structuredClone(shown.plan);
    write(plan, value);
    changed(plan, settle);
  };
  const begin = (write) => (value) => {
    const { kernels, ...job } = structuredClone(shown.plan.job);
    write(job, value);
    begun({ stepwright: "job/2", ...job });
  };
  const degree = (key) => change((plan, value) => {
    if (key === "tensor" && (value === 1 || plan.parallel.tensor === 1)) plan.sequence_parallel = value > 1;
    plan.parallel[key] = value;
    if (key === "data") takeNodes(plan, devicesOf(plan.parallel) / shown.sizes.devices_per_node);
  }, true);
  const leastChunks = Object.fromEntries(choices.schedules.map(({ name, chunks }) => [name, chunks]));
  const controls = new Controls();
  const chosen = (name, write, read, options) => controls.add(words(name, write), (control, plan) => control.show(read(plan), options));
  const typed = (name, write, read) => controls.add(number(name, change(write, true)), (control, plan, sizes) => control.show(read(plan, sizes)));
  const dragged = (name, write, read, possible) => controls.add(size(name, write), (control, plan, sizes) => control.show(read(plan), possible(sizes, plan)));
  const degrees = ["tensor", "pipeline", "context", "expert"].map((key) =>
    dragged(`${key[0].toUpperCase()}${key.slice(1)} parallel`, degree(key), (plan) => plan.parallel[key], (sizes) => sizes[key]),
  );

  const part = element(
    "form",
    { class: "panel", "aria-label": "The plan" },
    group(
      "Job",
      chosen("Model", begin((job, value) => (job.model = value)), ({ job }) => nameOf(job.model), named(choices.models)),
      chosen("Cluster", begin((job, value) => (job.cluster = { profile: value, nodes: shown.sizes.nodes })), ({ job }) => nameOf(job.cluster), named(choices.clusters)),
      typed("Nodes", takeNodes, (_, sizes) => sizes.nodes),
      typed("Sequences in a batch", (plan, value) => (plan.job.batch.sequences = value), ({ job }) => job.batch.sequences),
      typed("Tokens of a sequence", (plan, value) => (plan.job.batch.length = value), ({ job }) => job.batch.length),
      chosen("Precision", change((plan, value) => (plan.job.precision = value)), ({ job }) => job.precision, named(choices.precisions)),
    ),
    group(
      "Plan",
      degrees,
      dragged("Data parallel", degree("data"), (plan) => plan.parallel.data, (sizes, plan) => dataSizes(plan, sizes)),
      dragged("Micro-batch", change((plan, value) => (plan.micro_batch = value)), (plan) => plan.micro_batch, (sizes) => sizes.micro_batch),
      chosen("Schedule", change((plan, value) => (plan.schedule = { kind: value, chunks: leastChunks[value] })), ({ schedule }) => schedule.kind, explained(choices.schedules)),
      dragged("Chunks of a stage", change((plan, value) => (plan.schedule.chunks = value)), ({ schedule }) => schedule.chunks, (sizes) => sizes.chunks),
      chosen("Sharding", change((plan, value) => (plan.sharding = value)), ({ sharding }) => sharding.states, explained(choices.shardings)),
      chosen("Recompute", change((plan, value) => (plan.recompute = value)), ({ recompute }) => (typeof recompute === "string" ? recompute : JSON.stringify(recompute)), named(choices.recompute)),
      controls.add(flag("Sequence parallel", change((plan, value) => (plan.sequence_parallel = value))), (control, plan) => control.show(plan.sequence_parallel)),
    ),
  );
  part.addEventListener("submit", (event) => event.preventDefault());
  return {
    part,
    show: (plan, sizes) => {
      shown = { plan, sizes };
      controls.show(plan, sizes);
    },
  };
}
