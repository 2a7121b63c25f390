#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

// Words in torchtitan's configurations, for writing and reading.

inline constexpr Named<schedule::PipelineScheduleKind> kTitanSchedules[] = {
    {schedule::PipelineScheduleKind::kOneForwardOneBackward, "1F1B"},
    {schedule::PipelineScheduleKind::kGpipe, "GPipe"},
    {schedule::PipelineScheduleKind::kInterleaved, "Interleaved1F1B"},
    {schedule::PipelineScheduleKind::kZeroBubbleV, "ZBVZeroBubble"},
    {schedule::PipelineScheduleKind::kDualPipeV, "DualPipeV"}};
/// torchtitan's names of pipeline schedules that plans do not support
/// (torch/distributed/pipelining/schedules.py, get_schedule_class).
inline constexpr std::string_view kTorchtitanUnsupportedSchedules[] = {
    "InterleavedZeroBubble", "LoopedBFS", "PipelineScheduleSingle", "PipelineScheduleMulti"};
inline constexpr Named<plan::ContextKind> kRotateMethods[] = {
    {plan::ContextKind::kAllGather, "allgather"}, {plan::ContextKind::kRing, "alltoall"}};

/// A model that torchtitan has built in, by its family and flavor ("llama3", "8B";
/// torchtitan/models/NAME/__init__.py).
struct TitanModelFlavor {
  std::string_view model;  ///< Stepwright's name of the model, or its sizes as a mapping.
  std::string_view name;   ///< torchtitan's name of the family and its folder: "llama3".
  std::string_view flavor;
};
/// Returns all models that torchtitan has built in; those of one family are in the order in which a
/// configuration's flavor is compared with them.
std::vector<TitanModelFlavor> torchtitan_model_flavors();

/// Returns torchtitan's family and flavor of a model that Stepwright has built in; nullopt if
/// torchtitan lacks it.
std::optional<TitanModelFlavor> torchtitan_flavor_of_model(std::string_view model);

/// Values of torchtitan's `attn_backend`: "flex" is FlexAttention, "varlen" FlashAttention for
/// packed documents, "flex_flash" FlexAttention by FlashAttention 4
/// (torchtitan/models/common/config_utils.py, get_attention_config).
inline constexpr std::string_view kTorchtitanFlexAttention = "flex";
inline constexpr std::string_view kTitanVarlen = "varlen";
inline constexpr std::string_view kTitanFlexFlash = "flex_flash";

/// True if torchtitan's Llama (torchtitan/models/llama3) can be built with a model's sizes.
bool titan_supports_model(const model::ModelArchitecture& model);

/// First release of torchtitan whose configurations are Python functions, not TOML.
inline constexpr std::string_view kTorchtitanPythonConfigRelease = "0.3";

}  // namespace stepwright::framework_files
