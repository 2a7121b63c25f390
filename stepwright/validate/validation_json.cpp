#include <nlohmann/json.hpp>

#include "stepwright/validate/validation.h"

namespace stepwright {
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

Json labels_json(const LabelCount& labels) {
  return {{"right", labels.right},
          {"wrong", labels.wrong},
          {"clear_right", labels.clear_right},
          {"clear_wrong", labels.clear_wrong},
          {"fits_called_oom", labels.fits_called_oom},
          {"oom_called_fits", labels.oom_called_fits}};
}

/// A label has no measured value and no error.
Json result_json(const RowResult& result) {
  const bool label = result.measured == 0;
  Json json{{"id", result.id}, {"predicted", result.predicted}};
  json["measured"] = label ? Json(nullptr) : Json(result.measured);
  json["error"] = label ? Json(nullptr) : Json(result.error);
  for (std::size_t i = 0; i < result.groups.size(); ++i) {
    json[std::string(kErrorGroups[i].substr(3))] = result.groups[i];
  }
  json["largest_term"] = result.largest_term();
  for (const auto& [term, value] : result.terms) json["terms"][std::string(term)] = value;
  json["notes"] = result.notes;
  return json;
}

}  // namespace

Json validation_json(const Validation& v) {
  Json json{{"kind", name_of(kTableKindNames, v.kind)}, {"rows", v.rows}, {"used", v.used}};
  json["skipped"] = Json::object();
  for (const auto& [reason, count] : v.skipped) json["skipped"][reason] = count;
  Json errors = statistics_json(v.errors);
  errors.erase("used");
  json.update(errors);
  for (std::size_t i = 0; i < v.groups.size(); ++i) {
    Json& group = json[std::string(kErrorGroups[i])] = Json::object();
    for (const auto& [word, of_word] : v.groups[i]) group[word] = statistics_json(of_word);
  }
  if (v.labels) json["labels"] = labels_json(*v.labels);
  json["results"] = Json::array();
  for (const RowResult& result : v.results) json["results"].push_back(result_json(result));
  return json;
}

}  // namespace stepwright
