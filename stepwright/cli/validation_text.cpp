#include "stepwright/cli/validation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"

namespace stepwright {
namespace {

constexpr std::size_t kWorst = 10;

std::string signed_percent(double fraction) { return fmt::format("{:+.1f}%", 100 * fraction); }

std::vector<Column> error_columns(const std::string& first) {
  return {{first},
          {"rows", Align::kRight},
          {"median", Align::kRight},
          {"mean", Align::kRight},
          {"p90", Align::kRight},
          {"signed", Align::kRight},
          {"within 10%", Align::kRight}};
}

std::vector<std::string> error_row(const std::string& first, const ErrorStatistics& errors) {
  return {first,
          std::to_string(errors.used),
          format_percent(errors.median_abs),
          format_percent(errors.mean_abs),
          format_percent(errors.p90_abs),
          signed_percent(errors.mean_signed),
          format_percent(errors.within_10_percent)};
}

std::string groups_text(const Validation& v) {
  std::string text;
  for (std::size_t i = 0; i < v.groups.size(); ++i) {
    Table table{.columns = error_columns(std::string(kErrorGroups[i].substr(3))), .rows = {}};
    for (const auto& [word, errors] : v.groups[i]) table.rows.push_back(error_row(word, errors));
    text += '\n' + to_text(table);
  }
  return text;
}

std::string skipped_text(const Validation& v) {
  if (v.skipped.empty()) return "";
  Table table{.columns = {{"skipped because"}, {"rows", Align::kRight}}, .rows = {}};
  for (const auto& [reason, count] : v.skipped) {
    table.rows.push_back({reason, std::to_string(count)});
  }
  return '\n' + to_text(table);
}

std::string labels_text(const LabelCount& labels) {
  return fmt::format(
      "\nFits or out of memory: {} right, {} wrong ({} fits called OOM, {} OOM called fits);\n"
      "more than 5 % away from the capacity {} right, {} wrong.\n",
      labels.right, labels.wrong, labels.fits_called_oom, labels.oom_called_fits,
      labels.clear_right, labels.clear_wrong);
}

std::string value_text(TableKind kind, double value) {
  return kind == TableKind::kMemory ? format_bytes(value) : format_time(value);
}

std::string worst_text(const Validation& v) {
  std::vector<const RowResult*> rows;
  for (const RowResult& row : v.results) {
    if (row.measured > 0) rows.push_back(&row);
  }
  const std::size_t count = std::min(kWorst, rows.size());
  if (count == 0) return "";
  std::ranges::stable_sort(rows, [](const RowResult* a, const RowResult* b) {
    return std::abs(a->error) > std::abs(b->error);
  });
  Table table{.columns = {{"worst"},
                          {"predicted", Align::kRight},
                          {"measured", Align::kRight},
                          {"error", Align::kRight},
                          {"largest term"}},
              .rows = {}};
  for (std::size_t i = 0; i < count; ++i) {
    table.rows.push_back({rows[i]->id, value_text(v.kind, rows[i]->predicted),
                          value_text(v.kind, rows[i]->measured), signed_percent(rows[i]->error),
                          std::string(rows[i]->largest_term())});
  }
  return '\n' + to_text(table);
}

}  // namespace

std::string validation_text(const Validation& v) {
  std::string text =
      fmt::format("{}: {} of {} rows used\n", name_of(kTableKindNames, v.kind), v.used, v.rows);
  text += skipped_text(v);
  if (v.errors.used > 0) {
    Table all{.columns = error_columns("error"), .rows = {error_row("all", v.errors)}};
    text += '\n' + to_text(all) + groups_text(v);
  }
  if (v.labels) text += labels_text(*v.labels);
  return text + worst_text(v);
}

}  // namespace stepwright
