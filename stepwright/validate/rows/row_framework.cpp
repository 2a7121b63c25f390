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

constexpr Stack kMegatronCore{.framework = "megatron-core",
                              .overlaps_data = true,
                              .overlaps_pipeline = true,
                              .reduces_stored_type = true,
                              .distributed_optimizer = true,
                              .sequence_parallel = true};
constexpr Stack kMegatronBridge = [] {
  Stack stack = kMegatronCore;
  stack.narrow_moments = true;
  return stack;
}();
constexpr Stack kNemo = [] {
  Stack stack = kMegatronCore;
  stack.framework = "nemo";
  return stack;
}();
constexpr Stack kFsdp{.framework = "fsdp", .overlaps_data = true, .gathers_logits = true};
constexpr Stack kJax{.framework = "maxtext", .overlaps_data = true, .overlaps_pipeline = true};
constexpr Stack kOldMegatron{
    .framework = "megatron-lm", .scatters_pipeline = true, .waits_for_tensor = true};

/// The first word that stands in a row's framework tells its stack.
constexpr StackWord kStacks[] = {
    {"aleph alpha",
     {.framework = "megatron-lm",
      .attention = AttentionKernel::kFlash2,
      .reduces_stored_type = true,  // 13B parameters fit on one GPU of 80 GB
      .gathers_logits = true,
      .scatters_pipeline = true,
      .waits_for_tensor = true,
      .keeps_gathered = true,
      .deals_modules = true}},
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
    {"vocab parallel", {.framework = "megatron-lm", .attention = AttentionKernel::kFlash2}},
    {"megatron-lm", kOldMegatron},
    {"llm-foundry",
     {.framework = "fsdp",
      .attention = AttentionKernel::kFlash1,
      .overlaps_data = true,
      .gathers_logits = true}},
    {"fsdp", kFsdp},
    {
        "internevo",
        {.framework = "internevo",
         .overlaps_data = true,
         .reduces_stored_type = true,
         .waits_for_tensor = true}  // inferred: its tensor-parallel rows show no overlap
    },
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
constexpr Stack kUnknown{.framework = "stepwright", .overlaps_data = true};

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

bool uses_graphs(const Words& notes) {
  if (notes.flag("mcore_cuda_graph").value_or(false)) return true;
  if (notes.flag("layer_cuda_graph").value_or(false)) return true;
  return notes.has("full_iteration");  // graphs of parts leave the launches of the rest
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
  Kernels kernels;
  kernels.attention = attention_of(row, device, notes);
  if (notes.has("norm kernel=")) kernels.fused_norm = notes.has("rms kernel");
  // A clamped activation, biases of experts and rotary scaling are beyond the fused kernels.
  if (Words(row.model).has("gpt oss", "gpt-oss")) kernels.fused_norm = false;
  kernels.fused_softmax = !notes.has("kernel=torch", "without flashattention");
  kernels.gathered_logits = stack_of(row).gathers_logits;
  kernels.scattered_pipeline = stack_of(row).scatters_pipeline;
  kernels.cuda_graphs = uses_graphs(notes);
  return kernels;
}

Overlap row_overlap(const RunRow& row) {
  const Words notes(row.notes);
  const Stack& stack = stack_of(row);
  Overlap overlap;
  const bool no_data = notes.has("no dp overlap");
  overlap.gradients = notes.flag("overlap_grad_sync").value_or(stack.overlaps_data && !no_data);
  overlap.parameters = notes.flag("overlap_param_sync").value_or(stack.overlaps_data && !no_data);
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
