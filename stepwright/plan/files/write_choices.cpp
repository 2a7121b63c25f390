#include "stepwright/plan/files/write_choices.h"

#include <nlohmann/json.hpp>

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

Json group_json(std::int64_t group) { return group == kNodeGroup ? Json("node") : Json(group); }

/// Writes a dimension that is not free.
template <class Value, class Write>
void write_many(Json& search, const char* key, const std::vector<Value>& values, Write write) {
  if (values.empty()) return;
  if (values.size() == 1) {
    search[key] = write(values.front());
    return;
  }
  Json list = Json::array();
  for (const Value& value : values) list.push_back(write(value));
  search[key] = std::move(list);
}

void write_degrees(Json& search, const Space& space) {
  const auto plain = [](std::int64_t value) { return Json(value); };
  write_many(search, "tensor", space.tensor, plain);
  write_many(search, "pipeline", space.pipeline, plain);
  write_many(search, "context", space.context, plain);
  write_many(search, "expert", space.expert, plain);
  write_many(search, "expert_tensor", space.expert_tensor, plain);
  write_many(search, "data", space.data, plain);
  write_many(search, "micro_batch", space.micro_batch, plain);
  write_many(search, "chunks", space.chunks, plain);
  write_many(search, "strands", space.strands, plain);
  write_many(search, "sharding_group", space.sharding_group, group_json);
  write_many(search, "expert_group", space.expert_group, group_json);
  write_many(search, "gradient_bucket", space.gradient_bucket, plain);
  write_many(search, "parameter_bucket", space.parameter_bucket, plain);
}

template <class Enum, std::size_t kCount>
auto word_of(const Named<Enum> (&table)[kCount]) {
  return [&table](Enum value) { return Json(name_of(table, value)); };
}

void write_collectives(Json& search, const CollectiveLists& lists) {
  Json json = Json::object();
  for (std::size_t i = 0; i < std::size(kChoosingSchemes); ++i) {
    const std::string scheme(kChoosingSchemes[i].name);
    write_many(json, scheme.c_str(), lists.*kAlgorithmLists[i], word_of(kAlgorithmNames));
  }
  if (!json.empty()) search["collectives"] = std::move(json);
}

}  // namespace

Json recompute_json(const Recompute& recompute) {
  if (recompute.kind == RecomputeKind::kEvery) return {{"every", recompute.every}};
  if (recompute.kind == RecomputeKind::kModules) {
    Json json = {{"modules", module_words(recompute.modules)}};
    if (recompute.every > 1) json["every"] = recompute.every;
    return json;
  }
  return name_of(kRecomputeNames, recompute.kind);
}

Json overlap_json(const Overlap& overlap) {
  Json json = Json::object();
  for (const auto& [flag, name] : kOverlapNames) json[std::string(name)] = overlap.*flag;
  return json;
}

Json collectives_json(const Collectives& collectives) {
  Json json = Json::object();
  for (const auto& [choice, scheme] : kChoosingSchemes) {
    json[std::string(scheme)] = name_of(kAlgorithmNames, collectives.*choice);
  }
  return json;
}

Json layers_json(const std::vector<std::int64_t>& layers) {
  return layers.empty() ? Json("even") : Json(layers);
}

Json space_json(const Space& space) {
  Json search = Json::object();
  write_degrees(search, space);
  const auto flag = [](bool value) { return Json(value); };
  write_many(search, "schedule", space.schedule, word_of(kScheduleNames));
  write_many(search, "sharding", space.sharding, sharding_word);
  write_many(search, "recompute", space.recompute, recompute_json);
  write_many(search, "sequence_parallel", space.sequence_parallel, flag);
  write_many(search, "tensor_input", space.tensor_input, word_of(kTensorInputNames));
  write_many(search, "context_kind", space.context_kind, word_of(kContextKindNames));
  write_many(search, "accumulate", space.accumulate, word_of(kDTypeNames));
  write_many(search, "overlap", space.overlap, overlap_json);
  write_collectives(search, space.collectives);
  write_many(search, "rank_order", space.rank_order, rank_order_word);
  write_many(search, "layers", space.layers, layers_json);
  return search;
}

}  // namespace stepwright
