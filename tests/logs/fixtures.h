#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/logs/characterize.h"
#include "stepwright/logs/readers/read_logs.h"

namespace stepwright::logs {

/// A log that stands in a text; the name may hold its rank.
inline Log log_of(std::string_view text, std::string name = "a.log") {
  std::vector<ByteSource> files;
  files.emplace_back(text, std::move(name));
  return read_logs(files);
}

/// Reads files of tests/logs/data.
inline Log fixture_log(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back("tests/logs/data/" + name);
  return read_logs(paths);
}

/// {count, payload} by operation and size of the group.
inline std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>>
sums_of(const Log& log) {
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> sums;
  for (const OperationVolume& row : volumes(log)) {
    sums[{std::string(name_of(kLogOperationNames, row.operation)), row.group_size}] = {
        row.count, row.payload_bytes};
  }
  return sums;
}

}  // namespace stepwright::logs
