#include "stepwright/cli/snapshot_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cli {
namespace {

/// The most groups of blocks that are listed.
constexpr std::size_t kShownGroups = 10;

std::string bytes_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

template <class Groups>
std::int64_t bytes_of(const Groups& groups) {
  std::int64_t bytes = 0;
  for (const auto& group : groups) bytes += group.bytes;
  return bytes;
}

std::string rank_ranges_text(const snapshot::SnapshotComparison& comparison) {
  TextTable table{.columns = {{"file"},
                              {"rank"},
                              {"stage", ColumnAlignment::kRight},
                              {"peak", ColumnAlignment::kRight},
                              {"at event", ColumnAlignment::kRight},
                              {"planned", ColumnAlignment::kRight},
                              {"reserved", ColumnAlignment::kRight},
                              {"matched", ColumnAlignment::kRight},
                              {"unexplained", ColumnAlignment::kRight},
                              {"missing", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const snapshot::RankSnapshotComparison& rank : comparison.ranks) {
    const snapshot::DeviceMemorySnapshot& recording = rank.recording;
    table.rows.push_back(
        {one_line_printable_text(rank.file), rank.rank < 0 ? "" : fmt::format("{}", rank.rank),
         fmt::format("{}", rank.stage), bytes_text(recording.peak_bytes),
         recording.peak_event_index ? format_count(*recording.peak_event_index) : "before",
         bytes_text(rank.predicted_peak_bytes), bytes_text(recording.reserved_bytes),
         bytes_text(rank.match.matched_bytes), bytes_text(bytes_of(rank.match.unexplained)),
         bytes_text(bytes_of(rank.match.missing))});
  }
  return format_text_table(table);
}

std::string unexplained_text(const std::vector<snapshot::SameStackBlocks>& groups) {
  if (groups.empty()) return {};
  std::string text = "\nIn use at the peak, not in the plan\n\n";
  for (std::size_t i = 0; i < std::min(groups.size(), kShownGroups); ++i) {
    const snapshot::SameStackBlocks& group = groups[i];
    text +=
        fmt::format("{:>10}  {}\n", bytes_text(group.bytes), count_with_noun(group.count, "block"));
    if (group.frames.empty()) text += "            no frames were recorded\n";
    for (const std::string& frame : group.frames) {
      text += fmt::format("            {}\n", one_line_printable_text(frame));
    }
  }
  if (groups.size() > kShownGroups) {
    text += fmt::format("            and {} more places (--json lists them)\n",
                        groups.size() - kShownGroups);
  }
  return text;
}

std::string missing_text(const std::vector<snapshot::MissingPredictedBlocks>& groups) {
  if (groups.empty()) return {};
  TextTable table{.columns = {{"in the plan at its peak, not in the run"},
                              {"blocks", ColumnAlignment::kRight},
                              {"bytes", ColumnAlignment::kRight}},
                  .rows = {}};
  for (std::size_t i = 0; i < std::min(groups.size(), kShownGroups); ++i) {
    table.rows.push_back(
        {groups[i].tensor, format_count(groups[i].count), bytes_text(groups[i].bytes)});
  }
  return "\n" + format_text_table(table);
}

}  // namespace

std::string snapshot_comparison_text(const snapshot::SnapshotComparison& comparison) {
  const snapshot::RankSnapshotComparison& fullest = comparison.ranks[comparison.fullest];
  return "\nWhat PyTorch's allocator had in use at the peak of each rank, compared with the "
         "plan\n\n" +
         rank_ranges_text(comparison) +
         "planned: the plan's own peak; reserved: device memory held by the allocator; matched: "
         "blocks that the\nplan also has\n" +
         unexplained_text(fullest.match.unexplained) + missing_text(fullest.match.missing);
}

}  // namespace stepwright::cli
