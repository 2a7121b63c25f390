#include "stepwright/validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>

#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"
#include "stepwright/validate/memory_row.h"
#include "stepwright/validate/row_prediction.h"

namespace stepwright {
namespace {

/// How far from the capacity, as a share of it, a prediction is a clear verdict.
constexpr double kClearVerdict = 0.05;

struct KindColumns {
  TableKind kind;
  std::vector<std::string_view> columns;
};

const std::vector<KindColumns>& kind_columns() {
  static const std::vector<KindColumns> kColumns = {
      {TableKind::kTrainingRuns, {"model", "measured_metric", "measured_value"}},
      {TableKind::kMemory, {"model", "memory_kind", "memory_value_gib"}},
      {TableKind::kCollectives, {"collective", "size_bytes", "time_us"}},
      {TableKind::kCollectives, {"op", "elements_fp16", "time_us"}},
      {TableKind::kOperators, {"op", "metric", "value"}},
      {TableKind::kOperators, {"op", "fwd_us", "bwd_us"}}};
  return kColumns;
}

/// A row as it came out: a result, a memory result, or why not.
using Outcome = std::variant<RowResult, MemoryResult, Skipped>;

Outcome outcome_of(const CsvTable& table, std::size_t index, TableKind kind,
                   const ValidationOptions& options, const TrainingConditions& conditions) {
  auto read = read_run_row(table, table.rows[index]);
  if (auto* skipped = std::get_if<Skipped>(&read)) return *skipped;
  auto& row = std::get<RunRow>(read);
  if (!options.tier.empty() && !row.tier.empty() &&
      options.tier.find(row.tier) == std::string::npos) {
    return Skipped{fmt::format("tier {}", row.tier)};
  }
  if (!options.profile.empty()) row.cluster = options.profile;
  if (kind == TableKind::kMemory) {
    auto made = predict_memory(row);
    if (auto* skipped = std::get_if<Skipped>(&made)) return *skipped;
    return std::get<MemoryResult>(std::move(made));
  }
  auto made = predict_run(row, conditions);
  if (auto* skipped = std::get_if<Skipped>(&made)) return *skipped;
  return std::get<RowResult>(std::move(made));
}

void count_label(LabelCount& labels, const MemoryResult& result) {
  const bool right = result.fits() == (result.kind == PeakKind::kFits);
  const double away = std::abs(result.row.predicted / result.capacity_bytes - 1);
  const bool clear = away > kClearVerdict;
  ++(right ? labels.right : labels.wrong);
  if (clear) ++(right ? labels.clear_right : labels.clear_wrong);
  if (!right) ++(result.fits() ? labels.oom_called_fits : labels.fits_called_oom);
}

void summarise(Validation& validation, const std::vector<double>& errors,
               const std::array<ErrorGroups, std::size(kErrorGroups)>& groups) {
  validation.errors = error_statistics(errors);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const auto& [word, of_word] : groups[i]) {
      validation.groups[i].emplace(word, error_statistics(of_word));
    }
  }
}

}  // namespace

std::string_view RowResult::largest_term() const {
  const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto largest = std::ranges::max_element(terms, by_value);
  return largest == terms.end() ? std::string_view{} : largest->first;
}

TableKind table_kind(const CsvTable& table) {
  std::string kinds;
  for (const KindColumns& entry : kind_columns()) {
    bool all = true;
    for (const std::string_view column : entry.columns) all = all && table.column(column);
    if (all) return entry.kind;
    kinds += fmt::format("; {}: {}", name_of(kTableKindNames, entry.kind),
                         fmt::join(entry.columns, ", "));
  }
  fail_input(fmt::format(
      "{}:1: the header is of no kind of measurements that is known. Columns by which one is "
      "recognised{}",
      table.name, kinds));
}

Validation validate(const CsvTable& table, const ValidationOptions& options) {
  Validation validation{.kind = table_kind(table), .rows = table.rows.size()};
  if (validation.kind != TableKind::kTrainingRuns && validation.kind != TableKind::kMemory) {
    fail_unsupported(fmt::format("{}: tables of {} are known but nothing predicts them yet",
                                 table.name, name_of(kTableKindNames, validation.kind)));
  }
  const TrainingConditions conditions =
      options.conditions.empty() ? built_in_conditions() : load_conditions(options.conditions);
  std::vector<Outcome> outcomes(table.rows.size());
  parallel_for(options.threads, outcomes.size(), [&](std::size_t i) {
    outcomes[i] = outcome_of(table, i, validation.kind, options, conditions);
  });
  std::vector<double> errors;
  std::array<ErrorGroups, std::size(kErrorGroups)> groups;
  if (validation.kind == TableKind::kMemory) validation.labels.emplace();
  for (Outcome& outcome : outcomes) {
    if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
      ++validation.skipped[skipped->reason];
      continue;
    }
    ++validation.used;
    const auto* memory = std::get_if<MemoryResult>(&outcome);
    const RowResult& row = memory != nullptr ? memory->row : std::get<RowResult>(outcome);
    if (memory != nullptr && memory->is_label()) {
      count_label(*validation.labels, *memory);
    } else {
      errors.push_back(row.error);
      for (std::size_t i = 0; i < groups.size(); ++i) {
        groups[i][row.groups[i]].push_back(row.error);
      }
    }
    validation.results.push_back(row);
  }
  summarise(validation, errors, groups);
  return validation;
}

}  // namespace stepwright
