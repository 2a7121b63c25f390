#include "stepwright/logs/characterize.h"

#include <bit>
#include <utility>

namespace stepwright::logs {

std::vector<LoggedOperationVolume> operation_volumes(const CommunicationLog& log) {
  std::map<std::pair<LoggedOperation, std::int64_t>, LoggedOperationVolume> rows;
  for (const LoggedCall& record : log.records) {
    const std::int64_t size = log.group_size(record);
    LoggedOperationVolume& row = rows[{record.operation, size}];
    row.operation = record.operation;
    row.group_size = size;
    row.count += record.count;
    if (record.payload_bytes == kUnknown) {
      row.unknown += record.count;
      if (record.logged_bytes != kUnknown) row.logged_bytes += record.count * record.logged_bytes;
    } else {
      row.payload_bytes += record.count * record.payload_bytes;
    }
    if (record.duration_s >= 0) {
      row.timed += record.count;
      row.seconds += static_cast<double>(record.count) * record.duration_s;
    }
  }
  std::vector<LoggedOperationVolume> list;
  list.reserve(rows.size());
  for (const auto& [key, row] : rows) list.push_back(row);
  return list;
}

SizeHistogram size_histogram(const CommunicationLog& log) {
  SizeHistogram sizes;
  for (const LoggedCall& record : log.records) {
    if (record.payload_bytes == kUnknown) continue;
    const auto key = std::bit_floor(static_cast<std::uint64_t>(record.payload_bytes));
    PayloadSizeClass& size = sizes[record.operation][static_cast<std::int64_t>(key)];
    size.count += record.count;
    size.payload_bytes += record.count * record.payload_bytes;
    if (!(record.duration_s >= 0)) continue;
    size.timed += record.count;
    size.seconds += static_cast<double>(record.count) * record.duration_s;
  }
  return sizes;
}

LoggedCommunicationSummary summarise_logged_calls(const CommunicationLog& log,
                                                  std::optional<double> knee_bytes) {
  const std::vector<LatencyBandwidthFit> lines = latency_bandwidth_fits(log);
  return {.calls = log.calls(),
          .unexplained = log.unexplained(),
          .by_operation = operation_volumes(log),
          .histogram = size_histogram(log),
          .communicators = communicator_roles(log),
          .latency = lines,
          .below_knee = latency_dominated_calls(log, lines, knee_bytes),
          .batching = batching_of(log, lines, knee_bytes),
          .routed = router_decided_traffic_of_log(log),
          .sources = log.sources};
}

}  // namespace stepwright::logs
