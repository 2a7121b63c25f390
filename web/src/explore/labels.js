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
  "job.routing": "Routing of tokens to experts",
  "job.dispatcher": "Exchange of tokens with experts",
  "parallel.tensor": "Tensor parallel",
  "parallel.pipeline": "Pipeline parallel",
  "parallel.context": "Context parallel",
  "parallel.expert": "Expert parallel",
  "parallel.expert_tensor": "Tensor parallel of experts",
  "parallel.data": "Data parallel",
  micro_batch: "Micro-batch",
  "schedule.kind": "Schedule",
  "schedule.chunks": "Model chunks of a stage",
  "schedule.group": "Micro-batches in a row per chunk",
  "schedule.placement": "Placement of the chunks",
  "schedule.strands": "Micro-batches overlapped",
  layers: "Layers of each chunk",
  sequence_parallel: "Sequence parallel",
  recompute: "Recompute",
  tensor_input: "Tensor-parallel input",
  context_kind: "Context-parallel method",
  "sharding.states": "Sharding",
  "sharding.group": "Sharding group",
  "sharding.expert_group": "Sharding group of experts",
  accumulate: "Type of summed gradients",
  rank_order: "Order of the ranks",
  "buckets.gradients": "Gradient bucket, elements",
  "buckets.parameters": "Parameter bucket, elements",
  "offload.optimizer": "Optimizer states on the host, share",
  "offload.masters": "Master weights on the host",
  "offload.activations": "Activations on the host",
  "offload.parameters": "Parameters on the host",
  overlap: "Messages hidden behind computation",
  "job.muon": "Muon across tensor-parallel ranks",
  "job.imbalance": "Busiest expert rank, times the mean",
  "job.run.price_per_gpu_hour": "Price of a GPU-hour",
  "job.run.tokens": "Tokens to train on",
  "job.run.device_mttf": "Mean time to failure of a GPU",
  "job.run.failures_per_device_hour": "Failures per GPU-hour",
  "job.run.restart": "Time of a restart",
  "job.run.repair": "Time to repair a node",
  "job.run.checkpoints": "Checkpoints are written",
  "job.run.checkpoint_interval": "Time between checkpoints",
  "job.run.evaluation": "Share of time for evaluation",
  "job.run.evaluation_tokens": "Tokens of one evaluation",
  "job.run.evaluation_every": "Steps between evaluations",
  "job.run.straggler_spread": "Spread of GPU speeds",
  "job.run.storage": "Write rate of the storage",
  "job.run.host_copy": "Copy rate to the host",
  "job.kernels.attention": "Attention kernel",
  "job.kernels.cuda_graphs": "CUDA graphs",
  "job.kernels.casts": "Casts to 8 bits or less",
  "job.kernels.cross_entropy": "Cross-entropy kernel",
  "job.kernels.expert_weights": "Router weights are applied",
  "job.kernels.loss_chunks": "Chunks of the loss",
  "job.kernels.loss_keeps": "Kept by the loss for the backward",
  "job.kernels.fused_norm": "Fused norms",
  "job.kernels.fused_activation": "Fused activation function",
  "job.kernels.fused_softmax": "Fused softmax of attention",
  "job.kernels.fused_accumulation": "Gradient sum fused into products",
  "job.kernels.fused_gate": "Gate and input as one product",
  "job.kernels.fused_qkv": "Q, K and V as one product",
  "job.kernels.gathered_logits": "Logits gathered from tensor ranks",
  "job.kernels.plain_loss": "PyTorch's own loss",
  "job.kernels.document_loss": "Loss of each document alone",
  "job.kernels.scattered_pipeline": "Pipeline messages split by tensor",
  "job.kernels.gathered_heads": "Key-value heads shared by tensor ranks",
  "job.kernels.scattered_gradients": "Gradients by reduce-scatter",
  "job.kernels.refresh_by_tensor": "Copy updated tensors one by one",
  "job.kernels.wide_gradients": "Gradients sent in fp32",
  "job.kernels.grouped_experts": "Experts as one grouped product",
  "job.kernels.narrow_attention": "Attention in fp8",
  "job.kernels.narrow_parameters": "Parameters in fp8",
  "job.kernels.tf32": "TF32 products",
  "job.kernels.deterministic": "Deterministic kernels",
  "job.kernels.blocking_launches": "Host waits for each kernel",
  "job.kernels.masters": "Master weights",
  "job.host_threads": "Host threads of a process",
};

const kAlgorithm = "Message algorithm";

/** The parts of a layer and the kinds of messages, as plan files call them, in words. */
const kParts = {
  attn: "attention",
  attn_norm: "norm before attention",
  attn_proj: "output projection of attention",
  core_attn: "core of attention",
  expert_fc1: "first product of experts",
  layer_input: "input of the layer",
  mla_up_proj: "up-projections of latent attention",
  mlp: "feed-forward",
  mlp_act: "feed-forward activation function",
  mlp_fc1: "first feed-forward product",
  mlp_norm: "norm before feed-forward",
  moe: "experts",
  moe_act: "activation function of experts",
  moe_router: "router to experts",
  norm: "norms",
  "per-operator": "single operators, by their cost",
  qkv_linear: "Q, K and V projections",
  // How much is recomputed.
  every: "every nth layer",
  modules: "chosen parts of layers",
};

/** The name of a part of a layer or of a kind of messages. */
export const partName = (word) => kParts[word] ?? word.replaceAll("_", " ");

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

/** Words that the planner does not explain itself, by their place. */
const kExplained = {
  "job.optimizer": {
    adafactor: "sums of rows and columns in place of second moments",
    adam8bit: "Adam with moments in 8 bits",
    adam_bf16: "Adam with moments in bf16",
    muon: "orthogonal updates of matrices, AdamW for the rest",
    sgd: "without momentum",
  },
  "job.routing": { balanced: "every expert gets as many tokens", learned: "loads as uneven as routers have learned" },
  "job.kernels.casts": {
    library: "once for both layouts, weights once a step (Transformer Engine)",
    tensorwise: "for each product, one scale a tensor (torchao)",
    rowwise: "for each product, one scale a row (torchao)",
  },
  "job.kernels.masters": {
    beside: "fp32 copies beside the parameters",
    alone: "fp32 shards are the only parameters, cast for each gather (FSDP)",
    none: "no fp32 copies: the optimizer updates 16 bits",
  },
  "job.kernels.cross_entropy": {
    unfused: "three small all-reduces, one fp32 copy of the logits",
    compiled: "two all-reduces, no fp32 copy",
    native: "two all-reduces, an fp32 copy until the backward (Megatron-Core)",
    te: "the gradient replaces the logits (Transformer Engine)",
  },
  "job.kernels.expert_weights": {
    after: "to the results of experts",
    after_rows: "to the results of experts, by single kernels",
    after_exact: "to the results of experts, in fp32",
    before: "to the activations of experts",
  },
  "job.kernels.loss_keeps": {
    logits: "the logits of a chunk",
    gradients: "gradients of the input and of the head's weight",
    rows: "the input of the head alone",
    sums: "the input of the head; logits are never written",
    tiles: "the input of the head; one tile of logits at a time",
  },
  tensor_input: { keep: "until the backward", regather: "in the backward, by another message" },
  context_kind: {
    ring: "keys and values go round a ring",
    "all-gather": "keys and values are gathered",
    ulysses: "heads are exchanged for positions",
  },
  collectives: {
    library: "as the communication library chooses",
    nvls: "switches inside the nodes add (NVLink SHARP)",
    ring: "one ring through all ranks",
    rings: "a ring for each NIC of a node",
    "halving-doubling": "pairs of ranks, each time twice as far apart",
    tree: "up and down a binary tree",
    direct: "each rank to each other",
    "two-level": "between nodes, then inside them",
    "rail-halving": "pairs of nodes twice as far apart, then inside the nodes",
    "ho-ring": "a ring of nodes, while what arrives is passed on inside them",
    relay: "between nodes by the GPU at the same place, then inside them",
  },
};
const explained = (name, place) => kExplained[place.startsWith("collectives.") ? "collectives" : place]?.[name] ?? "";

/** The explanation of a word that is too long for the list. */
export const explanationOf = ({ name, text }, place) =>
  name !== "" && text && text.length > kShort ? text : text ? "" : explained(name, place);
