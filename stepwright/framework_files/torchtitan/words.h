#pragma once

#include <string_view>

#include "stepwright/core/named.h"
#include "stepwright/plan/plan.h"

namespace stepwright {

// Words of torchtitan's configurations, as they are written and read.

inline constexpr Named<ScheduleKind> kTitanSchedules[] = {
    {ScheduleKind::kOneForwardOneBackward, "1F1B"},
    {ScheduleKind::kGpipe, "GPipe"},
    {ScheduleKind::kInterleaved, "Interleaved1F1B"},
    {ScheduleKind::kZeroBubbleV, "ZBVZeroBubble"},
    {ScheduleKind::kDualPipeV, "DualPipeV"}};
inline constexpr Named<ContextKind> kRotateMethods[] = {{ContextKind::kAllGather, "allgather"},
                                                        {ContextKind::kRing, "alltoall"}};

/// Models of torchtitan by its own names.
struct TitanFlavor {
  std::string_view model;  ///< Of `built_in_models`.
  std::string_view name;
  std::string_view flavor;
};
inline constexpr TitanFlavor kTitanFlavors[] = {{"llama-3-8b", "llama3", "8B"},
                                                {"llama-3-70b", "llama3", "70B"},
                                                {"llama-3.1-8b", "llama3", "8B"},
                                                {"llama-3.1-70b", "llama3", "70B"},
                                                {"llama-3.1-405b", "llama3", "405B"},
                                                {"deepseek-v3", "deepseek_v3", "671B"},
                                                {"qwen3-0.6b", "qwen3", "0.6B"},
                                                {"qwen3-8b", "qwen3", "8B"},
                                                {"qwen3-32b", "qwen3", "32B"},
                                                {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
                                                {"qwen3-235b-a22b", "qwen3", "235B-A22B"}};

/// The flavor that a built-in model is; null where there is none.
inline const TitanFlavor* titan_flavor_of(std::string_view model) {
  for (const TitanFlavor& flavor : kTitanFlavors) {
    if (flavor.model == model) return &flavor;
  }
  return nullptr;
}

/// Whether a model is a Llama of torchtitan (torchtitan/models/llama3) of any sizes.
bool titan_builds(const Architecture& model);

/// The release from which on a configuration is a Python function.
inline constexpr std::string_view kPythonForm = "0.3";

}  // namespace stepwright
