#include "stepwright/validate/rows/row_framework.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stepwright/plan/frameworks/table.h"
#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

struct StackWord {
  std::string_view word;
  Stack stack;
};

/// NVIDIA/Megatron-LM megatron/training/arguments.py: gradients are summed and reduced in fp32 with
/// bf16 (accumulate_allreduce_grads_in_fp32).
constexpr Stack kMegatronCore{.framework = "megatron-core",
                              .overlaps_data = true,
                              .overlaps_pipeline = true,
                              .distributed_optimizer = true,
                              .sequence_parallel = true};
/// NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/mixed_precision.py and NVIDIA/NeMo
/// nemo/lightning/pytorch/plugins/mixed_precision.py: grad_reduce_in_fp32 is off.
constexpr Stack kMegatronBridge = [] {
  Stack stack = kMegatronCore;
  stack.reduces_stored_type = true;
  stack.narrow_moments = true;
  return stack;
}();
constexpr Stack kNemo = [] {
  Stack stack = kMegatronCore;
  stack.framework = "nemo";
  stack.reduces_stored_type = true;
  return stack;
}();
constexpr Stack kFsdp{.framework = "fsdp", .overlaps_data = true, .gathers_logits = true};
constexpr Stack kTitan{.framework = "torchtitan",
                       .overlaps_data = true,
                       .gathers_logits = false,
                       .keeps_gathered = true};
constexpr Stack kJax{.framework = "maxtext", .overlaps_data = true, .overlaps_pipeline = true};
constexpr Stack kOldMegatron{
    .framework = "megatron-lm", .scatters_pipeline = true, .waits_for_tensor = true};

/// The first word that stands in a row's framework tells its stack. Everything here is said by the
/// public code or documents of the framework, nothing by what its rows measured.
constexpr StackWord kStacks[] = {
    // Aleph-Alpha/scaling@78489292: core/nn/linear/column_parallel_linear.py (the head's output is
    // gathered, inputs stay gathered, gradients are reduced in place), core/nn/parallel_module/
    // pipeline_partitioning.py (equal numbers of modules), core/nn/parallel_module/communicator.py
    // (whole activations), core/optimizer (gradients are summed in the type of the parameters),
    // core/optimizer/allreduce.py (and reduced in fp32, to all ranks), core/nn/mlp.py (gate and
    // input of an MLP are two column-parallel products).
    {"scaling (",
     {.framework = "megatron-lm",
      .attention = AttentionKernel::kFlash2,
      .reduces_stored_type = true,
      .gathers_logits = true,
      .waits_for_tensor = true,
      .keeps_gathered = true,
      .adds_gradients = true,
      .split = StageSplit::kModules,
      .reduces_whole = true,
      .reduces_wide = true,
      .splits_gate = true}},
    {"automodel",
     {.framework = "fsdp", .attention = AttentionKernel::kCudnn, .overlaps_data = true}},
    {"megatron-bridge", kMegatronBridge},
    {"nemo", kNemo},
    {"megatron-core", kMegatronCore},
    {"zero-3", {.framework = "deepspeed", .attention = AttentionKernel::kUnfused}},
    {"megatron-deepspeed",
     {.framework = "megatron-deepspeed", .scatters_pipeline = true, .waits_for_tensor = true}},
    {"neox",
     {.framework = "megatron-deepspeed", .scatters_pipeline = true, .waits_for_tensor = true}},
    {"megatron-lm", kOldMegatron},
    {"llm-foundry",
     {.framework = "fsdp",
      .attention = AttentionKernel::kFlash1,
      .overlaps_data = true,
      .gathers_logits = true}},
    {"torchtitan", kTitan},
    {"fsdp", kFsdp},
    // InternLM/InternEvo internlm/core/parallel/comm/tensor.py: gradients of inputs are reduced
    // beside those of weights.
    {"internevo", {.framework = "internevo", .overlaps_data = true, .reduces_stored_type = true}},
    // huggingface/nanotron src/nanotron/trainer.py: no DistributedDataParallel, so no overlap,
    // where gradients are summed in fp32 and the optimizer is sharded (make_ddp): one all-reduce of
    // the whole buffer (training_step, reduce_scatter=False; FP32GradientAccumulator), and one
    // coalesced gather of all parameters (src/nanotron/optim/zero.py, _all_gather_params); else
    // buckets of ddp_bucket_cap_mb (src/nanotron/config/config.py). build_model: blocks by their
    // cost. Asynchronous tensor messages are those of gradients
    // (src/nanotron/parallel/tensor_parallel/functional.py): a row product waits for its
    // reduce-scatter, and a gather has the rank's own part of the product beside it alone.
    {"nanotron",
     {.framework = "nanotron",
      .overlaps_data = true,
      .overlaps_unsharded_only = true,
      .split = StageSplit::kCosts,
      .replicated_bucket = 25 << 20}},
    {"jax", kJax},
    {"maxtext", kJax},
    {"paxml", kJax},
    {"dao-ailab", kFsdp},
    {"meta internal",
     {.framework = "torchtitan", .overlaps_data = true, .overlaps_pipeline = true}},
    {"colossal", {.framework = "colossalai", .overlaps_data = true}},
    // Submissions to MLPerf by the container they ran in.
    {"nvidia", kNemo},
    {"pytorch", kNemo},
    {"ngc", kNemo},
    {"cuda", kNemo},
};
/// No framework: conditions of the middle (`FrameworkConditions`).
constexpr Stack kUnknown{.framework = "", .overlaps_data = true};

/// Megatron-LM's own training loop on Megatron-Core and Transformer Engine, since the middle of
/// 2023 (NVIDIA/Megatron-LM, core_v0.1.0 and later).
bool is_core(const RunRow& row, const Words& framework) {
  constexpr std::int64_t kFirstYear = 2023;
  return row.year.value_or(0) >= kFirstYear && framework.has("megatron-lm") &&
         !framework.has("deepspeed");
}

bool interleaves(const RunRow& row) { return row.chunks.value_or(1) > 1; }

AttentionKernel attention_of(const RunRow& row, const Device& device, const Words& notes) {
  if (notes.has("kernel=torch", "kernel=fused", "without flashattention", "no flash attention")) {
    return AttentionKernel::kUnfused;
  }
  if (notes.has("flash_attention2", "flashattention-2", "flash_attention_2")) {
    return AttentionKernel::kFlash2;
  }
  if (notes.has("flash_attentionv1", "flash attention v1")) return AttentionKernel::kFlash1;
  if (row.framework.find("Dao-AILab") == 0) return AttentionKernel::kFlash1;
  const Stack& stack = stack_of(row);
  if (stack.attention) return *stack.attention;
  return default_kernels({.name = std::string(stack.framework)}, device).attention;
}

/// A whole iteration or whole layers, or the parts that "cuda_graph_scope=['attn', ...]" lists.
CudaGraphs graphs_of(const Words& notes) {
  if (notes.flag("mcore_cuda_graph").value_or(false)) return {.step = true};
  if (notes.flag("layer_cuda_graph").value_or(false)) return {.step = true};
  if (notes.has("full_iteration")) return {.step = true};
  const std::string_view text = notes.text();
  const std::size_t start = text.find("cuda_graph_scope=");
  if (start == std::string_view::npos || notes.has("cuda_graph_impl=none")) return {};
  const std::string_view scope = text.substr(start, text.find_first_of("];", start) - start);
  CudaGraphs graphs;
  for (const GraphPart& part : kGraphParts) graphs.*part.part = scope.find(part.name) != scope.npos;
  return graphs;
}

bool overlaps_tensor(const Words& notes) {
  for (const char* key : {"ub_tp_comm_overlap", "tp_comm_overlap"}) {
    if (const auto stated = notes.flag(key)) return *stated;
  }
  return notes.has("tp/dp/pp", "tp-comm-overlap");
}

bool overlaps_expert(const Words& notes) {
  for (const char* key : {"moe_a2a_overlap", "a2a_overlap"}) {
    if (const auto stated = notes.flag(key)) return *stated;
  }
  return notes.has("ep overlap on", "1f1b overlap");
}

/// What sources write before a release ("NeMo container 26.02", "r0.8.0", "MLPerf v4.1").
constexpr std::array<std::string_view, 6> kBeforeRelease = {"NeMo container", "NeMo", "release",
                                                            "MLPerf",         "r",    "v"};

/// The first release that a text states, such as "26.02" or "4.1.x"; empty when it states none.
std::string release_in(std::string_view text) {
  for (auto number = first_number(text); number; number = first_number(number->after)) {
    const auto ends_so = [&](std::string_view word) { return number->before.ends_with(word); };
    if (std::ranges::none_of(kBeforeRelease, ends_so)) continue;
    const std::string_view minor = number->after;
    if (!minor.starts_with('.') || minor.find_first_of("0123456789") != 1) continue;
    const std::size_t length = std::min(minor.find_first_not_of(".0123456789x"), minor.size());
    return fmt::format("{}{}", number->value, minor.substr(0, length));
  }
  return {};
}

}  // namespace

const Stack& stack_of(const RunRow& row) {
  const Words framework(row.framework);
  if (is_core(row, framework)) return kMegatronCore;
  for (const StackWord& entry : kStacks) {
    if (framework.has(entry.word)) return entry.stack;
  }
  return kUnknown;
}

Framework row_framework(const RunRow& row) {
  Framework framework{.name = std::string(stack_of(row).framework), .version = ""};
  framework.version = release_in(row.framework);
  if (framework.version.empty()) framework.version = release_in(row.source_note);
  return framework;
}

Optimizer row_optimizer(const RunRow& row, const Architecture& model) {
  const bool narrow = stack_of(row).narrow_moments && model.latent;
  return narrow ? Optimizer::kAdamNarrow : Optimizer::kAdam;
}

Kernels row_kernels(const RunRow& row, const Device& device) {
  const Words notes(row.notes);
  Kernels kernels = default_kernels(row_framework(row), device);
  kernels.attention = attention_of(row, device, notes);
  if (stack_of(row).adds_gradients) kernels.fused_accumulation = false;
  if (notes.has("ce fusion")) kernels.fused_cross_entropy = true;
  if (notes.has("torch.compile")) {
    kernels.fused_norm = kernels.fused_activation = kernels.fused_cross_entropy = true;
  }
  if (notes.has("norm kernel=")) kernels.fused_norm = notes.has("rms kernel");
  kernels.fused_softmax = !notes.has("kernel=torch", "without flashattention");
  kernels.gathered_logits = stack_of(row).gathers_logits;
  kernels.scattered_pipeline = stack_of(row).scatters_pipeline;
  kernels.cuda_graphs = graphs_of(notes);
  const Stack& stack = stack_of(row);
  kernels.wide_gradients = stack.reduces_wide;
  if (stack.splits_gate) kernels.fused_gate = false;
  if (stack.reduces_whole) kernels.scattered_gradients = false;
  return kernels;
}

Overlap row_overlap(const RunRow& row) {
  const Words notes(row.notes);
  const Stack& stack = stack_of(row);
  Overlap overlap;
  if (notes.has("all overlap off")) {
    return {.gradients = false, .parameters = false, .tensor_gradients = false, .pipeline = false};
  }
  const bool sharded = stack.overlaps_unsharded_only && Words(row.sharding).has("zero-1");
  const bool data = stack.overlaps_data && !sharded && !notes.has("no dp overlap");
  overlap.gradients = notes.flag("overlap_grad_sync").value_or(data);
  overlap.parameters = notes.flag("overlap_param_sync").value_or(data);
  overlap.tensor = overlaps_tensor(notes);
  overlap.tensor_gradients =
      !stack.waits_for_tensor || (!stack.keeps_gathered && row.sequence_parallel == "y");
  overlap.expert = overlaps_expert(notes);
  overlap.pipeline =
      notes.flag("overlap_p2p_comm")
          .value_or(stack.overlaps_pipeline && (interleaves(row) || notes.has("async p2p")));
  return overlap;
}

}  // namespace stepwright
