// What the controls are called and where they stand; a choice that is not here has its own words.
import { words } from "../format.js";

const kNames = {
  "job.model": "Model",
  "job.cluster": "Cluster",
  "job.cluster.profile": "Cluster",
  "job.cluster.nodes": "Nodes",
  "job.cluster.devices": "GPUs",
  "job.cluster.devices_per_node": "GPUs used of each node",
  "job.batch.sequences": "Sequences in a batch",
  "job.batch.length": "Tokens of a sequence",
  "job.framework.name": "Framework",
  "job.framework.version": "Release of the framework",
  "parallel.tensor": "Tensor parallel",
  "parallel.pipeline": "Pipeline parallel",
  "parallel.context": "Context parallel",
  "parallel.expert": "Expert parallel",
  "parallel.expert_tensor": "Tensor parallel of experts",
  "parallel.data": "Data parallel",
  micro_batch: "Micro-batch",
  "schedule.kind": "Schedule",
  "schedule.chunks": "Chunks of a stage",
  "schedule.group": "Micro-batches in a group",
  "schedule.placement": "Placement of the chunks",
  "schedule.strands": "Micro-batches overlapped",
  layers: "Layers of each chunk",
  sequence_parallel: "Sequence parallel",
  recompute: "Recompute",
  tensor_input: "Tensor-parallel input",
  context_kind: "Context parallel by",
  "sharding.states": "Sharding",
  "sharding.group": "Sharding group",
  "sharding.expert_group": "Sharding group of experts",
  accumulate: "Gradients summed in",
  "buckets.gradients": "Gradient bucket, elements",
  "buckets.parameters": "Parameter bucket, elements",
  "offload.optimizer": "Share of the optimizer on the host",
  "offload.masters": "Master weights on the host",
  "offload.activations": "Activations on the host",
  "offload.parameters": "Parameters on the host",
  overlap: "Overlapped messages",
  "job.muon": "Muon over tensor ranks",
  "job.imbalance": "Load of the busiest expert rank",
  "job.run.price_per_gpu_hour": "Price of a GPU-hour",
  "job.run.device_mttf": "Mean time to failure",
  "job.run.storage": "Rate of the storage",
  "job.run.host_copy": "Rate of a copy to the host",
  "job.kernels.attention": "Attention kernel",
  "job.kernels.cuda_graphs": "CUDA graphs",
  "job.kernels.casts": "Casts to narrow types",
  "job.kernels.masters": "Master weights",
  "job.host_threads": "Host threads of a process",
};

const kAlgorithm = "Algorithm of messages";

/** What people read of a control at a place of plan files. */
export function nameOf(place) {
  const [head, tail] = place.split(".").slice(-2);
  if (head === "collectives") return `${kAlgorithm}: ${tail}`;
  return kNames[place] ?? words(place.split(".").at(-1));
}

/** The groups in their order: the places at which each begins; the last takes what no other does. */
export const kGroups = [
  { name: "Plan", places: ["parallel", "micro_batch", "schedule", "layers", "sequence_parallel", "context_kind"] },
  { name: "Memory", places: ["sharding", "recompute", "tensor_input", "accumulate", "offload"] },
  { name: "Messages", folded: true, places: ["overlap", "collectives", "buckets", "rank_order"] },
  { name: "Kernels", folded: true, places: ["job.kernels"] },
  { name: "Whole run", folded: true, places: ["job.run"] },
  { name: "More", folded: true, places: [""] },
];

export const kJob = "Job";
const kOfJob = ["job.framework", "job.precision", "job.optimizer"];

/** The name of the group of a place; what stands beside model and cluster is of `kJob`. */
export const groupOf = (place) => (kOfJob.includes(place) ? kJob : groupBelow(place));

const groupBelow = (place) =>
  kGroups.find(({ places }) => places.some((head) => head === "" || place === head || place.startsWith(`${head}.`))).name;

/** The controls that stand there before all others are asked for, beside model, cluster and batch. */
const kBasic = [
  "job.framework",
  "job.precision",
  "parallel.tensor",
  "parallel.pipeline",
  "parallel.data",
  "micro_batch",
  "schedule.kind",
  "sharding.states",
  "recompute",
];
export const isBasic = (place) => kBasic.includes(place);

const kSaid = {
  "tensor_input.keep": "keep",
  "tensor_input.regather": "gather again (less memory)",
  "schedule.strands.1": "one at a time",
  "schedule.strands.2": "two overlapped",
};
const kShort = 14; // letters of an explanation that stands in the list itself

/** A word of a plan file as it stands in a list: its short explanation with it. */
export const wordOf = ({ name, text }, place = "") =>
  kSaid[`${place}.${name}`] ?? (name === "" ? text : text && text.length <= kShort ? `${name}: ${text}` : name);

/** The explanation of a word that is too long for the list. */
export const explanationOf = ({ name, text }) => (name !== "" && text && text.length > kShort ? text : "");
