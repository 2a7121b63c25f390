// The panel of the explorer: a control for each choice that the planner tells of, with its place in plan files.
import { element } from "../dom.js";
import { flag, number, release, several, size, text, words } from "./controls.js";
import { groupOf, kGroups, kJob, nameOf, wordOf } from "./labels.js";
import { recompute } from "./recompute.js";

const named = (list) => list.map((value) => ({ value, name: value }));
const explained = (list) => list.map((word) => ({ value: word.name, name: wordOf(word) }));
const short = (list) => list.map(({ name }) => ({ value: name, name: name.replaceAll("_", " ") }));

/** What a model, a cluster or a framework is called that stands in the plan or is known by its name. */
const knownBy = (what) => (typeof what === "string" ? what : (what.profile ?? `${what.name ?? "its own"} (in the plan)`));
/** A variant alone names its framework. */
const frameworkOf = ({ name, variant = "" }) => variant || name;
const releaseOf = ({ framework }) => framework?.version ?? "";

const devicesOf = ({ tensor, context, pipeline, data }) => tensor * context * pipeline * data;

/** Sizes of data parallelism with which whole nodes are filled. */
const dataSizes = (plan, sizes) => {
  const { data, ...rest } = plan.parallel;
  return sizes["parallel.data"].filter((value) => devicesOf({ ...rest, data: value }) % sizes.devices_per_node === 0);
};

const takeNodes = ({ job }, nodes) => {
  job.cluster.nodes = nodes;
  delete job.cluster.devices;
};

/** The nodes of the cluster are used in part: so many devices of each. */
const takeDevices = (plan, devices) => {
  plan.job.cluster.devices_per_node = devices;
  delete plan.job.cluster.devices;
};

const below = (plan, keys) => keys.reduce((part, key) => part?.[key], plan);
const valueAt = (plan, place) => below(plan, place.split("."));
/** A control's value: of what a file may leave out that which is meant then. */
const valueOf = (plan, { place, unsaid }) => valueAt(plan, place) ?? unsaid ?? (place === kFramework || place.startsWith(kRun) ? "" : undefined);
const takeFramework = (job, name) => {
  job.framework = name;
  if (name === "") delete job.framework;
};
const takeRelease = (job, version) => {
  const { framework = "" } = job;
  const { name, variant } = typeof framework === "string" ? { name: framework } : framework;
  job.framework = { name, ...(variant && { variant }), ...(version && { version }) };
};
const setAt = (plan, place, value) => {
  const keys = place.split(".");
  const last = keys.pop();
  keys.reduce((part, key) => (part[key] ??= {}), plan)[last] = value;
};

// What follows a choice at once; all else that has to follow, the planner settles.
const kFollowing = {
  "parallel.tensor": (plan, value, before) => {
    if (value === 1 || before === 1) plan.sequence_parallel = value > 1;
  },
  "parallel.data": (plan, value, before, { sizes }) => takeNodes(plan, devicesOf(plan.parallel) / sizes.devices_per_node),
  "schedule.kind": (plan, value, before, { control }) => {
    plan.schedule = { kind: value, chunks: control.words.find(({ name }) => name === value).chunks };
  },
  "schedule.chunks": ({ schedule }, value) => {
    if (value === 1) delete schedule.placement;
  },
  // An order that was found is one of its placement, and one chunk of a position lies one way.
  "schedule.placement": (plan, value) => {
    plan.schedule = { kind: plan.schedule.kind, chunks: value ? 2 : plan.schedule.chunks, ...(value && { placement: value }) };
  },
};
const kFramework = "job.framework";
const kRelease = "Release of the framework";
const kRun = "job.run.";
const kSettles = ["parallel", "schedule", "sharding"];

/** Makes the part of a control, and what sets it to what a plan says: `show(value, plan, sizes)`. */
const kMakers = {
  size: (name, { place }, changed) => {
    const made = size(name, changed);
    const possible = (plan, sizes) => (place === "parallel.data" ? dataSizes(plan, sizes) : sizes[place]);
    return { part: made.part, show: (value, plan, sizes) => made.show(value, possible(plan, sizes)) };
  },
  number: (name, control, changed) => number(name, changed),
  text: (name, control, changed) => text(name, changed),
  optional: (name, { type, help }, changed) => text(name, changed, { empty: true, placeholder: type, title: help }),
  flag: (name, control, changed) => flag(name, changed),
  words: (name, control, changed) => {
    const made = words(name, changed);
    return { part: made.part, show: (value) => made.show(typeof value === "object" ? frameworkOf(value) : value, explained(control.words)) };
  },
  flags: (name, control, changed) => {
    const made = several(name, short(control.words), (list) => changed(Object.fromEntries(control.words.map((word) => [word.name, list.includes(word.name)]))));
    return { part: made.part, show: (value) => made.show(Object.keys(value).filter((word) => value[word])) };
  },
  several: (name, control, changed) => several(name, short(control.words), changed),
  graphs: (name, control, changed) => {
    const kStep = { value: "step", name: "the whole step" };
    const made = several(name, [kStep, ...short(control.words)], (list) => changed(list.includes("step") ? true : list.length > 0 && list));
    return { part: made.part, show: (value) => made.show(value === true ? ["step"] : value || []) };
  },
  recompute: (name, control, changed) => {
    const made = recompute(name, control, (word) => word.replaceAll("_", " "), changed);
    return { part: made.part, show: (value, plan) => made.show(value, plan.parallel.pipeline) };
  },
};

function group({ name, folded }, parts) {
  if (!folded) return element("fieldset", {}, element("legend", {}, name), parts);
  return element("details", { class: "group" }, element("summary", {}, name), element("div", { role: "group", "aria-label": name }, parts));
}

/** Which release of the framework, where one is chosen; its defaults are those of that release. */
function releaseControl(changed) {
  const made = release(kRelease, changed, { placeholder: "the newest", title: "as 0.2.2; the newest unless stated" });
  return {
    part: made.part,
    show: (job) => {
      made.part.hidden = job.framework === undefined;
      made.show(releaseOf(job));
    },
  };
}

/** What is trained on what: each control of it begins a plan (`chosen`) or changes it (`typed`). */
const workload = ({ models, clusters }, chosen, typed) => [
  chosen("Model", (job, value) => (job.model = value), (job) => knownBy(job.model), named(models)),
  chosen("Cluster", (job, value, { sizes }) => (job.cluster = { profile: value, nodes: sizes.nodes }), (job) => knownBy(job.cluster), named(clusters)),
  typed("Nodes", takeNodes, ({ sizes }) => sizes.nodes),
  typed("GPUs used of each node", takeDevices, ({ sizes }) => sizes.devices_per_node),
  typed("Sequences in a batch", (plan, value) => (plan.job.batch.sequences = value), ({ plan }) => plan.job.batch.sequences),
  typed("Tokens of a sequence", (plan, value) => (plan.job.batch.length = value), ({ plan }) => plan.job.batch.length),
];

/**
 * `choices` as the planner tells them. `changed(plan, settle)` gets the plan that a person asks for, and
 * whether what depends on the change shall follow; `begun(job)` the job where another model, cluster or
 * framework is asked for. `show(plan, sizes)` sets all.
 */
export function panel(choices, { changed, begun }) {
  let shown;
  const all = [];
  const change = (write, settle = false) => (value) => {
    const plan = structuredClone(shown.plan);
    write(plan, value);
    changed(plan, settle);
  };
  const begin = (write) => (value) => {
    const { kernels, ...job } = structuredClone(shown.plan.job);
    write(job, value, shown);
    begun({ stepwright: "job/2", ...job });
  };
  const add = (made, show) => {
    all.push({ made, show });
    return made.part;
  };
  const chosen = (name, write, read, options) => add(words(name, begin(write)), (made) => made.show(read(shown.plan.job), options));
  const typed = (name, write, read) => add(number(name, change(write, true)), (made) => made.show(read(shown)));
  const setter = (control) => {
    const { place } = control;
    if (place === kFramework) return begin(takeFramework);
    return change((plan, value) => {
      const before = valueAt(plan, place);
      setAt(plan, place, value === "" ? undefined : value);
      kFollowing[place]?.(plan, value, before, { ...shown, control });
    }, kSettles.includes(place.split(".")[0]));
  };
  const made = (control) => {
    const one = kMakers[control.kind](nameOf(control.place), control, setter(control));
    one.part.dataset.place = control.place;
    return add(one, ({ part, show }) => {
      const value = valueOf(shown.plan, control);
      const { schedules = [shown.plan.schedule.kind] } = control; // that have such a choice
      part.hidden = value === undefined || !schedules.includes(shown.plan.schedule.kind);
      if (!part.hidden) show(value, shown.plan, shown.sizes);
    });
  };
  const part = element(
    "form",
    { class: "panel", "aria-label": "The plan" },
    group({ name: kJob }, [
      ...workload(choices, chosen, typed),
      ...choices.controls.filter(({ place }) => groupOf(place) === kJob).map(made),
      add(releaseControl(begin(takeRelease)), (one) => one.show(shown.plan.job)),
    ]),
    kGroups.map((one) => group(one, choices.controls.filter(({ place }) => groupOf(place) === one.name).map(made))),
  );
  part.addEventListener("submit", (event) => event.preventDefault());
  return {
    part,
    show: (plan, sizes) => {
      shown = { plan, sizes };
      for (const { made: control, show } of all) show(control);
    },
  };
}
