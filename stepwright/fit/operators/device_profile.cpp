#include "stepwright/fit/operators/device_profile.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/cluster/generation.h"
#include "stepwright/fit/operators/law_fit.h"

namespace stepwright::fit {
namespace {

using Json = nlohmann::ordered_json;

Json error_json(const OperatorFitErrors& error) {
  return {{"mean", round_to_profile_digits(error.mean)},
          {"median", round_to_profile_digits(error.median)},
          {"p90", round_to_profile_digits(error.p90)},
          {"bias", round_to_profile_digits(error.bias)},
          {"rows", error.rows}};
}

Json entry_json(const FittedOperator& fitted) {
  const cost::OperatorClassFit& entry = fitted.entry;
  Json law = Json::object();
  for (const cost::LawConstant& constant : cost::kOperatorLawConstants) {
    if (cost::uses(entry.what, constant))
      law[std::string(constant.name)] = entry.law.*constant.value;
  }
  Json range = Json::object();
  for (const cost::FittedSizeRange& each : entry.range) range[each.name] = {each.low, each.high};
  Json json = {{"class", name_of(cost::kOperatorClassNames, entry.what)},
               {"pass", name_of(cost::kPassNames, entry.pass)},
               {"chosen", name_of(cost::kFitKindNames, entry.kind)},
               {"law", std::move(law)},
               {"range", std::move(range)}};
  if (entry.what == cost::OperatorClass::kAttention) {
    json["kernel"] = name_of(cluster::kAttentionKernelNames, entry.kernel);
  }
  json["rows"] = fitted.rows;
  json["dropped"] = fitted.dropped;
  if (fitted.derived.empty()) {
    json["held_out"] = {{"law", error_json(fitted.errors.law)},
                        {"trees", error_json(fitted.errors.trees)},
                        {"law_times_trees", error_json(fitted.errors.law_times_trees)},
                        {"unfitted", error_json(fitted.errors.unfitted)}};
    json["series"] = Json::object();
    for (const auto& [name, error] : fitted.by_series) json["series"][name] = error_json(error);
  } else {
    json["derived"] = fitted.derived;
  }
  if (!entry.trees.empty()) {
    json["trees"] = {{"range", {entry.lowest_log, entry.highest_log}},
                     {"base", entry.trees.base()},
                     {"trees", entry.trees.boosted_tree_texts()}};
  }
  return json;
}

}  // namespace

Json operator_profile_json(const OperatorProfileHeader& head, const DeviceFit& fit) {
  const cluster::DeviceModel& device = head.target.device;
  Json json = {{"stepwright", "profile/1"},
               {"name", head.name},
               {"device",
                {{"name", device.name},
                 {"peak_flops", cluster::dense_sixteen_bit_peak_flops(device)},
                 {"memory_bandwidth_bytes_per_s", device.memory_bandwidth_bytes_per_s},
                 {"multiprocessors", head.target.multiprocessors}}},
               {"operators", Json::array()}};
  for (const FittedOperator& fitted : fit.operators) {
    if (fitted.refused.empty()) json["operators"].push_back(entry_json(fitted));
  }
  json["sources"] = head.sources;
  return json;
}

std::string operator_profile_text(const Json& profile) { return profile.dump(1) + "\n"; }

}  // namespace stepwright::fit
