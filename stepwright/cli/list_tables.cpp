#include "stepwright/cli/list_tables.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "stepwright/cluster/catalog.h"
#include "stepwright/collective/generate.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/plan.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Sequence length for FLOPs per token; the model's own length if that is shorter.
constexpr std::int64_t kLength = 4096;

/// The collectives that occur in training steps.
constexpr Named<collective::CollectiveOperation> kListedCollectives[] = {
    {collective::CollectiveOperation::kAllReduce, "all_reduce"},
    {collective::CollectiveOperation::kAllGather, "all_gather"},
    {collective::CollectiveOperation::kReduceScatter, "reduce_scatter"},
    {collective::CollectiveOperation::kAllToAll, "all_to_all"}};

Json described(std::string_view name, std::string_view text, bool supported) {
  return {{"name", name}, {"supported", supported}, {"description", text}};
}

std::string spread_words(std::string_view spread) {
  if (spread == "N") return "whole on every rank";
  return spread == "I" ? "split in groups" : "split over all";
}

Json entry(const model::ModelArchitecture& model) {
  return model::model_list_entry_json(
      model, model.positions > 0 ? std::min(model.positions, kLength) : kLength);
}

Json aliases_of(const std::string& states) {
  Json aliases = Json::array();
  for (const plan::ShardingAlias& alias : plan::kShardingAliases) {
    if (alias.states == states) aliases.push_back(alias.name);
  }
  return aliases;
}

std::string joined(const Json& words) {
  std::string text;
  for (const Json& word : words) text += (text.empty() ? "" : ", ") + word.get<std::string>();
  return text;
}

std::string count_of(const Json& entry, const char* key) {
  return format_count(entry.at(key).get<std::int64_t>());
}

std::string word_of(const Json& entry, const char* key) { return entry.at(key).get<std::string>(); }

std::string experts_text(const Json& model) {
  if (!model.contains("experts")) return "";
  const Json& experts = model.at("experts");
  return count_of(experts, "top_k") + " of " + count_of(experts, "count");
}

std::string peak_text(const Json& profile) {
  const Json& peaks = profile.at("peak_flops");
  for (const char* precision : {"bf16", "fp16"}) {
    if (!peaks.contains(precision)) continue;
    return format_flops(peaks.at(precision).get<double>()) + " " + precision;
  }
  return "";
}

}  // namespace

Json models_json() {
  Json models = Json::array();
  for (const std::string_view name : model::built_in_model_names())
    models.push_back(entry(*model::built_in_model(name)));
  return models;
}

Json model_list_json(const model::ModelArchitecture& model, std::int64_t length) {
  return Json::array({length > 0 ? model::model_list_entry_json(model, length) : entry(model)});
}

Json profiles_json() { return cluster::built_in_clusters_json(); }

Json shardings_json() {
  Json shardings = Json::array();
  for (const plan::Sharding& sharding : plan::paro_strategies()) {
    const std::string states = plan::sharding_letters(sharding);
    shardings.push_back({{"name", states},
                         {"parameters", name_of(plan::kSpreadNames, sharding.parameters)},
                         {"gradients", name_of(plan::kSpreadNames, sharding.gradients)},
                         {"optimizer", name_of(plan::kSpreadNames, sharding.optimizer)},
                         {"aliases", aliases_of(states)}});
  }
  return shardings;
}

Json schedules_json() {
  Json schedules = Json::array();
  for (const auto& [kind, name, definition] : schedule::kScheduleRows) {
    schedules.push_back(described(name, definition->text, definition->traits.runs));
  }
  return schedules;
}

namespace {

/// Returns the programs that execute an operation with an algorithm.
Json runners(collective::CollectiveAlgorithm algorithm,
             collective::CollectiveOperation collective) {
  Json who = Json::array();
  if (!collective::supports_collective(algorithm, collective)) return who;
  if (collective::library_supports_algorithm(algorithm, collective)) who.push_back("library");
  if (algorithm == collective::CollectiveAlgorithm::kLibrary) return who;
  if (collective::own_process_group_supports_algorithm(algorithm, collective))
    who.push_back("stepwright");
  if (collective::algorithm_has_generated_schedule(algorithm)) who.push_back("msccl");
  return who;
}

}  // namespace

Json collectives_json() {
  Json collectives = Json::array();
  for (const auto& [algorithm, name] : collective::kCollectiveAlgorithmNames) {
    Json operations = Json::object();
    for (const auto& [collective, word] : kListedCollectives) {
      Json who = runners(algorithm, collective);
      if (!who.empty()) operations[std::string(word)] = std::move(who);
    }
    collectives.push_back({{"name", name},
                           {"supported", true},
                           {"schedule", collective::algorithm_has_generated_schedule(algorithm)},
                           {"description", collective::collective_algorithm_description(algorithm)},
                           {"needs", collective::algorithm_group_requirement_text(algorithm)},
                           {"runs", std::move(operations)}});
  }
  return collectives;
}

std::string models_text(const Json& models) {
  TextTable table{.columns = {{"model"},
                              {"parameters", ColumnAlignment::kRight},
                              {"active", ColumnAlignment::kRight},
                              {"layers", ColumnAlignment::kRight},
                              {"hidden", ColumnAlignment::kRight},
                              {"heads", ColumnAlignment::kRight},
                              {"kv heads", ColumnAlignment::kRight},
                              {"experts", ColumnAlignment::kRight},
                              {"vocabulary", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const Json& model : models) {
    table.rows.push_back({word_of(model, "name"), count_of(model, "parameters"),
                          count_of(model, "active_parameters"), count_of(model, "layers"),
                          count_of(model, "hidden"), count_of(model, "heads"),
                          count_of(model, "kv_heads"), experts_text(model),
                          count_of(model, "vocabulary")});
  }
  return format_text_table(table);
}

std::string profiles_text(const Json& profiles) {
  TextTable table{.columns = {{"profile"},
                              {"device"},
                              {"per node", ColumnAlignment::kRight},
                              {"memory", ColumnAlignment::kRight},
                              {"peak", ColumnAlignment::kRight},
                              {"NICs", ColumnAlignment::kRight},
                              {"each", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const Json& profile : profiles) {
    table.rows.push_back({word_of(profile, "name"), word_of(profile, "device"),
                          count_of(profile, "devices_per_node"),
                          format_bytes(profile.at("memory_bytes").get<double>()),
                          peak_text(profile), count_of(profile, "nics_per_node"),
                          format_bytes_per_s(profile.at("nic_bytes_per_s").get<double>())});
  }
  return format_text_table(table);
}

std::string shardings_text(const Json& shardings) {
  TextTable table{
      .columns = {{"states"}, {"parameters"}, {"gradients"}, {"optimizer"}, {"aliases"}},
      .rows = {}};
  for (const Json& sharding : shardings) {
    table.rows.push_back({word_of(sharding, "name"), spread_words(word_of(sharding, "parameters")),
                          spread_words(word_of(sharding, "gradients")),
                          spread_words(word_of(sharding, "optimizer")),
                          joined(sharding.at("aliases"))});
  }
  return format_text_table(table);
}

std::string collective_algorithms_table(const Json& entries) {
  TextTable table{.columns = {{"name"}}, .rows = {}};
  for (const auto& [collective, name] : kListedCollectives) {
    table.columns.push_back({std::string(name)});
  }
  table.columns.push_back({"needs"});
  table.columns.push_back({"what it is"});
  for (const Json& entry : entries) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(word_of(entry, "name"));
    for (const auto& [collective, name] : kListedCollectives) {
      const auto found = entry.at("runs").find(std::string(name));
      row.push_back(found == entry.at("runs").end() ? "-" : joined(*found));
    }
    row.push_back(word_of(entry, "needs"));
    row.push_back(word_of(entry, "description"));
  }
  return format_text_table(table);
}

std::string schedule_list_text(const Json& entries) {
  TextTable table{.columns = {{"name"}, {"supported"}, {"what it is"}}, .rows = {}};
  for (const Json& entry : entries) {
    table.rows.push_back({word_of(entry, "name"), entry.at("supported").get<bool>() ? "yes" : "no",
                          word_of(entry, "description")});
  }
  return format_text_table(table);
}

}  // namespace stepwright::cli
