#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

// Writers of the values that read_choices.h reads.

/// Returns a whole number (a degree, a bucket size) as JSON.
nlohmann::ordered_json count_json(const std::int64_t& count);
/// Returns a share from 0 to 1 as JSON.
nlohmann::ordered_json unit_interval_share_json(const double& share);
/// Returns a yes-or-no choice as JSON: true or false.
nlohmann::ordered_json flag_json(const bool& flag);
/// Returns the name of a pipeline schedule as JSON: "1f1b".
nlohmann::ordered_json schedule_kind_json(const schedule::PipelineScheduleKind& kind);
/// Returns the name of a collective algorithm as JSON.
nlohmann::ordered_json collective_algorithm_json(const collective::CollectiveAlgorithm& algorithm);
/// Returns the name of the type in which gradients are accumulated as JSON.
nlohmann::ordered_json accumulation_type_json(const DType& type);
/// Returns the name of a kind of context parallelism as JSON: "ring".
nlohmann::ordered_json context_parallelism_json(const ContextKind& kind);
/// Returns as JSON whether column-parallel layers keep their gathered input: "keep" or "regather".
nlohmann::ordered_json gathered_input_policy_json(const GatheredInputPolicy& input);
/// Returns a plan's recomputation as JSON: "full", {every: n} or {modules: [...], every: n, stages:
/// {0: "full"}}.
nlohmann::ordered_json recompute_json(const ActivationRecomputation& recompute);
/// Returns as JSON which messages overlap computation: {gradients: true, ...}.
nlohmann::ordered_json overlap_json(const OverlapFlags& overlap);
/// Returns a sharding's letters for parameters, gradients and optimizer as JSON: "IIG".
nlohmann::ordered_json sharding_letters_json(const Sharding& sharding);
/// Returns a sharding group's number of ranks as JSON; "node" for `kNodeSizedShardingGroup`.
nlohmann::ordered_json sharding_group_json(const std::int64_t& group);
/// Returns the modules whose activations are offloaded as a JSON list: ["qkv_linear", ...].
nlohmann::ordered_json offload_modules_json(const OffloadModuleSet& modules);
/// Returns the order of parallelism axes on ranks as JSON: "tp-cp-ep-dp-pp".
nlohmann::ordered_json rank_order_json(const RankOrder& order);
/// Returns a reference to the value at a dotted path ("schedule.chunks") of a JSON file, created if
/// absent, so that the caller can set it.
nlohmann::ordered_json& json_at_path(nlohmann::ordered_json& file, std::string_view place);
/// Returns the layers of each pipeline chunk as JSON: "even" or [40, 40].
nlohmann::ordered_json layers_per_chunk_json(const std::vector<std::int64_t>& layers);
/// Returns a job's `search` mapping as JSON: the choices that are not free, each with one value or
/// a list.
nlohmann::ordered_json search_space_json(const TunerSearchSpace& space);

}  // namespace stepwright::plan
