#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

// Words in torchtitan's configurations, for writing and reading.

inline constexpr Named<schedule::ScheduleKind> kTitanSchedules[] = {
    {schedule::ScheduleKind::kOneForwardOneBackward, "1F1B"},
    {schedule::ScheduleKind::kGpipe, "GPipe"},
    {schedule::ScheduleKind::kInterleaved, "Interleaved1F1B"},
    {schedule::ScheduleKind::kZeroBubbleV, "ZBVZeroBubble"},
    {schedule::ScheduleKind::kDualPipeV, "DualPipeV"}};
/// Schedules of torchtitan that no plan has (torch/distributed/pipelining/schedules.py,
/// get_schedule_class).
inline constexpr std::string_view kTitanOtherSchedules[] = {
    "InterleavedZeroBubble", "LoopedBFS", "PipelineScheduleSingle", "PipelineScheduleMulti"};
inline constexpr Named<plan::ContextKind> kRotateMethods[] = {
    {plan::ContextKind::kAllGather, "allgather"}, {plan::ContextKind::kRing, "alltoall"}};

/// A model under torchtitan's own names (torchtitan/models/NAME/__init__.py).
struct TitanFlavor {
  std::string_view model;  ///< Name in `built_in_models`, or an inline mapping of sizes.
  std::string_view name;   ///< Name of the family, which is also its folder's name.
  std::string_view flavor;
};
/// Returns all flavors; those of one family are in the order in which they are tried.
std::vector<TitanFlavor> titan_flavors();

/// Returns the flavor that equals a built-in model; nullopt if there is none.
std::optional<TitanFlavor> titan_flavor_of(std::string_view model);

/// Words of `attn_backend`: FlexAttention, FlashAttention for packed documents, and FlexAttention
/// implemented by FlashAttention 4 (torchtitan/models/common/config_utils.py,
/// get_attention_config).
inline constexpr std::string_view kTitanFlex = "flex";
inline constexpr std::string_view kTitanVarlen = "varlen";
inline constexpr std::string_view kTitanFlexFlash = "flex_flash";

/// True if torchtitan's Llama (torchtitan/models/llama3) can be built with a model's sizes.
bool titan_supports_model(const model::Architecture& model);

/// First release in which a configuration is a Python function.
inline constexpr std::string_view kPythonConfigRelease = "0.3";

}  // namespace stepwright::framework_files
