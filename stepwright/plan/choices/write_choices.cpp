#include "stepwright/plan/choices/write_choices.h"

#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/overlap_table.h"

namespace stepwright::plan {

using Json = nlohmann::ordered_json;

Json count_json(const std::int64_t& count) { return count; }
Json unit_interval_share_json(const double& share) { return share; }
Json flag_json(const bool& flag) { return flag; }
Json schedule_kind_json(const schedule::PipelineScheduleKind& kind) {
  return name_of(schedule::kScheduleKindNames, kind);
}
Json collective_algorithm_json(const collective::CollectiveAlgorithm& algorithm) {
  return name_of(collective::kCollectiveAlgorithmNames, algorithm);
}
Json accumulation_type_json(const DType& type) { return name_of(kAccumulateNames, type); }
Json context_parallelism_json(const ContextKind& kind) { return name_of(kContextKindNames, kind); }
Json gathered_input_policy_json(const GatheredInputPolicy& input) {
  return name_of(kTensorInputNames, input);
}

Json recompute_json(const ActivationRecomputation& recompute) {
  const bool word = recompute.stages.empty() && recompute.kind <= RecomputeKind::kFull;
  if (word) return name_of(kRecomputeNames, recompute.kind);
  Json json = Json::object();
  const LayerRecompute own = parts_recomputed_in_layers(recompute);
  if (!own.modules.empty()) json["modules"] = recompute_module_names(own.modules);
  if (recompute.first > 0) {
    json["first"] = recompute.first;
  } else if (own.whole || recompute.every > 1) {
    json["every"] = recompute.every;
  }
  for (const StageRecompute& stage : recompute.stages) {
    json["stages"][std::to_string(stage.position)] =
        recompute_json(recompute_settings_of_stage(stage));
  }
  return json;
}

Json overlap_json(const OverlapFlags& overlap) {
  Json json = Json::object();
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    if (!row.chosen || overlap.*row.flag) json[std::string(row.name)] = overlap.*row.flag;
  }
  return json;
}

Json sharding_letters_json(const Sharding& sharding) { return sharding_letters(sharding); }

Json sharding_group_json(const std::int64_t& group) {
  return group == kNodeSizedShardingGroup ? Json("node") : Json(group);
}

Json offload_modules_json(const OffloadModuleSet& modules) {
  return offloaded_activation_kind_names(modules);
}

Json rank_order_json(const RankOrder& order) { return rank_order_text(order); }

Json layers_per_chunk_json(const std::vector<std::int64_t>& layers) {
  return layers.empty() ? Json("even") : Json(layers);
}

Json& json_at_path(Json& file, std::string_view place) {
  const std::size_t dot = place.find('.');
  Json& head = file[std::string(place.substr(0, dot))];
  if (dot == std::string_view::npos) return head;
  if (head.is_null()) head = Json::object();
  return head[std::string(place.substr(dot + 1))];
}

Json search_space_json(const TunerSearchSpace& space) {
  Json search = Json::object();
  each_choice([&](const auto& choice) {
    const auto& values = choice.list(space);
    if (values.empty()) return;
    Json list = Json::array();
    for (const auto& value : values) list.push_back(choice.write(value));
    json_at_path(search, choice.key) = list.size() == 1 ? list.front() : list;
  });
  return search;
}

}  // namespace stepwright::plan
