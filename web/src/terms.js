// The terms of a step's time and of a stage's memory, in the words of the field.

/** @type {[string, string, (breakdown: any) => number][]} */
export const timeTerms = [
  ["products", "Matrix products", (b) => b.computation.products_s],
  ["attention", "Attention", (b) => b.computation.attention_s],
  ["experts", "Matrix products of experts", (b) => b.computation.experts_s],
  ["routing", "Routing to experts", (b) => b.computation.routing_s],
  ["memory_bound", "Memory-bound kernels", (b) => b.computation.memory_bound_s],
  ["vocabulary", "Embedding and head", (b) => b.computation.vocabulary_s],
  ["tensor", "Exposed tensor-parallel messages", (b) => b.exposed.tensor_s],
  ["context", "Exposed context-parallel messages", (b) => b.exposed.context_s],
  ["expert", "Exposed expert-parallel messages", (b) => b.exposed.expert_s],
  ["pipeline", "Exposed pipeline messages", (b) => b.exposed.pipeline_s],
  ["data", "Exposed data-parallel messages", (b) => b.exposed.data_s],
  ["host", "Exposed copies to and from hosts", (b) => b.exposed.host_s],
  ["bubble", "Pipeline bubble", (b) => b.bubble_s],
  ["optimizer", "Optimizer", (b) => b.optimizer_s],
];

/** The kinds of time in which a GPU computes nothing. */
export const waits = ["tensor", "context", "expert", "pipeline", "data", "host", "bubble"];

export const memoryTerms = {
  parameters: "Parameters",
  gradients: "Gradients",
  optimizer: "Optimizer states",
  activations: "Activations",
  logits: "Logits",
  gathered_parameters: "Gathered parameters",
  communication_buffers: "Communication buffers",
  framework_reserve: "Framework and fragmentation",
};

export const timelineTerms = {
  waiting: "Waiting for messages, hosts or other stages",
  forward: "Forward",
  backward: "Backward",
  data_gradient: "Gradient of the inputs",
  weight_gradient: "Gradient of the weights",
  head_gradient: "Gradient of the output layer's weights",
  recompute: "Recomputation",
  vocabulary: "Embedding and head, shared by stages",
  update: "Optimizer update",
  optimizer: "Optimizer update",
  tensor: "Tensor-parallel messages",
  context: "Context-parallel messages",
  expert: "Expert-parallel messages",
  pipeline: "Pipeline messages",
  data: "Data-parallel messages",
  control: "Small control messages",
  host: "Copies to and from hosts",
  "forward beside backward": "Forward and backward overlapped",
  "link inside a node": "Link inside a node",
  "link of the network": "Link of the network",
};

/** What the planner calls `what` among the losses of a prediction. */
export function lossName(what) {
  if (what === "below_peak") return "Matrix products and attention below the dense peak";
  if (what === "recomputation") return "Recomputation";
  return timeTerms.find(([kind]) => kind === what.replace("exposed_", ""))[1];
}
