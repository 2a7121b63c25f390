#include "stepwright/cli/log_text.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/logs/characterize.h"

namespace stepwright {
namespace {

std::string volume_text(const Log& log) {
  Table table{.columns = {{"operation"},
                          {"ranks", Align::kRight},
                          {"calls", Align::kRight},
                          {"payload", Align::kRight},
                          {"mean", Align::kRight},
                          {"time", Align::kRight}},
              .rows = {}};
  for (const OperationVolume& row : volumes(log)) {
    const std::int64_t known = row.count - row.unknown;
    const auto bytes = static_cast<double>(row.payload_bytes);
    table.rows.push_back({std::string(name_of(kLogOperationNames, row.operation)),
                          row.group_size > 0 ? format_count(row.group_size) : "?",
                          format_count(row.count), known > 0 ? format_bytes(bytes) : "?",
                          known > 0 ? format_bytes(bytes / static_cast<double>(known)) : "?",
                          row.timed > 0 ? format_time(row.seconds) : "-"});
  }
  return to_text(table);
}

std::string histogram_text(const Log& log) {
  Table table{.columns = {{"operation"},
                          {"from", Align::kRight},
                          {"calls", Align::kRight},
                          {"payload", Align::kRight},
                          {"mean time", Align::kRight}},
              .rows = {}};
  for (const auto& [operation, sizes] : size_histogram(log)) {
    for (const auto& [from, size] : sizes) {
      table.rows.push_back(
          {std::string(name_of(kLogOperationNames, operation)),
           format_bytes(static_cast<double>(from)), format_count(size.count),
           format_bytes(static_cast<double>(size.payload_bytes)),
           size.timed > 0 ? format_time(size.seconds / static_cast<double>(size.timed)) : "-"});
    }
  }
  return to_text(table);
}

}  // namespace

std::string sources_text(const Log& log) {
  std::string text;
  std::int64_t number = 0;
  for (const LogSource& source : log.sources) {
    ++number;
    for (const Unexplained& one : source.first) {
      text += fmt::format("log {}, line {}: not explained: {}\n", number, one.line, one.reason);
    }
    const auto shown = std::ssize(source.first);
    if (source.unexplained > shown) {
      text +=
          fmt::format("log {}: {} more lines not explained\n", number, source.unexplained - shown);
    }
    for (const std::string& note : source.notes) text += fmt::format("log {}: {}\n", number, note);
  }
  return text;
}

std::string characterize_text(const Log& log) {
  std::string text =
      fmt::format("{} in {}, all ranks that the logs hold; {}\n\n", counted(log.calls(), "call"),
                  counted(std::ssize(log.sources), "log"),
                  log.unexplained() == 0 ? "every line is explained"
                                         : counted(log.unexplained(), "line") + " not explained");
  if (!log.records.empty()) {
    text += volume_text(log) + "\nPayloads by size, from a power of two to the next\n\n" +
            histogram_text(log);
  }
  const std::string sources = sources_text(log);
  if (!sources.empty()) text += "\n" + sources;
  return text;
}

}  // namespace stepwright
