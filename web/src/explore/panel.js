// The panel of the explorer: a control for each choice that the planner tells of, with its place in plan files.
import { element } from "../dom.js";
import { flag, number, release, several, size, text, words } from "./controls.js";
import { explanationOf, groupOf, isBasic, kGroups, kJob, nameOf, partName, wordOf } from "./labels.js";
import { Refusals } from "./refusals.js";
import { recompute } from "./recompute.js";

const named = (list) => list.map((value) => ({ value, name: value }));
const explained = (list, place) => list.map((word) => ({ value: word.name, name: wordOf(word, place), text: explanationOf(word, place) }));
const short = (list) => list.map(({ name }) => ({ value: name, name: partName(name) }));

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
const valueOf = (plan, { place, unsaid }) =>
  valueAt(plan, place) ?? unsaid ?? (place === kFramework || place.startsWith(kRun) ? "" : undefined);
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
const kVersion = "job.framework.version";
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
    return {
      part: made.part,
      show: (value) => made.show(typeof value === "object" ? frameworkOf(value) : value, explained(control.words, control.place)),
    };
  },
  flags: (name, control, changed) => {
    const made = several(name, short(control.words), (list) =>
      changed(Object.fromEntries(control.words.map((word) => [word.name, list.includes(word.name)]))),
    );
    return { part: made.part, show: (value) => made.show(Object.keys(value).filter((word) => value[word])) };
  },
  several: (name, control, changed) => several(name, short(control.words), changed),
  graphs: (name, control, changed) => {
    const kStep = { value: "step", name: "the whole step" };
    const made = several(name, [kStep, ...short(control.words)], (list) => changed(list.includes("step") ? true : list.length > 0 && list));
    return { part: made.part, show: (value) => made.show(value === true ? ["step"] : value || []) };
  },
  recompute: (name, control, changed) => {
    const made = recompute(name, control, partName, changed);
    return { part: made.part, show: (value, plan) => made.show(value, plan.parallel.pipeline) };
  },
};

/**
 * Parts of one kind; a group without a basic control is shown with all controls alone.
 * @param {{name: string, folded?: boolean}} given
 */
function group({ name, folded }, parts) {
  const level = parts.some((part) => part.dataset.level === "basic") ? "basic" : "all";
  if (!folded) return element("fieldset", { "data-level": level }, element("legend", {}, name), parts);
  return element(
    "details",
    { class: "group", "data-level": level },
    element("summary", {}, name),
    element("div", { role: "group", "aria-label": name }, parts),
  );
}

const kLevel = "stepwright.all-controls";
const remembered = () => {
  try {
    return localStorage.getItem(kLevel) === "yes";
  } catch {
    return false;
  }
};

/** The switch between a dozen controls and all of them. */
function levelSwitch(panel) {
  const box = element("input", { type: "checkbox", role: "switch", "aria-label": "All controls" });
  const turn = () => {
    panel.classList.toggle("basic", !box.checked);
    try {
      localStorage.setItem(kLevel, box.checked ? "yes" : "no");
    } catch {
      // It is not remembered.
    }
  };
  box.checked = remembered();
  box.addEventListener("change", turn);
  turn();
  return element("label", { class: "control" }, element("span", {}, "All controls"), box);
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

/** What is trained on what: each control of it begins a plan (`chosen`) or changes it (`typed`), and has its place in plan files. */
const workload = ({ models, clusters }, chosen, typed) => [
  chosen(
    "job.model",
    (job, value) => (job.model = value),
    (job) => knownBy(job.model),
    named(models),
  ),
  chosen(
    "job.cluster",
    (job, value, { sizes }) => (job.cluster = { profile: value, nodes: sizes.nodes }),
    (job) => knownBy(job.cluster),
    named(clusters),
  ),
  typed("job.cluster.nodes", takeNodes, ({ sizes }) => sizes.nodes),
  typed("job.cluster.devices_per_node", takeDevices, ({ sizes }) => sizes.devices_per_node),
  typed(
    "job.batch.sequences",
    (plan, value) => (plan.job.batch.sequences = value),
    ({ plan }) => plan.job.batch.sequences,
  ),
  typed(
    "job.batch.length",
    (plan, value) => (plan.job.batch.length = value),
    ({ plan }) => plan.job.batch.length,
  ),
];
const kRare = ["job.cluster.devices_per_node"]; // of the workload, shown with all controls
const ofWork = (place) => !kRare.includes(place);

/** Sets a control to what a plan says; it is hidden where the plan has no such choice. */
function showChoice({ part, show }, control, { plan, sizes }) {
  const value = valueOf(plan, control);
  const { schedules = [plan.schedule.kind] } = control; // that have such a choice
  part.hidden = value === undefined || !schedules.includes(plan.schedule.kind);
  if (!part.hidden) show(value, plan, sizes);
}

/** The form of all groups, with the switch between a dozen controls and all of them. */
function form(groups) {
  const part = element("form", { class: "panel", "aria-label": "The plan" }, groups);
  part.prepend(levelSwitch(part));
  part.addEventListener("submit", (event) => event.preventDefault());
  return part;
}

/**
 * `choices` as the planner tells them. `changed(plan, {settle, field, gesture})` gets the plan that a person asks for,
 * whether what depends on the change shall follow, the place that was changed, and of a drag its number; `begun(job, field)` the job where another
 * model, cluster or framework is asked for. `show(plan, sizes)` sets all, `refuse(places, message)` marks the fields that a
 * refusal is about until the next `show`.
 */
export function panel(choices, { changed, begun }) {
  let shown;
  let gesture = 0; // a drag of a slider, which is one change
  const all = [];
  const kinds = new Map(choices.controls.map(({ place, kind }) => [place, kind]));
  const refusals = new Refusals();
  const show = (plan, sizes) => {
    shown = { plan, sizes };
    refusals.clear();
    for (const each of all) each.show(each.made);
  };
  const change =
    (field, write, settle = false) =>
    (value) => {
      const plan = structuredClone(shown.plan);
      write(plan, value);
      changed(plan, { settle, field, gesture: kinds.get(field) === "size" ? gesture : undefined });
    };
  const begin = (field, write) => (value) => {
    const { kernels, ...job } = structuredClone(shown.plan.job);
    write(job, value, shown);
    begun({ stepwright: "job/2", ...job }, field);
  };
  const add = (place, made, show, basic = isBasic(place)) => {
    all.push({ made, show });
    made.part.dataset.level = basic ? "basic" : "all";
    refusals.add(place, made.part);
    return made.part;
  };
  const chosen = (place, write, read, options) =>
    add(place, words(nameOf(place), begin(place, write)), (made) => made.show(read(shown.plan.job), options), ofWork(place));
  const typed = (place, write, read) =>
    add(place, number(nameOf(place), change(place, write, true)), (made) => made.show(read(shown)), ofWork(place));
  const setter = (control) => {
    const { place } = control;
    if (place === kFramework) return begin(place, takeFramework);
    return change(
      place,
      (plan, value) => {
        const before = valueAt(plan, place);
        setAt(plan, place, value === "" ? undefined : value);
        kFollowing[place]?.(plan, value, before, { ...shown, control });
      },
      kSettles.includes(place.split(".")[0]),
    );
  };
  const made = (control) => {
    const one = kMakers[control.kind](nameOf(control.place), control, setter(control));
    one.part.dataset.place = control.place;
    return add(control.place, one, (maker) => showChoice(maker, control, shown));
  };
  const of = (name) => choices.controls.filter(({ place }) => groupOf(place) === name).map(made);
  const released = add(kVersion, releaseControl(begin(kVersion, takeRelease)), (one) => one.show(shown.plan.job));
  const part = form([
    group({ name: kJob }, [...workload(choices, chosen, typed), ...of(kJob), released]),
    ...kGroups.map((one) => group(one, of(one.name))),
  ]);
  part.addEventListener("change", () => (gesture += 1)); // a slider is let go
  return { part, show, refuse: (places, message) => refusals.mark(places, message) };
}
