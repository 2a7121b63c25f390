#pragma once

#include <optional>
#include <string_view>
#include <vector>

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
  std::string_view model;  ///< Name of `built_in_models`, or an inline mapping of the sizes.
  std::string_view name;   ///< Name of the family, after which its folder is called.
  std::string_view flavor;
};
/// All flavors, those of a family in the order in which they are tried.
std::vector<TitanFlavor> titan_flavors();

/// The flavor that a built-in model is; nullopt if there is none.
std::optional<TitanFlavor> titan_flavor_of(std::string_view model);

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
