#include "stepwright/logs/characterize_json.h"

#include <nlohmann/json.hpp>
namespace stepwright::logs {
namespace {

using LogJson = nlohmann::ordered_json;

LogJson volume_json(const LoggedOperationVolume& row) {
  LogJson json{{"operation", name_of(kLogOperationNames, row.operation)},
               {"group_size", nullptr},
               {"count", row.count},
               {"payload_bytes", row.payload_bytes}};
  if (row.group_size > 0) json["group_size"] = row.group_size;
  if (row.unknown > 0) {
    json["payload_unknown"] = row.unknown;
    json["logged_bytes"] = row.logged_bytes;
  }
  if (row.timed > 0) {
    json["timed"] = row.timed;
    json["time_s"] = row.seconds;
  }
  return json;
}

LogJson histogram_json(const SizeHistogram& histogram) {
  LogJson list = LogJson::array();
  for (const auto& [operation, sizes] : histogram) {
    for (const auto& [from, size] : sizes) {
      list.push_back({{"operation", name_of(kLogOperationNames, operation)},
                      {"from_bytes", from},
                      {"count", size.count},
                      {"payload_bytes", size.payload_bytes}});
      if (size.timed > 0) list.back()["mean_s"] = size.seconds / static_cast<double>(size.timed);
    }
  }
  return list;
}

LogJson role_json(const CommunicatorRole& role) {
  LogJson json{{"group_size", nullptr},
               {"ranks", role.ranks},
               {"calls", LogJson::object()},
               {"payload_bytes", role.payload_bytes},
               {"repeated_bytes", role.repeated_bytes},
               {"probably", role.probably}};
  if (role.group_size > 0) json["group_size"] = role.group_size;
  for (const auto& [operation, count] : role.calls) {
    json["calls"][std::string(name_of(kLogOperationNames, operation))] = count;
  }
  return json;
}

LogJson line_json(const LatencyBandwidthFit& line) {
  return {{"operation", name_of(kLogOperationNames, line.operation)},
          {"group_size", line.group_size},
          {"latency_s", line.latency_s},
          {"rate_bytes_per_s", line.rate_bytes_per_s},
          {"knee_bytes", line.latency_bandwidth_knee_bytes()}};
}

LogJson small_json(const LatencyDominatedCalls& row) {
  return {{"operation", name_of(kLogOperationNames, row.operation)},
          {"group_size", row.group_size},
          {"knee_bytes", row.knee_bytes},
          {"count", row.count},
          {"of", row.all},
          {"payload_bytes", row.payload_bytes},
          {"time_s", row.seconds}};
}

LogJson routed_json(const RouterDecidedTraffic& routed) {
  LogJson json{{"payload_bytes", routed.payload_bytes},
               {"routed_bytes", routed.routed_bytes},
               {"unsaid_bytes", routed.unsaid_bytes},
               {"steps", routed.steps},
               {"moved", routed.moved},
               {"moved_of_exchange", routed.moved_of_exchange},
               {"uneven", routed.uneven},
               {"sent", LogJson::array()}};
  for (const auto& [pair, bytes] : routed.sent) {
    json["sent"].push_back({{"from", pair.first}, {"to", pair.second}, {"mean_bytes", bytes}});
  }
  return json;
}

}  // namespace

LogJson latency_dominated_calls_json(const std::vector<LatencyDominatedCalls>& calls) {
  LogJson list = LogJson::array();
  for (const LatencyDominatedCalls& row : calls) list.push_back(small_json(row));
  return list;
}

LogJson log_sources_json(const std::vector<LogFileReadResult>& sources) {
  LogJson list = LogJson::array();
  std::int64_t number = 0;
  for (const LogFileReadResult& source : sources) {
    LogJson json{{"log", ++number},
                 {"format", name_of(kLogFormatNames, source.format)},
                 {"version", source.version},
                 {"lines", source.lines},
                 {"unexplained", source.unexplained},
                 {"first_unexplained", LogJson::array()},
                 {"notes", source.notes}};
    for (const UnexplainedLine& one : source.first) {
      json["first_unexplained"].push_back({{"line", one.line}, {"reason", one.reason}});
    }
    list.push_back(std::move(json));
  }
  return list;
}

LogJson communication_summary_json(const LoggedCommunicationSummary& of) {
  LogJson json{{"records", of.calls}, {"unexplained", of.unexplained}};
  json["by_operation"] = LogJson::array();
  for (const LoggedOperationVolume& row : of.by_operation) {
    json["by_operation"].push_back(volume_json(row));
  }
  json["histogram"] = histogram_json(of.histogram);
  json["communicators"] = LogJson::array();
  for (const CommunicatorRole& role : of.communicators) {
    json["communicators"].push_back(role_json(role));
  }
  json["latency"] = LogJson::array();
  for (const LatencyBandwidthFit& line : of.latency) json["latency"].push_back(line_json(line));
  json["below_knee"] = latency_dominated_calls_json(of.below_knee);
  json["batching"] = {{"messages", of.batching.messages},
                      {"batches", of.batching.batches},
                      {"saved_s", of.batching.saved_s}};
  json["routed"] = routed_json(of.routed);
  json["sources"] = log_sources_json(of.sources);
  return json;
}

}  // namespace stepwright::logs
