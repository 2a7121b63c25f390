#include "stepwright/cli/against_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/choices/codes.h"

namespace stepwright::cli {
namespace {

std::string fault_text(const tune::TunedPlan& best, const tune::TunedPlan& own) {
  const bool slower = own.step_time_s > best.step_time_s * (1 + tune::kMinProposedPlanSaving);
  const std::string why = slower ? own.lost + ".\n" : "";
  if (own.verdict == memory::MemoryFitVerdict::kTight) {
    return fmt::format("It is tight in memory: it fits with a probability of {:.0f}%.\n{}",
                       100 * own.p_fits, why);
  }
  if (!own.fits) {
    return fmt::format("It does not fit in memory: {} too much, most of it {}.\n{}",
                       format_bytes(own.over_by_bytes), own.largest_part, why);
  }
  if (slower) return why;
  if (own.step_time_s >= best.step_time_s) return "It is as good as the best.\n";
  return fmt::format("It is {} faster than the best plan found: keep it.\n",
                     format_percent(1 - own.step_time_s / best.step_time_s));
}

/// The most characters of a cell.
constexpr std::size_t kWidest = 72;

/// Puts words on as few lines of a cell's width as possible.
std::vector<std::string> wrapped(const std::vector<std::string>& words) {
  std::vector<std::string> lines(1);
  for (const std::string& word : words) {
    const bool first = lines.back().empty();
    if (!first && lines.back().size() + 1 + word.size() > kWidest) {
      lines.push_back(word);
    } else {
      lines.back() += first ? word : " " + word;
    }
  }
  return lines;
}

/// Returns the columns of a table of changes; `own`: with a first column for settings of the user's
/// own files.
std::vector<TableColumn> change_columns(bool own) {
  std::vector<TableColumn> columns = {{"#", ColumnAlignment::kRight}};
  if (own) columns.push_back({"in the file"});
  columns.insert(columns.end(), {{"set"},
                                 {"kind"},
                                 {"step", ColumnAlignment::kRight},
                                 {"gain", ColumnAlignment::kRight},
                                 {"memory", ColumnAlignment::kRight}});
  return columns;
}

/// Returns the cells with the effect of a change; they are empty on all lines but its first.
std::vector<std::string> figures(const tune::PlanChange& change, bool first) {
  if (!first) return {"", "", "", ""};
  const bool loses = change.gain_s < 0;
  return {std::string(name_of(tune::kChangeKindNames, change.kind)),
          format_time(change.reached.step_time_s),
          (loses ? "-" : "") + format_time(std::abs(change.gain_s)),
          format_bytes(change.reached.peak_memory_bytes)};
}

}  // namespace

std::string plan_changes_table(const std::vector<tune::PlanChange>& changes,
                               const std::vector<std::vector<std::string>>& in_files) {
  const bool own = std::ranges::any_of(in_files, [](const auto& words) { return !words.empty(); });
  TextTable table{.columns = change_columns(own), .rows = {}};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const tune::PlanChange& change = changes[i];
    const std::vector<std::string> set = wrapped(change.set);
    const std::vector<std::string> lines = own ? in_files[i] : std::vector<std::string>();
    for (std::size_t at = 0; at < std::max(set.size(), lines.size()); ++at) {
      std::vector<std::string> row = {at == 0 ? fmt::format("{}", i + 1) : ""};
      if (own) row.push_back(at < lines.size() ? one_line_printable_text(lines[at], kWidest) : "");
      row.push_back(at < set.size() ? set[at] : "");
      for (std::string& cell : figures(change, at == 0)) row.push_back(std::move(cell));
      table.rows.push_back(std::move(row));
    }
  }
  return format_text_table(table);
}

std::string user_plan_comparison_text(const tune::TuneResult& result,
                                      const tune::UserPlanComparison& against) {
  const tune::TunedPlan& best = result.plans.front();
  std::string text =
      fmt::format("\nYour plan ({}) takes {} in {}.\n{}", plan::short_plan_code(against.own.plan),
                  format_time(against.own.step_time_s), format_bytes(against.own.peak_memory_bytes),
                  fault_text(best, against.own));
  return against.changes.empty()
             ? text
             : text + "\nChanges, one after the other\n\n" + plan_changes_table(against.changes);
}

}  // namespace stepwright::cli
