#pragma once

#include <string_view>

#include "stepwright/core/named.h"
#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

// Words of torchtitan's configurations, as they are written and read.

inline constexpr Named<schedule::ScheduleKind> kTitanSchedules[] = {
    {schedule::ScheduleKind::kOneForwardOneBackward, "1F1B"},
    {schedule::ScheduleKind::kGpipe, "GPipe"},
    {schedule::ScheduleKind::kInterleaved, "Interleaved1F1B"},
    {schedule::ScheduleKind::kZeroBubbleV, "ZBVZeroBubble"},
    {schedule::ScheduleKind::kDualPipeV, "DualPipeV"}};
/// Schedules of it that no plan has: torch/distributed/pipelining/schedules.py, get_schedule_class.
inline constexpr std::string_view kTitanOtherSchedules[] = {
    "InterleavedZeroBubble", "LoopedBFS", "PipelineScheduleSingle", "PipelineScheduleMulti"};
inline constexpr Named<plan::ContextKind> kRotateMethods[] = {
    {plan::ContextKind::kAllGather, "allgather"}, {plan::ContextKind::kRing, "alltoall"}};

/// Models of torchtitan by its own names: torchtitan/models/NAME/__init__.py.
struct TitanFlavor {
  std::string_view model;  ///< Of `built_in_models`, or an inline mapping of the sizes.
  std::string_view name;   ///< Of the family, after which its folder is called.
  std::string_view flavor;
};
inline constexpr TitanFlavor kTitanFlavors[] = {
    {"llama-3-8b", "llama3", "8B"},
    {"llama-3-70b", "llama3", "70B"},
    {"llama-3.1-8b", "llama3", "8B"},
    {"llama-3.1-70b", "llama3", "70B"},
    {"llama-3.1-405b", "llama3", "405B"},
    {"llama-3.2-1b", "llama3", "1B"},
    {"llama-3.2-3b", "llama3", "3B"},
    {"{layers: 6, hidden: 256, heads: 16, ffn: 768, vocab: 2048, positions: 131072, "
     "rotary_base: 500000}",
     "llama3", "debugmodel"},
    {"deepseek-v2-lite", "deepseek_v3", "16B"},
    {"deepseek-v2", "deepseek_v3", "236B"},
    {"deepseek-v3", "deepseek_v3", "671B"},
    {"{layers: 6, hidden: 256, heads: 16, ffn: 1024, vocab: 2048, positions: 16384, latent: {}, "
     "experts: {count: 8, top_k: 3, ffn: 256, shared_ffn: 512, normalize_top_k: false, "
     "leading_dense: 1}}",
     "deepseek_v3", "debugmodel"},
    {"moonlight-16b-a3b", "kimi_k2_7", "moonlight-16B-A3B"},
    {"qwen3-0.6b", "qwen3", "0.6B"},
    {"qwen3-1.7b", "qwen3", "1.7B"},
    {"qwen3-4b", "qwen3", "4B"},
    {"qwen3-8b", "qwen3", "8B"},
    {"qwen3-14b", "qwen3", "14B"},
    {"qwen3-32b", "qwen3", "32B"},
    {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
    {"qwen3-235b-a22b", "qwen3", "235B-A22B"},
    {"{layers: 8, hidden: 256, heads: 16, kv_heads: 8, head_dim: 128, ffn: 3072, vocab: 2048, "
     "positions: 4096, rotary_base: 1000000, qk_norm: head, tied: true}",
     "qwen3", "debugmodel"},
    {"{layers: 8, hidden: 256, heads: 16, kv_heads: 8, head_dim: 128, vocab: 2048, "
     "positions: 4096, rotary_base: 1000000, qk_norm: head, "
     "experts: {count: 64, top_k: 8, ffn: 768}}",
     "qwen3", "debugmodel_moe"},
    {"gpt-oss-20b", "gpt_oss", "20b"},
    {"gpt-oss-120b", "gpt_oss", "120b"},
    {"{layers: 4, hidden: 256, heads: 64, kv_heads: 8, head_dim: 64, vocab: 2048, "
     "positions: 131072, rotary_base: 150000, activation: clamped_swiglu, qkv_bias: true, "
     "attention_output_bias: true, sinks: true, window: [128, 0, 128, 0], "
     "experts: {count: 8, top_k: 4, ffn: 2880, bias: true, router_bias: true}}",
     "gpt_oss", "debugmodel"}};

/// The flavor that a built-in model is; null where there is none.
inline const TitanFlavor* titan_flavor_of(std::string_view model) {
  for (const TitanFlavor& flavor : kTitanFlavors) {
    if (flavor.model == model) return &flavor;
  }
  return nullptr;
}

/// Words of `attn_backend`: FlexAttention, FlashAttention for documents of any length, and
/// FlexAttention by FlashAttention 4 (torchtitan/models/common/config_utils.py,
/// get_attention_config).
inline constexpr std::string_view kTitanFlex = "flex";
inline constexpr std::string_view kTitanVarlen = "varlen";
inline constexpr std::string_view kTitanFlexFlash = "flex_flash";

/// Whether a model is a Llama of torchtitan (torchtitan/models/llama3) of any sizes.
bool titan_builds(const model::Architecture& model);

/// The release from which on a configuration is a Python function.
inline constexpr std::string_view kPythonForm = "0.3";

}  // namespace stepwright::framework_files
