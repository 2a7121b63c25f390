#include "stepwright/logs/knee.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "stepwright/logs/transfer_times.h"

namespace stepwright::logs {
namespace {

using KindOfCall = std::pair<LoggedOperation, std::int64_t>;

KindOfCall kind_of(const CommunicationLog& log, const LoggedCall& record) {
  return {record.operation, log.group_size(record)};
}

/// Fits a line by least squares of the relative error, so that points of all sizes count equally.
std::optional<LatencyBandwidthFit> line_through(const std::map<std::int64_t, double>& shortest) {
  double ww = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const auto& [bytes, seconds] : shortest) {
    const double weight = 1 / (seconds * seconds);
    const auto x = static_cast<double>(bytes);
    ww += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * seconds;
    wxy += weight * x * seconds;
  }
  const double determinant = ww * wxx - wx * wx;
  if (!(determinant > 0)) return std::nullopt;
  const double slope = (ww * wxy - wx * wy) / determinant;
  const double latency = (wxx * wy - wx * wxy) / determinant;
  if (!(slope > 0) || !(latency > 0)) return std::nullopt;
  return LatencyBandwidthFit{.latency_s = latency, .rate_bytes_per_s = 1 / slope};
}

/// Returns the line of one operation and group size; null: there is none.
const LatencyBandwidthFit* line_of(const std::vector<LatencyBandwidthFit>& lines,
                                   const KindOfCall& kind) {
  const auto found = std::ranges::find_if(lines, [&](const LatencyBandwidthFit& line) {
    return KindOfCall(line.operation, line.group_size) == kind;
  });
  return found == lines.end() ? nullptr : &*found;
}

std::optional<double> knee_of(const LatencyBandwidthFit* line, std::optional<double> knee_bytes) {
  return line == nullptr ? knee_bytes : line->latency_bandwidth_knee_bytes();
}

}  // namespace

std::vector<LatencyBandwidthFit> latency_bandwidth_fits(const CommunicationLog& log) {
  const std::vector<double> transfers = logged_transfer_seconds(log);
  std::map<KindOfCall, std::map<std::int64_t, double>> shortest;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const LoggedCall record = log.records[i];
    if (!(transfers[i] > 0) || record.payload_bytes < 1) continue;
    auto [place, fresh] =
        shortest[kind_of(log, record)].try_emplace(record.payload_bytes, transfers[i]);
    place->second = std::min(place->second, transfers[i]);
  }
  std::vector<LatencyBandwidthFit> lines;
  for (const auto& [kind, points] : shortest) {
    if (points.size() < 3) continue;
    auto line = line_through(points);
    if (!line) continue;
    std::tie(line->operation, line->group_size) = kind;
    lines.push_back(*line);
  }
  return lines;
}

std::vector<LatencyDominatedCalls> latency_dominated_calls(
    const CommunicationLog& log, const std::vector<LatencyBandwidthFit>& lines,
    std::optional<double> knee_bytes) {
  std::map<KindOfCall, LatencyDominatedCalls> rows;
  for (const LoggedCall& record : log.records) {
    if (record.payload_bytes < 1) continue;
    const KindOfCall kind = kind_of(log, record);
    const auto knee = knee_of(line_of(lines, kind), knee_bytes);
    if (!knee) continue;
    LatencyDominatedCalls& row = rows[kind];
    std::tie(row.operation, row.group_size) = kind;
    row.knee_bytes = *knee;
    row.all += record.count;
    if (static_cast<double>(record.payload_bytes) >= *knee) continue;
    row.count += record.count;
    row.payload_bytes += record.count * record.payload_bytes;
    if (record.duration_s > 0) row.seconds += static_cast<double>(record.count) * record.duration_s;
  }
  std::vector<LatencyDominatedCalls> list;
  for (const auto& [kind, row] : rows) list.push_back(row);
  return list;
}

BatchableMessages batching_of(const CommunicationLog& log,
                              const std::vector<LatencyBandwidthFit>& lines,
                              std::optional<double> knee_bytes) {
  BatchableMessages batching;
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> last;  // last peer, by log and rank
  for (const LoggedCall& record : log.records) {
    std::int64_t& peer = last.try_emplace({record.source, record.rank}, kUnknown).first->second;
    if (record.operation == LoggedOperation::kReceive) continue;
    const LatencyBandwidthFit* line = line_of(lines, kind_of(log, record));
    const auto knee = knee_of(line, knee_bytes);
    const bool small = record.operation == LoggedOperation::kSend && record.peer != kUnknown &&
                       knee && record.payload_bytes > 0 &&
                       static_cast<double>(record.payload_bytes) < *knee;
    if (small) {
      ++batching.messages;
      if (peer != record.peer) {
        ++batching.batches;
      } else if (line != nullptr) {
        batching.saved_s += line->latency_s;
      }
    }
    peer = small ? record.peer : kUnknown;
  }
  return batching;
}

}  // namespace stepwright::logs
