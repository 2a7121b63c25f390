#include "stepwright/plan/files/write_plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/tree.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/choices/plan_table.h"
#include "stepwright/plan/choices/write_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/document_batch.h"
#include "stepwright/plan/files/read_adapters.h"
#include "stepwright/plan/files/read_method.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright::plan {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the built-in model that differs only in values that a job states itself; nullopt if
/// there is none.
std::optional<model::ModelArchitecture> built_in_of(const model::ModelArchitecture& model) {
  std::optional<model::ModelArchitecture> known = model::built_in_model(model.name);
  if (!known) return std::nullopt;
  return model::copy_job_settings_to_model(*known, model) == model ? known : std::nullopt;
}

void write_model(Json& file, const Job& job, bool expanded) {
  const std::optional<model::ModelArchitecture> known =
      expanded ? std::nullopt : built_in_of(job.model);
  file["model"] = known ? Json(known->name) : model::inline_model_mapping(job.model);
  if (known && known->dropout != job.model.dropout) file["dropout"] = job.model.dropout;
}

/// Writes a cluster as its profile, if needed with fewer devices in a node; in full if it is not a
/// profile.
Json cluster_of_profile(const cluster::Cluster& cluster) {
  Json file = {{"profile", cluster.name}, {"nodes", cluster.nodes}};
  const std::optional<cluster::Cluster> known =
      cluster::built_in_cluster(cluster.name, cluster.nodes);
  if (!known) return cluster::inline_cluster_mapping(cluster);
  if (*known == cluster) return file;
  if (known->devices_per_node <= cluster.devices_per_node)
    return cluster::inline_cluster_mapping(cluster);
  const cluster::Cluster cut =
      cluster::load_cluster(cluster.name, cluster.nodes, cluster.devices_per_node);
  if (cut != cluster) return cluster::inline_cluster_mapping(cluster);
  file["devices_per_node"] = cluster.devices_per_node;
  return file;
}

void write_cluster(Json& file, const Job& job, bool expanded) {
  file["cluster"] =
      expanded ? cluster::inline_cluster_mapping(job.cluster) : cluster_of_profile(job.cluster);
}

Json framework_json(const TrainingFramework& framework, bool expanded) {
  if (framework.version.empty() && framework.variant.empty() && !expanded) return framework.name;
  Json json = {{"name", framework.name}, {"version", framework.version}};
  if (!framework.variant.empty()) json["variant"] = framework.variant;
  return json;
}

Json graphs_json(const CudaGraphScope& graphs) {
  if (graphs.step || graphs == CudaGraphScope{}) return graphs.step;
  Json parts = Json::array();
  for (const CudaGraphPart& part : kGraphParts) {
    if (graphs.*part.part) parts.push_back(part.name);
  }
  return parts;
}

Json kernels_json(const Job& job) {
  const FrameworkKernels& kernels = job.kernels;
  const DType precision = job.precision;
  Json json = {{"attention", name_of(cluster::kAttentionKernelNames, kernels.attention)}};
  for (const auto& [flag, name] : kKernelFlagNames) {
    json[std::string(name)] = kernels.*flag;
    if (flag == &FrameworkKernels::fused_softmax) {
      json["cross_entropy"] = name_of(kCrossEntropyNames, kernels.cross_entropy);
    }
    if (flag == &FrameworkKernels::grouped_experts && job.model.experts) {
      json["expert_weights"] = name_of(kExpertWeightsNames, kernels.expert_weights);
    }
    if (flag == &FrameworkKernels::fused_accumulation)
      json["cuda_graphs"] = graphs_json(kernels.cuda_graphs);
    if (flag == &FrameworkKernels::plain_loss) {
      json["loss_chunks"] = kernels.loss_chunks;
      json["loss_keeps"] = name_of(kLossSavedTensorsNames, kernels.loss_keeps);
    }
  }
  const DType storage = parameter_storage_type(precision);
  if (storage != precision) json["casts"] = name_of(kCastScalingNames, kernels.casts);
  if (bytes_of_elements(storage, 1) == 2)
    json["masters"] = name_of(kMasterWeightsNames, kernels.masters);
  return json;
}

Json objective_json(const Job& job, bool expanded) {
  const Objective& objective = job.objective;
  Json mapping = {{"kind", name_of(kObjectiveNames, objective.kind)}};
  if (job.method.kind != TrainingMethodKind::kPretrain) write_training_method(mapping, job.method);
  const auto write = [&mapping](const char* key, double value) {
    if (value > 0) mapping[key] = value;
  };
  write("memory_limit", objective.memory_limit_bytes);
  if (objective.memory_reserve >= 0) mapping["memory_reserve"] = objective.memory_reserve;
  if (objective.memory_confidence >= 0) {
    mapping["memory_confidence"] = objective.memory_confidence;
  }
  write("target_step_time", objective.target_step_time_s);
  write("target_tokens_per_s", objective.target_tokens_per_s);
  return mapping.size() == 1 && !expanded ? mapping["kind"] : mapping;
}

/// Writes the basis of an order that was found.
void write_basis(Json& schedule, const schedule::OrderSearchBasis& basis) {
  if (basis.chunks.empty()) return;
  schedule["placement"] = name_of(schedule::kSearchableChunkPlacements, basis.placement);
  schedule["durations_ns"] = Json::array();
  schedule["kept_bytes"] = Json::array();
  for (const schedule::ModelChunkTimeAndMemory& chunk : basis.chunks) {
    schedule["durations_ns"].push_back(
        Json::array({chunk.forward_ns, chunk.data_ns, chunk.weight_ns, chunk.backward_ns}));
    schedule["kept_bytes"].push_back(Json::array({chunk.forward_bytes, chunk.weight_bytes}));
  }
  schedule["hop_ns"] = basis.hop_ns;
  schedule["room_bytes"] = basis.room_bytes;
}

void write_plan(Json& file, const Plan& plan) {
  // keys appear in the order of `kPlanChoiceKeys`
  for (const std::string_view key : kAllPlanFileKeys) file[std::string(key)] = nullptr;
  each_choice([&](const auto& choice) {
    if (choice.traits.unsaid_alone &&
        plan_section_has_only_defaults(plan, choice.plan_file_top_level_key())) {
      file.erase(std::string(choice.plan_file_top_level_key()));
      return;
    }
    json_at_path(file, choice.place) = choice.write(choice.of(plan));
  });
  if (plan.schedule.group > 0) file["schedule"]["group"] = plan.schedule.group;
  if (plan.schedule.placement) {
    file["schedule"]["placement"] =
        name_of(schedule::kSearchableChunkPlacements, *plan.schedule.placement);
  }
  write_basis(file["schedule"], plan.schedule.basis);
}

/// Converts to a tree in which each member of the file, the job, a model and a cluster is on its
/// own line; a cluster that is a profile is on one line.
DocumentTree to_tree(const Json& json, int block_levels) {
  DocumentTree tree;
  switch (json.type()) {
    case Json::value_t::object:
      tree = block_levels > 0 ? DocumentTree::make_empty_mapping()
                              : DocumentTree::empty_flow_mapping();
      for (const auto& [key, value] : json.items()) {
        const bool block = key == "job" || key == "model" || key == "cluster";
        tree.set(key, to_tree(value, block && value.size() > 2 ? block_levels - 1 : 0));
      }
      return tree;
    case Json::value_t::array:
      tree = DocumentTree::empty_flow_sequence();
      for (const Json& value : json) tree.add(to_tree(value, 0));
      return tree;
    case Json::value_t::boolean: return json.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned: return json.get<std::int64_t>();
    case Json::value_t::number_float: return json.get<double>();
    case Json::value_t::string: return json.get_ref<const std::string&>();
    default: return tree;
  }
}

}  // namespace

Json job_json(const Job& job, bool expanded) {
  Json file = Json::object();
  write_model(file, job, expanded);
  write_cluster(file, job, expanded);
  file["batch"] = {{"sequences", job.sequences}, {"length", job.length}};
  if (job.documents) write_document_batch(file["batch"], *job.documents);
  file["precision"] = name_of(kPrecisionNames, job.precision);
  write_adapters_and_frozen_parts(file, job);
  file["optimizer"] = name_of(kOptimizerNames, job.optimizer);
  if (job.optimizer == Optimizer::kMuon || job.muon != Job{}.muon) {
    file["muon"] = name_of(kMuonFormNames, job.muon);
  }
  if (job.host_threads) file["host_threads"] = *job.host_threads;
  if (!job.framework.name.empty()) file["framework"] = framework_json(job.framework, expanded);
  if (!job.conditions.empty()) file["conditions"] = job.conditions;
  if (!job.measured.empty()) file["measured"] = job.measured;
  file["kernels"] = kernels_json(job);
  const Job usual;
  const bool routed = job.model.experts.has_value();
  if (routed || job.routing != usual.routing) {
    file["routing"] = name_of(kRoutingNames, job.routing);
  }
  if (routed || job.dispatcher != usual.dispatcher) {
    file["dispatcher"] = name_of(kDispatcherNames, job.dispatcher);
  }
  if (!job.expert_tokens.empty()) {
    file["imbalance"] = job.expert_tokens;
  } else if (routed || job.imbalance != usual.imbalance) {
    file["imbalance"] = job.imbalance;
  }
  if (job.capacity_factor > 0) file["capacity_factor"] = job.capacity_factor;
  if (job.pad_to_capacity) file["pad_to_capacity"] = true;
  file["objective"] = objective_json(job, expanded);
  if (Json run = run_settings_json(job.run); !run.empty()) file["run"] = std::move(run);
  Json search = search_space_json(job.space);
  if (!search.empty()) file["search"] = std::move(search);
  return file;
}

Json plan_file_json(const PlannedJob& planned, bool expanded) {
  Json file = {{"stepwright", "plan/2"}, {"job", job_json(planned.job, expanded)}};
  write_plan(file, planned.plan);
  return file;
}

DocumentTree plan_file_tree(const PlannedJob& planned, bool expanded) {
  return to_tree(plan_file_json(planned, expanded), 3);
}

std::string plan_yaml(const PlannedJob& planned, bool expanded) {
  return YamlJsonDocument::from_tree(plan_file_tree(planned, expanded), "plan").to_yaml();
}

Json plan_json(const PlannedJob& planned) { return plan_file_json(planned, false); }

}  // namespace stepwright::plan
