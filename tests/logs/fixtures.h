#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/logs/characterize.h"
#include "stepwright/logs/readers/read_logs.h"

namespace stepwright::logs {

/// Reads a log from a text; `name` may contain its rank.
inline CommunicationLog log_of(std::string_view text, std::string name = "a.log") {
  std::vector<FileByteReader> files;
  files.emplace_back(text, std::move(name));
  return read_logs(files);
}

/// Reads the log files `names` in tests/logs/data.
inline CommunicationLog fixture_log(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back("tests/logs/data/" + name);
  return read_logs(paths);
}

/// Returns {count, payload} by operation and group size.
inline std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>>
sums_of(const CommunicationLog& log) {
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> sums;
  for (const LoggedOperationVolume& row : operation_volumes(log)) {
    sums[{std::string(name_of(kLogOperationNames, row.operation)), row.group_size}] = {
        row.count, row.payload_bytes};
  }
  return sums;
}

}  // namespace stepwright::logs
