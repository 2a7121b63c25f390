#include "stepwright/explore/choices.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/explore/launch_exports.h"
#include "stepwright/explore/sizes.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/files/run_keys.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/overlap_table.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;

template <class Names>
Json named_words(const Names& names) {
  Json list = Json::array();
  for (const auto& each : names) list.push_back({{"name", each.name}});
  return list;
}

// The words of a choice that is one of few; nothing for what is typed.

template <class Value>
Json words_of(std::type_identity<Value> /*kind*/) {
  return nullptr;
}
Json words_of(std::type_identity<schedule::PipelineScheduleKind> /*kind*/) {
  Json list = Json::array();
  for (const auto& [kind, name, definition] : schedule::kScheduleRows) {
    const schedule::PipelineScheduleTraits& traits = definition->traits;
    if (!traits.runs) continue;
    list.push_back({{"name", name}, {"text", definition->text}, {"chunks", traits.least_chunks}});
  }
  return list;
}
Json words_of(std::type_identity<plan::Sharding> /*kind*/) {
  Json list = Json::array();
  for (const plan::Sharding& sharding : plan::paro_strategies()) {
    const std::string states = plan::sharding_letters(sharding);
    const auto* alias =
        std::ranges::find(plan::kShardingAliases, states, &plan::ShardingAlias::states);
    const bool known = alias != std::end(plan::kShardingAliases);
    list.push_back({{"name", states}, {"text", known ? alias->name : ""}});
  }
  return list;
}
Json words_of(std::type_identity<plan::GatheredInputPolicy> /*kind*/) {
  return named_words(plan::kTensorInputNames);
}
Json words_of(std::type_identity<plan::ContextKind> /*kind*/) {
  return named_words(plan::kContextKindNames);
}
Json words_of(std::type_identity<DType> /*kind*/) { return named_words(plan::kAccumulateNames); }
Json words_of(std::type_identity<collective::CollectiveAlgorithm> /*kind*/) {
  return named_words(collective::kCollectiveAlgorithmNames);
}
Json words_of(std::type_identity<plan::OverlapFlags> /*kind*/) {
  return named_words(plan::kOverlapFlagNames);
}
Json words_of(std::type_identity<plan::ActivationRecomputation> /*kind*/) {
  return named_words(plan::kRecomputeNames);
}
Json words_of(std::type_identity<plan::OffloadModuleSet> /*kind*/) {
  return named_words(plan::kOffloadModuleNames);
}

/// The kind of control that sets such a value.
template <class Value>
std::string_view kind_of(std::string_view place) {
  if (std::is_same_v<Value, bool>) return "flag";
  if (std::is_same_v<Value, plan::OverlapFlags>) return "flags";
  if (std::is_same_v<Value, plan::ActivationRecomputation>) return "recompute";
  if (std::is_same_v<Value, plan::OffloadModuleSet>) return "several";
  if (std::is_arithmetic_v<Value>) return explorer_offers_value_list(place) ? "size" : "number";
  return words_of(std::type_identity<Value>()).is_null() ? "text" : "words";
}

/// Returns the schedules that have a trait.
Json schedules_with(bool schedule::PipelineScheduleTraits::* trait) {
  Json names = Json::array();
  for (const auto& [kind, name, definition] : schedule::kScheduleRows) {
    const schedule::PipelineScheduleTraits& traits = definition->traits;
    if (traits.runs && traits.*trait) names.push_back(name);
  }
  return names;
}

/// Control for the number of micro-batches that one chunk processes before the next chunk does.
Json group_control() {
  return {
      {"place", "schedule.group"},
      {"kind", "optional"},
      {"type", "micro-batches"},
      {"help", "in a group of the interleaved schedule; by default the smallest allowed number"},
      {"schedules", schedules_with(&schedule::PipelineScheduleTraits::groups)},
      {"unsaid", ""}};
}

/// Control for the placement of chunks in a searched order.
Json placement_control() {
  Json words = Json::array({{{"name", ""}, {"text", "whichever is better"}}});
  for (const auto& [kind, name] : schedule::kSearchableChunkPlacements)
    words.push_back({{"name", name}});
  return {{"place", "schedule.placement"},
          {"kind", "words"},
          {"words", std::move(words)},
          {"schedules", schedules_with(&schedule::PipelineScheduleTraits::found)},
          {"unsaid", ""}};
}

Json plan_controls() {
  const plan::Plan usual{};
  Json controls = Json::array();
  plan::each_choice([&](const auto& choice) {
    using Value = plan::KindOf<decltype(choice)>;
    Json control = {{"place", choice.place}, {"kind", kind_of<Value>(choice.place)}};
    if (Json words = words_of(std::type_identity<Value>()); !words.is_null()) {
      control["words"] = std::move(words);
    }
    if (std::is_same_v<Value, plan::ActivationRecomputation>)
      control["modules"] = named_words(plan::kModuleNames);
    if (choice.traits.unsaid_alone) control["unsaid"] = choice.write(choice.of(usual));
    controls.push_back(std::move(control));
    if (choice.place != "schedule.chunks") return;
    controls.push_back(group_control());
    controls.push_back(placement_control());
  });
  return controls;
}

Json words_control(const std::string& place, Json words) {
  return {{"place", place}, {"kind", "words"}, {"words", std::move(words)}};
}

Json job_controls() {
  Json frameworks = Json::array({{{"name", ""}, {"text", "any"}}});
  for (const std::string& name : plan::framework_field_words())
    frameworks.push_back({{"name", name}});
  Json controls = {
      words_control("job.framework", std::move(frameworks)),
      words_control("job.precision", named_words(plan::kPrecisionNames)),
      words_control("job.optimizer", named_words(plan::kOptimizerNames)),
      words_control("job.muon", named_words(plan::kMuonFormNames)),
      words_control("job.routing", named_words(plan::kRoutingNames)),
      words_control("job.dispatcher", named_words(plan::kDispatcherNames)),
      {{"place", "job.imbalance"}, {"kind", "number"}},
      words_control("job.kernels.attention", named_words(cluster::kAttentionKernelNames)),
      {{"place", "job.kernels.cuda_graphs"},
       {"kind", "graphs"},
       {"words", named_words(plan::kGraphParts)}}};
  for (const auto& [flag, name] : plan::kKernelFlagNames) {
    controls.push_back({{"place", "job.kernels." + std::string(name)}, {"kind", "flag"}});
  }
  controls.push_back(
      words_control("job.kernels.cross_entropy", named_words(plan::kCrossEntropyNames)));
  controls.push_back(
      words_control("job.kernels.expert_weights", named_words(plan::kExpertWeightsNames)));
  controls.push_back({{"place", "job.kernels.loss_chunks"}, {"kind", "number"}});
  controls.push_back(
      words_control("job.kernels.loss_keeps", named_words(plan::kLossSavedTensorsNames)));
  // Plan files contain these two settings only if the precision leaves a choice.
  controls.push_back(words_control("job.kernels.casts", named_words(plan::kCastScalingNames)));
  controls.push_back(words_control("job.kernels.masters", named_words(plan::kMasterWeightsNames)));
  controls.push_back({{"place", "job.host_threads"},
                      {"kind", "optional"},
                      {"type", "threads"},
                      {"help",
                       "with which a process updates optimizer states in host memory; by default "
                       "that of the framework"},
                      {"unsaid", ""}});
  return controls;
}

/// Controls for facts about the whole run; no step depends on them.
Json run_controls() {
  Json writing = Json::array({{{"name", ""}, {"text", "not said"}}});
  for (const auto& [kind, name] : plan::kCheckpointWritingNames)
    writing.push_back({{"name", name}});
  Json controls = Json::array();
  controls.push_back(
      words_control("job.run." + std::string(plan::kCheckpointsKey), std::move(writing)));
  for (const plan::TrainingRunSettingKey& key : plan::kRunKeys) {
    controls.push_back({{"place", "job.run." + std::string(key.key)},
                        {"kind", "optional"},
                        {"type", key.type},
                        {"help", key.help}});
  }
  return controls;
}

/// Returns the figures of each built-in cluster that forms show and let people change.
Json profiles_json() {
  Json profiles = Json::array();
  for (const std::string_view name : cluster::built_in_cluster_names()) {
    const cluster::Cluster cluster = cluster::built_in_cluster(name, 1).value();
    const bool inside = cluster.devices_per_node > 1 && !cluster.levels.empty();
    const double link_bytes_per_s = inside ? cluster.levels.front().uplink_bytes_per_s : 0;
    profiles.push_back({{"name", name},
                        {"device", cluster.device.name},
                        {"devices_per_node", cluster.devices_per_node},
                        {"memory_bytes", cluster.device.memory_bytes},
                        {"nics_per_node", cluster.nics_per_node},
                        {"nic_bytes_per_s", cluster.nic_bytes_per_s},
                        {"link_bytes_per_s", link_bytes_per_s}});
  }
  return profiles;
}

}  // namespace

Json explorer_choices_json() {
  Json controls = job_controls();
  for (Json& control : run_controls()) controls.push_back(std::move(control));
  for (Json& control : plan_controls()) controls.push_back(std::move(control));
  return {{"models", model::built_in_model_names()},
          {"clusters", cluster::built_in_cluster_names()},
          {"profiles", profiles_json()},
          {"targets", export_targets_json()},
          {"controls", std::move(controls)}};
}

}  // namespace stepwright::explore
