// The forms for a job of one's own: what a person states beside files, and whatever no file says.
import { element } from "../dom.js";

const kGiB = 2 ** 30;
const kGigabyte = 1e9;

/** The dimensions of a model, by their keys in a job; all are whole numbers. */
const kDimensions = [
  ["layers", "Layers"],
  ["hidden", "Hidden size"],
  ["heads", "Attention heads"],
  ["kv_heads", "Key-value heads"],
  ["head_dim", "Width of a head"],
  ["ffn", "Feed-forward width"],
  ["vocab", "Vocabulary"],
  ["experts.count", "Experts"],
  ["experts.top_k", "Experts per token"],
  ["experts.ffn", "Width of an expert"],
];

const kPackings = ["none", "greedy", "first-fit", "sorted"];

const setAt = (mapping, path, value) => {
  const keys = path.split(".");
  const last = keys.pop();
  keys.reduce((part, key) => (part[key] ??= {}), mapping)[last] = value;
};

/** A field with the line for its error; `field` is what errors call it. */
function labelled(field, name, input) {
  const id = `own-${field.replaceAll(".", "-")}`;
  input.id = id;
  const error = element("p", { class: "bad field-error", id: `${id}-error`, hidden: "" });
  const part = element(
    "div",
    { class: "own-field" },
    element("label", { class: "control", for: id }, element("span", {}, name), input),
    error,
  );
  const tell = (message) => {
    error.textContent = message ?? "";
    error.hidden = message === undefined;
    if (message === undefined) {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    } else {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", error.id);
    }
  };
  return { field, part, input, tell };
}

const number = (field, name, hint = "") =>
  labelled(field, name, element("input", { type: "number", min: "0", step: "any", inputmode: "decimal", placeholder: hint }));
const text = (field, name, hint = "") => labelled(field, name, element("input", { type: "text", spellcheck: "false", placeholder: hint }));
const select = (field, name, options) =>
  labelled(
    field,
    name,
    element(
      "select",
      {},
      options.map(({ value, name: word }) => element("option", { value }, word)),
    ),
  );

const folded = (name, parts) => element("details", {}, element("summary", {}, name), parts);

/** The name of a profile with its device: "dgx-h100: 8 of h100-sxm-80g a node". */
const profileName = ({ name, device, devices_per_node: devices }) => `${name}: ${devices} of ${device} a node`;

function modelFields(models) {
  const pick = select("model", "Model", [
    { value: "", name: "from the files or the fields below" },
    ...models.map((name) => ({ value: name, name })),
  ]);
  const name = text("model.name", "Name of the model", "for a model of your own");
  const sizes = kDimensions.map(([key, word]) => number(`model.${key}`, word));
  return {
    fields: [pick, name, ...sizes],
    parts: [
      pick.part,
      name.part,
      folded(
        "Dimensions of your own model",
        sizes.map(({ part }) => part),
      ),
    ],
    write: (given) => {
      const own = {};
      kDimensions.forEach(([key], i) => sizes[i].input.value !== "" && setAt(own, key, Number(sizes[i].input.value)));
      const called = name.input.value.trim();
      if (Object.keys(own).length > 0)
        given.model = { ...(pick.input.value && { base: pick.input.value }), ...own, ...(called && { name: called }) };
      else if (pick.input.value) given.model = pick.input.value;
      else if (called) given.name = called;
    },
  };
}

/** The fields of hardware that is not as its profile says, each with what it changes of a cluster. */
function hardwareFields() {
  /** @type {[any, (own: any, value: number, profile: any) => void][]} */
  const made = [
    [
      number("cluster.device.memory", "Memory of a GPU, GiB"),
      (own, value, { device }) => (own.device = { name: `${device}, ${value} GiB`, memory: value * kGiB }),
    ],
    [number("cluster.devices_per_node", "GPUs of a node"), (own, value) => (own.devices_per_node = value)],
    [
      number("cluster.levels", "Links inside a node, GB/s"),
      (own, value, profile) =>
        (own.levels = [{ name: "nvlink", size: own.devices_per_node ?? profile.devices_per_node, bandwidth: value * kGigabyte }]),
    ],
    [number("cluster.nics_per_node", "NICs of a node"), (own, value) => (own.nics_per_node = value)],
    [number("cluster.nic", "A NIC, GB/s"), (own, value) => (own.nic = value * kGigabyte)],
  ];
  const hint = (profile) => {
    const [memory, devices, links, nics, nic] = made;
    memory[0].input.placeholder = (profile.memory_bytes / kGiB).toFixed(1);
    devices[0].input.placeholder = profile.devices_per_node;
    links[0].input.placeholder = profile.link_bytes_per_s / kGigabyte || "none";
    nics[0].input.placeholder = profile.nics_per_node;
    nic[0].input.placeholder = profile.nic_bytes_per_s / kGigabyte || "none";
  };
  return {
    fields: made.map(([field]) => field),
    hint,
    write: (profile) => {
      const own = {};
      for (const [{ input }, write] of made) {
        if (input.value !== "") write(own, Number(input.value), profile);
      }
      return own;
    },
  };
}

function clusterFields(profiles) {
  const pick = select(
    "cluster",
    "Cluster",
    profiles.map((profile) => ({ value: profile.name, name: profileName(profile) })),
  );
  const devices = number("cluster.devices", "GPUs", "from the files");
  const hardware = hardwareFields();
  const profile = () => profiles.find(({ name }) => name === pick.input.value);
  pick.input.addEventListener("change", () => hardware.hint(profile()));
  return {
    fields: [pick, devices, ...hardware.fields],
    parts: [
      pick.part,
      devices.part,
      folded(
        "Hardware unlike the profile",
        hardware.fields.map(({ part }) => part),
      ),
    ],
    choose: (name) => {
      if (profiles.some((one) => one.name === name)) pick.input.value = name;
      hardware.hint(profile());
    },
    write: (given) => {
      const own = hardware.write(profile());
      given.cluster = Object.keys(own).length > 0 ? { profile: profile().name, ...own } : profile().name;
      if (devices.input.value !== "") given.devices = Number(devices.input.value);
    },
  };
}

function batchFields() {
  const sequences = number("batch.sequences", "Sequences in a batch", "from the files");
  const length = text("batch.length", "Tokens of a sequence", "8192 or 8k");
  const median = number("batch.lengths", "Median tokens of a document");
  const sigma = number("batch.lengths.lognormal.sigma", "Spread (sigma of the log-normal)", "0.9");
  const packing = select(
    "batch.packing",
    "Packing",
    kPackings.map((name) => ({ value: name, name })),
  );
  return {
    fields: [sequences, length, median, sigma, packing],
    parts: [sequences.part, length.part, folded("Documents of unequal lengths", [median.part, sigma.part, packing.part])],
    write: (given) => {
      const batch = {};
      if (sequences.input.value !== "") batch.sequences = Number(sequences.input.value);
      const tokens = length.input.value.trim();
      if (tokens !== "") batch.length = /^\d+$/.test(tokens) ? Number(tokens) : tokens;
      if (median.input.value !== "") {
        batch.lengths = { lognormal: { median: Number(median.input.value), sigma: Number(sigma.input.value || sigma.input.placeholder) } };
        batch.packing = { kind: packing.input.value, too_long: "split" };
      }
      if (Object.keys(batch).length > 0) given.batch = batch;
    },
  };
}

/** Words of the readers for what a person gives beside files, and the fields where that is given. */
const kOptions = {
  model: "model",
  cluster: "cluster",
  batch: "batch.sequences",
  nodes: "cluster.devices",
  gpus: "cluster.devices",
  set: "settings",
};

/** The field that a failure is about: by its place, else by the option that its message names. */
function fieldOf(fields, { error, place }) {
  const path = place?.field ?? "";
  const held = fields.filter(({ field }) => path === field || path.startsWith(`${field}.`) || `job.${field}` === path);
  if (held.length > 0) return held.reduce((most, one) => (one.field.length > most.field.length ? one : most));
  const option = error.match(/--(\w+)/)?.[1];
  return fields.find(({ field }) => field === kOptions[option]);
}

/** A message beside its field, without the place that the field shows. */
function sentence({ error, place }) {
  const field = place?.field ? `${place.field}: ` : "";
  const at = field ? error.indexOf(field) : -1;
  return at < 0 ? error : error.slice(at + field.length);
}

/**
 * The forms of models, clusters and batches, as `choices` has them. `part`; `given()`, what the person
 * states; `choose(profile)` sets the cluster; `tell(failure)` puts a failure beside its field, or
 * returns false where it is about none; without a failure it takes the last one away.
 */
export function ownFields({ models, profiles }) {
  const settings = text("settings", "Variables of the scripts", "NAME=VALUE NAME=VALUE");
  const groups = { Model: modelFields(models), Cluster: clusterFields(profiles), Batch: batchFields() };
  const fields = [...Object.values(groups).flatMap((group) => group.fields), settings];
  const parts = Object.entries(groups).map(([name, group]) => element("fieldset", {}, element("legend", {}, name), group.parts));
  return {
    part: element("div", {}, parts, settings.part),
    choose: groups.Cluster.choose,
    given: () => {
      const given = {};
      for (const group of Object.values(groups)) group.write(given);
      const set = settings.input.value.trim();
      if (set !== "") given.settings = set.split(/\s+/);
      return given;
    },
    tell: (failure) => {
      for (const field of fields) field.tell();
      const held = failure && fieldOf(fields, failure);
      if (!held) return false;
      for (let above = held.part.parentElement; above; above = above.parentElement) if (above.tagName === "DETAILS") above.open = true;
      held.tell(sentence(failure));
      return true;
    },
  };
}
