#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

// Writers of the values that read_choices.h reads.

/// Write a number, a share, a flag, or the word of a choice.
nlohmann::ordered_json count_json(const std::int64_t& count);
nlohmann::ordered_json share_json(const double& share);
nlohmann::ordered_json flag_json(const bool& flag);
nlohmann::ordered_json schedule_kind_json(const schedule::ScheduleKind& kind);
nlohmann::ordered_json algorithm_json(const collective::Algorithm& algorithm);
nlohmann::ordered_json accumulate_json(const DType& type);
nlohmann::ordered_json context_kind_json(const ContextKind& kind);
nlohmann::ordered_json tensor_input_json(const TensorInput& input);
/// Writes recomputation as "full", {every: n} or {modules: [...], every: n, stages: {0: "full"}}.
nlohmann::ordered_json recompute_json(const Recompute& recompute);
/// Writes the overlaps as {gradients: true, ...}.
nlohmann::ordered_json overlap_json(const Overlap& overlap);
/// Writes the spread of states, as "IIG".
nlohmann::ordered_json states_json(const Sharding& sharding);
/// Writes the size of a sharding group; "node" for `kNodeGroup`.
nlohmann::ordered_json group_json(const std::int64_t& group);
/// Writes the modules as a list: ["qkv_linear", ...].
nlohmann::ordered_json offload_modules_json(const OffloadModules& modules);
/// Writes the order of ranks, as "tp-cp-ep-dp-pp".
nlohmann::ordered_json rank_order_json(const RankOrder& order);
/// Returns the value at a dotted place of a file ("schedule.chunks"), so that the caller can set
/// it.
nlohmann::ordered_json& json_at_path(nlohmann::ordered_json& file, std::string_view place);
/// Writes the layers of each chunk, as "even" or [40, 40].
nlohmann::ordered_json layers_json(const std::vector<std::int64_t>& layers);
/// Writes the mapping `search`: the dimensions that are not free, each as one value or a list.
nlohmann::ordered_json space_json(const Space& space);

}  // namespace stepwright::plan
