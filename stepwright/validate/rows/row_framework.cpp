#include "stepwright/validate/rows/row_framework.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

/// A word of a row's framework, and which framework, variant of it or neither (empty) it stands
/// for; the first match counts.
struct FrameworkWord {
  std::string_view word;
  std::string_view framework;
  std::string_view variant;
};
constexpr FrameworkWord kFrameworkWords[] = {
    {"scaling (", "megatron-lm", "aleph-alpha"},
    {"automodel", "fsdp", "automodel"},
    {"megatron-bridge", "megatron-core", "bridge"},
    {"nemo", "nemo", ""},
    {"megatron-core", "megatron-core", ""},
    {"zero-3", "deepspeed", ""},
    {"megatron-deepspeed", "megatron-deepspeed", ""},
    {"neox", "megatron-deepspeed", ""},
    {"megatron-lm", "megatron-lm", ""},
    {"llm-foundry", "fsdp", "llm-foundry"},
    {"torchtitan", "torchtitan", ""},
    {"fsdp", "fsdp", ""},
    {"internevo", "internevo", ""},
    {"nanotron", "nanotron", ""},
    {"jax", "maxtext", ""},
    {"maxtext", "maxtext", ""},
    {"paxml", "maxtext", ""},
    {"dao-ailab", "fsdp", ""},
    {"meta internal", "torchtitan", "meta-internal"},
    {"colossal", "colossalai", ""},
    // Submissions to MLPerf by the container they ran in.
    {"nvidia", "nemo", ""},
    {"pytorch", "nemo", ""},
    {"ngc", "nemo", ""},
    {"cuda", "nemo", ""},
};

/// Megatron-LM's own training loop on Megatron-Core and Transformer Engine, since the middle of
/// 2023 (NVIDIA/Megatron-LM, core_v0.1.0 and later).
bool is_core(const RunRow& row, const Words& framework) {
  constexpr std::int64_t kFirstYear = 2023;
  return row.year.value_or(0) >= kFirstYear && framework.has("megatron-lm") &&
         !framework.has("deepspeed");
}

std::optional<AttentionKernel> attention_of(const RunRow& row, const Words& notes) {
  if (notes.has("kernel=torch", "kernel=fused", "without flashattention", "no flash attention")) {
    return AttentionKernel::kUnfused;
  }
  if (notes.has("flash_attention2", "flashattention-2", "flash_attention_2")) {
    return AttentionKernel::kFlash2;
  }
  if (notes.has("flash_attentionv1", "flash attention v1")) return AttentionKernel::kFlash1;
  if (row.framework.find("Dao-AILab") == 0) return AttentionKernel::kFlash1;
  // Megatron models under ZeRO-3, of 2021 and 2022.
  if (Words(row.framework).has("zero-3")) return AttentionKernel::kUnfused;
  return std::nullopt;
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

Framework row_framework(const RunRow& row) {
  const Words words(row.framework);
  Framework framework;
  const auto* const known = std::ranges::find_if(
      kFrameworkWords, [&](const FrameworkWord& entry) { return words.has(entry.word); });
  if (is_core(row, words)) {
    framework.name = "megatron-core";
  } else if (known != std::end(kFrameworkWords)) {
    framework = {.name = std::string(known->framework), .variant = std::string(known->variant)};
  }
  framework.version = release_in(row.framework);
  if (framework.version.empty()) framework.version = release_in(row.source_note);
  return framework;
}

Kernels row_kernels(const RunRow& row, const Device& device) {
  const Words notes(row.notes);
  Kernels kernels = default_kernels(row_framework(row), device);
  if (const auto stated = attention_of(row, notes)) kernels.attention = *stated;
  if (notes.has("ce fusion")) kernels.fused_cross_entropy = true;
  if (notes.has("torch.compile")) {
    kernels.fused_norm = kernels.fused_activation = kernels.fused_cross_entropy = true;
  }
  if (notes.has("norm kernel=")) kernels.fused_norm = notes.has("rms kernel");
  kernels.fused_softmax = !notes.has("kernel=torch", "without flashattention");
  kernels.cuda_graphs = graphs_of(notes);
  return kernels;
}

namespace {

/// What a row's framework overlaps, but for rows that name none, or one of which the source tells
/// that messages were its own.
Overlap usual_overlap(const RunRow& row, const PlannedJob& planned) {
  Overlap overlap = default_overlap(planned.job, planned.plan);
  const Words framework(row.framework);
  if (planned.job.framework.name.empty()) overlap.pipeline = false;
  if (framework.has("zero-3")) overlap.gradients = overlap.parameters = false;
  if (framework.has("zero-3", "metaseq")) overlap.tensor_gradients = true;
  return overlap;
}

}  // namespace

Overlap row_overlap(const RunRow& row, const PlannedJob& planned) {
  const Words notes(row.notes);
  if (notes.has("all overlap off")) {
    return {.gradients = false, .parameters = false, .tensor_gradients = false, .pipeline = false};
  }
  Overlap overlap = usual_overlap(row, planned);
  if (notes.has("no dp overlap")) overlap.gradients = overlap.parameters = false;
  overlap.gradients = notes.flag("overlap_grad_sync").value_or(overlap.gradients);
  overlap.parameters = notes.flag("overlap_param_sync").value_or(overlap.parameters);
  overlap.tensor = overlaps_tensor(notes);
  overlap.expert = overlaps_expert(notes);
  overlap.pipeline =
      notes.flag("overlap_p2p_comm").value_or(overlap.pipeline || notes.has("async p2p"));
  return overlap;
}

}  // namespace stepwright
