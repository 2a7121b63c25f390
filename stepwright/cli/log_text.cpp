#include "stepwright/cli/log_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cli {
namespace {

/// The most bytes of a text from a log that are shown.
constexpr std::size_t kLongestReason = 400;

std::string volume_text(const std::vector<logs::LoggedOperationVolume>& rows) {
  TextTable table{.columns = {{"operation"},
                              {"ranks", ColumnAlignment::kRight},
                              {"calls", ColumnAlignment::kRight},
                              {"payload", ColumnAlignment::kRight},
                              {"mean", ColumnAlignment::kRight},
                              {"time", ColumnAlignment::kRight},
                              {"by payload"}},
                  .rows = {}};
  std::int64_t most = 0;
  for (const logs::LoggedOperationVolume& row : rows) most = std::max(most, row.payload_bytes);
  for (const logs::LoggedOperationVolume& row : rows) {
    const std::int64_t known = row.count - row.unknown;
    const auto bytes = static_cast<double>(row.payload_bytes);
    table.rows.push_back({std::string(name_of(logs::kLogOperationNames, row.operation)),
                          row.group_size > 0 ? format_count(row.group_size) : "?",
                          format_count(row.count), known > 0 ? format_bytes(bytes) : "?",
                          known > 0 ? format_bytes(bytes / static_cast<double>(known)) : "?",
                          row.timed > 0 ? format_time(row.seconds) : "-",
                          format_chart_bar(bytes, static_cast<double>(most))});
  }
  return format_text_table(table);
}

std::string histogram_text(const logs::SizeHistogram& histogram) {
  TextTable table{.columns = {{"operation"},
                              {"payload from", ColumnAlignment::kRight},
                              {"calls", ColumnAlignment::kRight},
                              {"payload", ColumnAlignment::kRight},
                              {"mean time", ColumnAlignment::kRight},
                              {"by calls"}},
                  .rows = {}};
  std::int64_t most = 0;
  for (const auto& [operation, sizes] : histogram) {
    for (const auto& [from, size] : sizes) most = std::max(most, size.count);
  }
  for (const auto& [operation, sizes] : histogram) {
    for (const auto& [from, size] : sizes) {
      table.rows.push_back(
          {std::string(name_of(logs::kLogOperationNames, operation)),
           format_bytes(static_cast<double>(from)), format_count(size.count),
           format_bytes(static_cast<double>(size.payload_bytes)),
           size.timed > 0 ? format_time(size.seconds / static_cast<double>(size.timed)) : "-",
           format_chart_bar(static_cast<double>(size.count), static_cast<double>(most))});
    }
  }
  return format_text_table(table);
}

/// Returns ranks as "0, 1, 2, 3", cut if the list is long.
std::string rank_ranges_text(const std::vector<std::int64_t>& ranks) {
  constexpr std::size_t kMostRanks = 8;
  if (ranks.empty()) return "?";
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostRanks); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  return ranks.size() > kMostRanks ? text + ", ..." : text;
}

std::string roles_text(const std::vector<logs::CommunicatorRole>& roles) {
  constexpr std::size_t kMostRows = 20;
  TextTable table{.columns = {{"group"},
                              {"ranks", ColumnAlignment::kRight},
                              {"payload", ColumnAlignment::kRight},
                              {"in sizes that repeat", ColumnAlignment::kRight},
                              {"probably"}},
                  .rows = {}};
  for (const logs::CommunicatorRole& role : roles) {
    if (table.rows.size() == kMostRows) break;
    const auto bytes = static_cast<double>(role.payload_bytes);
    table.rows.push_back(
        {rank_ranges_text(role.ranks), role.group_size > 0 ? format_count(role.group_size) : "?",
         format_bytes(bytes),
         bytes > 0 ? format_percent(static_cast<double>(role.repeated_bytes) / bytes) : "-",
         role.probably});
  }
  std::string text = "\nGroups, and the parallelism that probably sends their messages\n\n" +
                     format_text_table(table);
  if (roles.size() > kMostRows) {
    text += fmt::format("... and {} groups with fewer bytes\n", roles.size() - kMostRows);
  }
  return roles.empty() ? "" : text;
}

std::string knee_text(const std::vector<logs::LatencyDominatedCalls>& rows,
                      const logs::BatchableMessages& batching) {
  if (rows.empty()) return {};
  TextTable table{.columns = {{"operation"},
                              {"ranks", ColumnAlignment::kRight},
                              {"knee", ColumnAlignment::kRight},
                              {"calls below", ColumnAlignment::kRight},
                              {"of calls", ColumnAlignment::kRight},
                              {"payload below", ColumnAlignment::kRight},
                              {"time below", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const logs::LatencyDominatedCalls& row : rows) {
    table.rows.push_back({std::string(name_of(logs::kLogOperationNames, row.operation)),
                          row.group_size > 0 ? format_count(row.group_size) : "?",
                          format_bytes(row.knee_bytes), format_count(row.count),
                          format_count(row.all),
                          format_bytes(static_cast<double>(row.payload_bytes)),
                          row.seconds > 0 ? format_time(row.seconds) : "-"});
  }
  std::string text = "\nCalls below the knee: so small that latency exceeds the transfer time\n\n" +
                     format_text_table(table);
  if (batching.messages > batching.batches) {
    text += fmt::format(
        "{} small messages could be sent as {}{}.\n", batching.messages, batching.batches,
        batching.saved_s > 0
            ? fmt::format(", which saves {} in the sum of all ranks", format_time(batching.saved_s))
            : "");
  }
  return text;
}

/// Returns the share of the bytes that follows from the plan, if the log distinguishes them from
/// routed bytes.
std::string routed_text(const logs::RouterDecidedTraffic& routed) {
  if (routed.routed_bytes == 0) return {};
  const auto bytes = static_cast<double>(routed.routed_bytes);
  std::string text = fmt::format(
      "\n{} of the payload follows from the plan; the rest, {}, depends on the router.",
      format_percent(1 - bytes / static_cast<double>(routed.payload_bytes)), format_bytes(bytes));
  text +=
      fmt::format(" Of this, {} differs from an even distribution", format_percent(routed.uneven));
  if (routed.steps > 1) {
    text += fmt::format(
        "; from one of {} steps to the next {} of what ranks send each other move, "
        "{} within each exchange",
        routed.steps, format_percent(routed.moved), format_percent(routed.moved_of_exchange));
  }
  return text + ".\n";
}

}  // namespace

std::string log_sources_text(const std::vector<logs::LogFileReadResult>& sources) {
  std::string text;
  std::int64_t number = 0;
  for (const logs::LogFileReadResult& source : sources) {
    ++number;
    for (const logs::UnexplainedLine& one : source.first) {
      text += fmt::format("log {}, line {}: not understood: {}\n", number, one.line,
                          one_line_printable_text(one.reason, kLongestReason));
    }
    const auto shown = std::ssize(source.first);
    if (source.unexplained > shown) {
      text +=
          fmt::format("log {}: {} more lines not understood\n", number, source.unexplained - shown);
    }
    for (const std::string& note : source.notes)
      text += fmt::format("log {}: {}\n", number, one_line_printable_text(note, kLongestReason));
  }
  return text;
}

std::string log_communication_text(const logs::LoggedCommunicationSummary& of) {
  std::string text =
      fmt::format("{} in {}, of all ranks that the logs hold; {}.\n\n",
                  count_with_noun(of.calls, "call"), count_with_noun(std::ssize(of.sources), "log"),
                  of.unexplained == 0 ? "every line is explained"
                                      : count_with_noun(of.unexplained, "line") + " not explained");
  if (!of.by_operation.empty()) {
    text += volume_text(of.by_operation) +
            "\nCalls by their payload, in classes from a power of two to the next\n\n" +
            histogram_text(of.histogram) + roles_text(of.communicators) + routed_text(of.routed) +
            knee_text(of.below_knee, of.batching);
  }
  const std::string sources = log_sources_text(of.sources);
  if (!sources.empty()) text += "\n" + sources;
  return text;
}

}  // namespace stepwright::cli
