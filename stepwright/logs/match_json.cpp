#include "stepwright/logs/match_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "stepwright/logs/characterize_json.h"
#include "stepwright/logs/transfer_times.h"

namespace stepwright::logs {
namespace {

using MatchJson = nlohmann::ordered_json;

MatchJson call_json(const PlannedAndLoggedCalls& row) {
  return {{"scheme", name_of(step::kSchemeNames, row.scheme)},
          {"operation", name_of(kLogOperationNames, row.operation)},
          {"group", row.group},
          {"group_size", row.group_size}};
}

void add_times(MatchJson& json, const PlannedAndLoggedCalls& row) {
  if (row.timed == 0) return;
  json["time_s"] = row.seconds;
  json["transfer_s"] = row.transfer_s;
  json["predicted_s"] = row.predicted_s;
  json["waiting_s"] = row.seconds - row.transfer_s;
  json["exposed_s"] = row.exposed_s;
  json["hidden_s"] = row.seconds - row.exposed_s;
}

MatchJson scheme_json(const LogPlanComparison& comparison) {
  MatchJson list = MatchJson::array();
  for (const SchemeCallTotals& sum : by_scheme(comparison)) {
    MatchJson json = call_json(sum.calls);
    json["predicted_calls"] = sum.calls.predicted;
    json["logged_calls"] = sum.calls.logged;
    json["predicted_bytes"] = sum.predicted_bytes;
    json["logged_bytes"] = sum.logged_bytes;
    json["predicted_only"] = sum.calls.predicted_only;
    json["logged_only"] = sum.calls.logged_only;
    add_times(json, sum.calls);
    list.push_back(std::move(json));
  }
  return list;
}

MatchJson sizes_json(const LogPlanComparison& comparison) {
  MatchJson list = MatchJson::array();
  for (const PlannedAndLoggedCalls& row : comparison.rows) {
    MatchJson json = call_json(row);
    json["payload_bytes"] = row.payload_bytes;
    json["predicted_calls"] = row.predicted;
    json["logged_calls"] = row.logged;
    json["predicted_only"] = row.predicted_only;
    json["logged_only"] = row.logged_only;
    if (row.timed > 0) {
      const double mean_s = row.transfer_s / static_cast<double>(row.timed);
      json["mean_transfer_s"] = mean_s;
      json["busbw_bytes_per_s"] = logged_bus_bandwidth(
          row.operation, row.group_size, static_cast<double>(row.payload_bytes), mean_s);
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::vector<SchemeCallTotals> by_scheme(const LogPlanComparison& comparison) {
  std::map<std::tuple<step::ParallelismScheme, LoggedOperation, std::string, std::int64_t>,
           SchemeCallTotals>
      sums;
  for (const PlannedAndLoggedCalls& row : comparison.rows) {
    SchemeCallTotals& sum = sums[{row.scheme, row.operation, row.group, row.group_size}];
    sum.calls.scheme = row.scheme;
    sum.calls.operation = row.operation;
    sum.calls.group = row.group;
    sum.calls.group_size = row.group_size;
    sum.calls.predicted += row.predicted;
    sum.calls.logged += row.logged;
    sum.calls.predicted_only += row.predicted_only;
    sum.calls.logged_only += row.logged_only;
    sum.calls.predicted_s += row.predicted_s;
    sum.calls.timed += row.timed;
    sum.calls.seconds += row.seconds;
    sum.calls.transfer_s += row.transfer_s;
    sum.calls.exposed_s += row.exposed_s;
    sum.predicted_bytes += row.predicted * row.payload_bytes;
    sum.logged_bytes += row.logged * row.payload_bytes;
  }
  std::vector<SchemeCallTotals> list;
  for (const auto& [key, sum] : sums) list.push_back(sum);
  return list;
}

MatchJson log_comparison_match_json(const LogPlanComparison& comparison,
                                    const CommunicationLog& log) {
  return {{"ranks", comparison.ranks},
          {"steps", comparison.steps},
          {"matched", comparison.matched},
          {"predicted_only", comparison.predicted_only},
          {"logged_only", comparison.logged_only},
          {"byte_difference", comparison.byte_difference},
          {"outside_steps", comparison.outside},
          {"unexplained_lines", log.unexplained()},
          {"remarks", comparison.remarks},
          {"by_scheme", scheme_json(comparison)},
          {"by_size", sizes_json(comparison)},
          {"below_knee", latency_dominated_calls_json(latency_dominated_calls(
                             log, latency_bandwidth_fits(log), std::nullopt))},
          {"sources", log_sources_json(log.sources)}};
}

}  // namespace stepwright::logs
