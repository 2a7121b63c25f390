#include "stepwright/logs/transfer_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "stepwright/logs/equal_groups.h"

namespace stepwright::logs {
namespace {

using CallOfGroup = std::tuple<LoggedOperation, std::int32_t, std::int64_t, std::int64_t>;

}  // namespace

std::vector<double> logged_transfer_seconds(const CommunicationLog& log) {
  std::vector<double> times;
  if (!log.records.has_call_times()) return times;
  times.reserve(log.records.size());
  std::map<std::tuple<std::int64_t, std::int32_t, LoggedOperation, std::int64_t>, std::int64_t>
      next;
  std::map<CallOfGroup, std::vector<std::size_t>> calls;
  const std::vector<std::int32_t> groups = communicator_group_numbers(log);
  for (std::size_t i = 0; i < log.records.size(); ++i) {
    const LoggedCall record = log.records[i];
    times.push_back(record.duration_s);
    if (!(record.duration_s >= 0) || record.communicator < 0) continue;
    const auto communicator = static_cast<std::size_t>(record.communicator);
    if (log.communicators[communicator].ranks.empty() || is_point_to_point(record.operation))
      continue;
    const std::int64_t number =
        next[{record.rank, record.communicator, record.operation, record.payload_bytes}]++;
    calls[{record.operation, groups[communicator], record.payload_bytes, number}].push_back(i);
  }
  for (const auto& [call, records] : calls) {
    double least = times[records.front()];
    for (const std::size_t i : records) least = std::min(least, times[i]);
    for (const std::size_t i : records) times[i] = least;
  }
  return times;
}

double logged_bus_bandwidth(LoggedOperation operation, std::int64_t group_size,
                            double payload_bytes, double seconds) {
  if (!(seconds > 0)) return 0;
  const auto ranks = static_cast<double>(group_size);
  double factor = 1;
  if (group_size > 1) {
    switch (operation) {
      case LoggedOperation::kAllReduce: factor = 2 * (ranks - 1) / ranks; break;
      case LoggedOperation::kAllGather:
      case LoggedOperation::kReduceScatter:
      case LoggedOperation::kAllToAll:
      case LoggedOperation::kGather:
      case LoggedOperation::kScatter: factor = (ranks - 1) / ranks; break;
      default: break;
    }
  }
  return factor * payload_bytes / seconds;
}

}  // namespace stepwright::logs
