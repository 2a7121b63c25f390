#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

// Writers of what read_choices.h reads.

/// "full", {every: n} or {modules: [...], every: n, stages: {0: "full"}}.
nlohmann::ordered_json recompute_json(const Recompute& recompute);
/// {gradients: true, ...}.
nlohmann::ordered_json overlap_json(const Overlap& overlap);
/// "IIG".
nlohmann::ordered_json states_json(const Sharding& sharding);
/// A sharding group; "node" for `kNodeGroup`.
nlohmann::ordered_json group_json(const std::int64_t& group);
/// ["qkv_linear", ...].
nlohmann::ordered_json offload_modules_json(const OffloadModules& modules);
/// "tp-cp-ep-dp-pp".
nlohmann::ordered_json rank_order_json(const RankOrder& order);
/// The value at a place ("schedule.chunks"), for whoever sets it.
nlohmann::ordered_json& at_place(nlohmann::ordered_json& file, std::string_view place);
/// "even" or [40, 40].
nlohmann::ordered_json layers_json(const std::vector<std::int64_t>& layers);
/// The mapping `search`: the dimensions that are not free, one value alone or a list.
nlohmann::ordered_json space_json(const Space& space);

}  // namespace stepwright::plan
