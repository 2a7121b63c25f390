#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/validate/validation.h"

namespace stepwright::validate {
namespace {

using Json = nlohmann::ordered_json;

Json statistics_json(const ErrorStatistics& errors) {
  return {{"used", errors.used},
          {"median_abs_error", errors.median_abs},
          {"mean_abs_error", errors.mean_abs},
          {"p90_abs_error", errors.p90_abs},
          {"mean_signed_error", errors.mean_signed},
          {"within_10_percent", errors.within_10_percent}};
}

Json labels_json(const MemoryFitLabelCounts& labels) {
  return {{"right", labels.right},
          {"wrong", labels.wrong},
          {"clear_right", labels.clear_right},
          {"clear_wrong", labels.clear_wrong},
          {"fits_called_oom", labels.fits_called_oom},
          {"oom_called_fits", labels.oom_called_fits},
          {"contradictory", labels.contradictory}};
}

Json choices_json(const PlanChoiceQuality& choices) {
  return {{"groups", choices.groups},
          {"best_chosen", choices.best_chosen},
          {"mean_regret", choices.mean_regret},
          {"median_regret", choices.median_regret},
          {"worst_regret", choices.worst_regret},
          {"median_tau", choices.median_tau}};
}

Json reasons_json(const std::map<std::string, SkippedRows>& skipped) {
  Json json = Json::object();
  for (const auto& [reason, rows] : skipped) json[reason] = rows.count;
  return json;
}

/// Returns a result as JSON; a label has no measured value and no error.
Json result_json(const TableRowPrediction& result, std::span<const std::string_view> groups) {
  const bool label = result.measured == 0;
  Json json{{"id", result.id}, {"predicted", result.predicted}};
  json["measured"] = label ? Json(nullptr) : Json(result.measured);
  json["error"] = label ? Json(nullptr) : Json(result.error);
  if (result.high_s > 0) {
    json["low_s"] = result.low_s;
    json["high_s"] = result.high_s;
    json["waiting_share"] = result.waiting_share;
    json["unknown_parts"] = result.unknown_parts;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    json[std::string(groups[i])] = result.groups[i];
  }
  if (!result.terms.empty()) json["largest_term"] = result.largest_term();
  for (const auto& [term, value] : result.terms) json["terms"][std::string(term)] = value;
  if (result.capacity_bytes > 0) {
    json["capacity_bytes"] = result.capacity_bytes;
    json["p_fits"] = result.p_fits;
  }
  json["notes"] = result.notes;
  return json;
}

/// Gives texts consecutive numbers in the order of their first use.
class Numbers {
 public:
  std::size_t of(const std::string& text) {
    return known_.try_emplace(text, known_.size()).first->second;
  }

 private:
  std::map<std::string, std::size_t> known_;
};

/// Returns the results, each with the number of its group of comparable runs and the number of its
/// plan.
Json compared_json(const Validation& v, std::span<const std::string_view> words) {
  Json json = Json::array();
  Numbers groups;
  Numbers plans;
  for (const TableRowPrediction& result : v.results) {
    json.push_back(result_json(result, words));
    if (result.alike.empty()) continue;
    json.back()["group"] = groups.of(result.alike);
    json.back()["plan"] = plans.of(result.plan);
  }
  return json;
}

}  // namespace

Json validation_json(const Validation& v) {
  Json json{{"kind", name_of(kTableKindNames, v.kind)}, {"rows", v.rows}, {"used", v.used}};
  json["skipped"] = reasons_json(v.skipped);
  if (!v.left_out.empty()) json["left_out"] = reasons_json(v.left_out);
  Json errors = statistics_json(v.errors);
  errors.erase("used");
  json.update(errors);
  const auto groups = prediction_error_group_keys(v.kind);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Json& group = json[fmt::format("by_{}", groups[i])] = Json::object();
    for (const auto& [word, of_word] : v.groups[i]) group[word] = statistics_json(of_word);
  }
  if (v.labels) json["labels"] = labels_json(*v.labels);
  if (v.choices) json["choices"] = choices_json(*v.choices);
  if (v.inside_interval) json["inside_interval"] = *v.inside_interval;
  json["results"] = compared_json(v, groups);
  return json;
}

}  // namespace stepwright::validate
