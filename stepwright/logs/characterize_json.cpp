#include "stepwright/logs/characterize_json.h"

#include <nlohmann/json.hpp>

#include "stepwright/logs/characterize.h"

namespace stepwright {
namespace {

using LogJson = nlohmann::ordered_json;

LogJson volume_json(const OperationVolume& row) {
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

LogJson histogram_json(const Log& log) {
  LogJson list = LogJson::array();
  for (const auto& [operation, sizes] : size_histogram(log)) {
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

}  // namespace

LogJson sources_json(const Log& log) {
  LogJson list = LogJson::array();
  std::int64_t number = 0;
  for (const LogSource& source : log.sources) {
    LogJson json{{"log", ++number},
                 {"format", name_of(kLogFormatNames, source.format)},
                 {"version", source.version},
                 {"lines", source.lines},
                 {"unexplained", source.unexplained},
                 {"first_unexplained", LogJson::array()},
                 {"notes", source.notes}};
    for (const Unexplained& one : source.first) {
      json["first_unexplained"].push_back({{"line", one.line}, {"reason", one.reason}});
    }
    list.push_back(std::move(json));
  }
  return list;
}

LogJson characterize_json(const Log& log) {
  LogJson json{{"records", log.calls()}, {"unexplained", log.unexplained()}};
  json["by_operation"] = LogJson::array();
  for (const OperationVolume& row : volumes(log)) json["by_operation"].push_back(volume_json(row));
  json["histogram"] = histogram_json(log);
  json["sources"] = sources_json(log);
  return json;
}

}  // namespace stepwright
