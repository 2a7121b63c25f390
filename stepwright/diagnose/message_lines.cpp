#include "stepwright/diagnose/message_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "stepwright/diagnose/line_origin.h"
#include "stepwright/logs/logged_collective.h"
#include "stepwright/logs/transfer_times.h"

namespace stepwright::diagnose {
namespace {

/// The most message lines of one log that are stored.
constexpr std::size_t kMostMessages = 1'000'000;
/// Longest line of nccl-tests, in bytes.
constexpr std::size_t kMostTestLine = 1000;

std::optional<collective::CollectiveOperation> collective_named(std::string_view test) {
  if (test == "all_reduce") return collective::CollectiveOperation::kAllReduce;
  if (test == "all_gather") return collective::CollectiveOperation::kAllGather;
  if (test == "reduce_scatter") return collective::CollectiveOperation::kReduceScatter;
  if (test == "alltoall") return collective::CollectiveOperation::kAllToAll;
  return std::nullopt;
}

double positive(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 && value < 1e15
             ? value
             : -1;
}

/// Infers the operation of a row of nccl-tests whose heading does not name the program. The bus
/// bandwidth of an all-reduce is 2 (n - 1) / n times the algorithm bandwidth, that of a
/// reduce-scatter (n - 1) / n times. nullopt: neither.
std::optional<collective::CollectiveOperation> reducing_operation(
    const std::vector<std::string>& cells, std::int64_t ranks) {
  constexpr double kRounding = 0.05;
  if (cells[logs::kTestOperator] == "none" || cells[logs::kTestRoot] != "-1") return std::nullopt;
  const double rate = positive(cells[logs::kTestAlgorithmRate]);
  const double bus_rate = positive(cells[logs::kTestBusRate]);
  const double part = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  if (rate < 0 || bus_rate < 0) return std::nullopt;
  if (std::abs(bus_rate / rate / part - 2) < 2 * kRounding)
    return collective::CollectiveOperation::kAllReduce;
  if (std::abs(bus_rate / rate / part - 1) < kRounding)
    return collective::CollectiveOperation::kReduceScatter;
  return std::nullopt;
}

/// Groups calls by operation, size and group size, and keeps the shortest time of each, which
/// contains the least waiting.
class GatheredMessages {
 public:
  void add(const logs::LoggedCall& record, double seconds, std::int64_t ranks, std::int64_t world) {
    const auto operation = logs::collective_of_logged_operation(record.operation);
    const bool whole = record.payload_bytes > 0;
    if (!operation || *operation == collective::CollectiveOperation::kPointToPoint) return;
    if (!(seconds > 0) || (!whole && record.logged_bytes <= 0)) return;
    TimedMessage message{.line = record.line,
                         .operation = *operation,
                         .seconds = seconds,
                         .calls = record.count,
                         .ranks = ranks,
                         .world = world};
    (whole ? message.payload_bytes : message.part_bytes) =
        static_cast<double>(whole ? record.payload_bytes : record.logged_bytes);
    const auto [at, added] = known_.try_emplace(
        {message.operation, message.payload_bytes, message.part_bytes, ranks}, messages_.size());
    if (added) return messages_.push_back(message);
    TimedMessage& same = messages_[at->second];
    same.seconds = std::min(same.seconds, message.seconds);
    same.calls += message.calls;
  }

  [[nodiscard]] std::vector<TimedMessage> messages() && { return std::move(messages_); }

 private:
  std::map<std::tuple<collective::CollectiveOperation, double, double, std::int64_t>, std::size_t>
      known_;
  std::vector<TimedMessage> messages_;
};

}  // namespace

void MessageTimeLogReader::read_message_log_line(std::string_view text, std::int64_t number) {
  if (deepspeed_.read_call_line_count() < kMostMessages)
    deepspeed_.read_deepspeed_log_line(text, number);
  if (text.size() <= kMostTestLine && tests_.size() < kMostMessages) read_test(text, number);
}

void MessageTimeLogReader::read_test(std::string_view line, std::int64_t number) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return;
  if (line[first] == '#' || line_contains_text(line, "_perf")) {
    if (line_contains_text(line, "size") && line_contains_text(line, "busbw")) in_table_ = true;
    heading_.read(std::string(line));
    return;
  }
  if (!in_table_) return;
  const std::vector<std::string> cells = logs::nccl_tests_row_cells(std::string(line));
  const std::int64_t ranks = heading_.ranks();
  if (cells.size() < logs::kTestColumns || ranks < 2) return;
  const auto operation = heading_.operation_named_by_heading().empty()
                             ? reducing_operation(cells, ranks)
                             : collective_named(heading_.operation_named_by_heading());
  const auto nodes = static_cast<std::int64_t>(heading_.ranks_by_host().size());
  const double bytes = positive(cells[logs::kTestSize]);
  const double time_us = positive(cells[logs::kTestTime]);
  if (!operation || bytes < 0 || time_us < 0 || ranks % nodes != 0) return;
  tests_.push_back({.line = number,
                    .operation = *operation,
                    .payload_bytes = bytes,
                    .seconds = time_us * 1e-6,
                    .calls = 1,
                    .ranks = ranks,
                    .nodes = nodes});
}

std::vector<TimedMessage> MessageTimeLogReader::take_timed_messages() && {
  const std::int64_t world = deepspeed_.inferred_rank_count();
  GatheredMessages gathered;
  for (const logs::LoggedCall& record : std::move(deepspeed_).calls())
    gathered.add(record, record.duration_s, 0, world);
  std::vector<TimedMessage> messages = std::move(tests_);
  std::ranges::move(std::move(gathered).messages(), std::back_inserter(messages));
  return messages;
}

std::vector<TimedMessage> fastest_logged_message_times(const logs::CommunicationLog& log) {
  const std::vector<double> times = logs::logged_transfer_seconds(log);
  GatheredMessages gathered;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const logs::LoggedCall record = log.records[i];
    gathered.add(record, times[i], log.group_size(record),
                 log.sources[static_cast<std::size_t>(record.source)].world);
  }
  return std::move(gathered).messages();
}

}  // namespace stepwright::diagnose
