#include "stepwright/validate/validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"
#include "stepwright/core/utf8.h"
#include "stepwright/validate/rows/label_conflict.h"
#include "stepwright/validate/rows/launch_row.h"
#include "stepwright/validate/rows/memory_row.h"
#include "stepwright/validate/rows/row_prediction.h"
#include "stepwright/validate/rows/run_row.h"
#include "stepwright/validate/rows/sample_rows.h"

namespace stepwright::validate {
namespace {

/// A verdict is clear if the predicted peak is farther from the capacity than this share of it.
constexpr double kClearVerdict = 0.05;

struct KindColumns {
  MeasurementTableKind kind;
  std::vector<std::string_view> columns;
};

const std::vector<KindColumns>& kind_columns() {
  static const std::vector<KindColumns> kColumns = {
      {MeasurementTableKind::kTrainingRuns, {"model", "measured_metric", "measured_value"}},
      {MeasurementTableKind::kMemory, {"model", "memory_kind", "memory_value_gib"}},
      {MeasurementTableKind::kLaunches, {"target", "launch", "allocated_gib", "peak_gib"}},
      {MeasurementTableKind::kCollectiveSamples, {"collective", "size_bytes", "time_us"}},
      {MeasurementTableKind::kCollectiveSamples, {"op", "elements_fp16", "time_us"}},
      {MeasurementTableKind::kOwnMessages,
       {"library", "operation", "payload_bytes", "chunk_bytes", "seconds"}},
      {MeasurementTableKind::kOperatorSamples, {"op", "metric", "value"}},
      {MeasurementTableKind::kOperatorSamples, {"op", "fwd_us", "bwd_us"}}};
  return kColumns;
}

/// Reads a row about a run or a peak; if the options name a cluster, it replaces the row's.
std::variant<PublishedRunRow, SkippedRowReason> asked_row(const CsvTable& table,
                                                          const CsvRow& cells,
                                                          const ValidationOptions& options) {
  auto read = read_measured_run_row(table, cells);
  if (auto* row = std::get_if<PublishedRunRow>(&read); row != nullptr && !options.profile.empty()) {
    row->cluster = options.profile;
  }
  return read;
}

std::vector<TableRowOutcome> predict_runs(const CsvTable& table, const ValidationOptions& options) {
  const cost::TrainingConditions conditions =
      options.conditions.empty() ? cost::built_in_training_conditions()
                                 : cost::load_training_conditions(options.conditions);
  std::vector<TableRowOutcome> outcomes(table.rows.size());
  parallel_for(options.threads, outcomes.size(), [&](std::size_t i) {
    auto row = asked_row(table, table.rows[i], options);
    if (auto* skipped = std::get_if<SkippedRowReason>(&row)) {
      outcomes[i].skipped = std::move(*skipped);
      return;
    }
    auto made = predict_row_step_time(std::get<PublishedRunRow>(row), conditions);
    if (auto* skipped = std::get_if<SkippedRowReason>(&made)) {
      outcomes[i].skipped = std::move(*skipped);
    } else {
      outcomes[i].results.push_back(std::get<TableRowPrediction>(std::move(made)));
    }
  });
  return outcomes;
}

void count_skipped(std::map<std::string, SkippedRows>& all, const SkippedRowReason& skipped,
                   std::size_t line) {
  SkippedRows& rows = all[skipped.reason];
  if (++rows.count > 1) return;
  rows.first = fmt::format("line {}{}{}", line, skipped.detail.empty() ? "" : ": ", skipped.detail);
}

void count_label(MemoryFitLabelCounts& labels, const MemoryResult& result) {
  const bool right = result.fits() == (result.kind == MeasuredMemoryKind::kFits);
  const double away = std::abs(result.row.predicted / result.capacity_bytes - 1);
  const bool clear = away > kClearVerdict;
  ++(right ? labels.right : labels.wrong);
  if (clear) ++(right ? labels.clear_right : labels.clear_wrong);
  if (!right) ++(result.fits() ? labels.oom_called_fits : labels.fits_called_oom);
}

/// A memory row, read and predicted.
struct MemoryOutcome {
  std::variant<PublishedRunRow, SkippedRowReason> row;
  std::variant<MemoryResult, SkippedRowReason> made;
};

MemoryOutcome predict_peak(const CsvTable& table, const CsvRow& cells,
                           const ValidationOptions& options) {
  MemoryOutcome out{.row = asked_row(table, cells, options), .made = SkippedRowReason{}};
  if (const auto* skipped = std::get_if<SkippedRowReason>(&out.row)) {
    out.made = *skipped;
  } else {
    out.made = predict_row_memory(std::get<PublishedRunRow>(out.row));
  }
  return out;
}

/// Excludes labels that contradict each other from the count.
void set_aside_conflicts(std::vector<MemoryOutcome>& peaks, MemoryFitLabelCounts& count) {
  std::vector<MemoryFitLabel> labels;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const auto* made = std::get_if<MemoryResult>(&peaks[i].made);
    if (made == nullptr || !made->is_label()) continue;
    labels.push_back(made->label);
    rows.push_back(i);
  }
  const auto conflicts = memory_fit_label_conflicts(labels);
  for (const auto& [oom, fits] : conflicts) {
    count.contradictory.emplace_back(labels[oom].id, labels[fits].id);
  }
  for (const auto& [oom, fits] : conflicts) {
    peaks[rows[oom]].made = SkippedRowReason{"contradictory label", "fits as " + labels[fits].id};
    peaks[rows[fits]].made = SkippedRowReason{"contradictory label", "OOM as " + labels[oom].id};
  }
}

std::vector<TableRowOutcome> predict_peaks(const CsvTable& table, const ValidationOptions& options,
                                           MemoryFitLabelCounts& labels) {
  std::vector<MemoryOutcome> peaks(table.rows.size());
  parallel_for(options.threads, peaks.size(),
               [&](std::size_t i) { peaks[i] = predict_peak(table, table.rows[i], options); });
  set_aside_conflicts(peaks, labels);
  std::vector<TableRowOutcome> outcomes(peaks.size());
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    if (auto* skipped = std::get_if<SkippedRowReason>(&peaks[i].made)) {
      outcomes[i].skipped = std::move(*skipped);
      continue;
    }
    auto& made = std::get<MemoryResult>(peaks[i].made);
    if (made.is_label()) count_label(labels, made);
    outcomes[i].results.push_back(std::move(made.row));
  }
  return outcomes;
}

std::vector<TableRowOutcome> outcomes_of(const CsvTable& table, const ValidationOptions& options,
                                         Validation& validation) {
  switch (validation.kind) {
    case MeasurementTableKind::kOperatorSamples:
      return predict_operator_times(table, options.profile);
    case MeasurementTableKind::kCollectiveSamples:
      return predict_collective_times(table, options.profile);
    case MeasurementTableKind::kOwnMessages:
      return predict_own_message_times(table, options.profile);
    case MeasurementTableKind::kLaunches: return predict_launch_memory(table, options.threads);
    default: break;
  }
  if (!options.profile.empty())
    cluster::load_cluster(options.profile, 1);  // fails unless it is a cluster
  if (validation.kind == MeasurementTableKind::kTrainingRuns) return predict_runs(table, options);
  return predict_peaks(table, options, validation.labels.emplace());
}

/// Fails with `kInput` for options that do not apply to this kind of table.
void check_options(const CsvTable& table, MeasurementTableKind kind,
                   const ValidationOptions& options) {
  if (!options.conditions.empty() && kind != MeasurementTableKind::kTrainingRuns) {
    fail_input(
        fmt::format("--conditions: is only for a table of runs, which {} is not", table.name));
  }
  if (options.tier.empty()) return;
  const auto column = table.column("tier");
  if (!column) fail_input(fmt::format("--tier: {} has no column `tier`", table.name));
  std::set<std::string, std::less<>> known;
  for (const CsvRow& row : table.rows) known.insert(row.cells[*column]);
  for (const char tier : options.tier) {
    if (known.contains(std::string_view(&tier, 1))) continue;
    fail_input(fmt::format("--tier: no row of {} is of tier '{}'; there are {}", table.name,
                           one_line_printable_text(std::string_view(&tier, 1)),
                           fmt::join(known, ", ")));
  }
}

/// Returns the rows of the requested tiers; the others are added to `skipped`.
CsvTable of_tiers(const CsvTable& table, const std::string& tiers,
                  std::map<std::string, SkippedRows>& skipped) {
  const auto column = table.column("tier");
  if (tiers.empty()) return table;
  CsvTable kept{table.name, table.header, {}};
  for (const CsvRow& row : table.rows) {
    const std::string& tier = row.cells[*column];
    if (tier.empty() || tiers.find(tier) != std::string::npos) {
      kept.rows.push_back(row);
    } else {
      count_skipped(skipped, {fmt::format("tier {}", tier)}, row.line);
    }
  }
  return kept;
}

/// Error statistics, overall and for each value of each group.
class ErrorTables {
 public:
  explicit ErrorTables(std::size_t groups) : groups_(groups) {}

  void add(std::size_t row, const TableRowPrediction& result) {
    if (result.measured == 0) return;  // a label
    all_.add(row, result.error);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i][result.groups[i]].add(row, result.error);
    }
  }
  void write(Validation& validation) const {
    validation.errors = all_.error_statistics_of_group();
    for (const auto& group : groups_) {
      auto& written = validation.groups.emplace_back();
      for (const auto& [word, errors] : group)
        written.emplace(word, errors.error_statistics_of_group());
    }
  }

 private:
  ErrorGroup all_;
  std::vector<std::map<std::string, ErrorGroup>> groups_;
};

/// Counts a row and adds its results to the validation.
void add_outcome(Validation& validation, TableRowOutcome& outcome, std::size_t line) {
  if (!outcome.skipped && outcome.results.empty()) outcome.skipped = outcome.left_out.front();
  if (outcome.skipped) return count_skipped(validation.skipped, *outcome.skipped, line);
  ++validation.used;
  for (const SkippedRowReason& skipped : outcome.left_out) {
    count_skipped(validation.left_out, skipped, line);
  }
  for (TableRowPrediction& result : outcome.results)
    validation.results.push_back(std::move(result));
}

std::optional<double> inside_interval(std::span<const TableRowPrediction> results) {
  if (results.empty()) return std::nullopt;
  const auto inside = std::ranges::count_if(results, [](const TableRowPrediction& result) {
    return result.low_s <= result.measured && result.measured <= result.high_s;
  });
  return static_cast<double>(inside) / static_cast<double>(results.size());
}

}  // namespace

MeasurementTableKind measurement_table_kind(const CsvTable& table) {
  std::string kinds;
  std::vector<std::string_view> known;
  for (const KindColumns& entry : kind_columns()) {
    known.insert(known.end(), entry.columns.begin(), entry.columns.end());
    bool all = true;
    for (const std::string_view column : entry.columns) all = all && table.column(column);
    if (all) return entry.kind;
    kinds += fmt::format("; {}: {}", name_of(kTableKindNames, entry.kind),
                         fmt::join(entry.columns, ", "));
  }
  table.refuse_misspelt_column_titles(known);
  fail_input(fmt::format(
      "{}:1: the header belongs to no known kind of measurements. Columns of the known kinds{}",
      table.name, kinds));
}

std::span<const std::string_view> prediction_error_group_keys(MeasurementTableKind kind) {
  static constexpr std::string_view kOfRuns[] = {"source", "device", "framework", "scheme"};
  static constexpr std::string_view kOfOperators[] = {"source", "device", "operator", "direction",
                                                      "size"};
  static constexpr std::string_view kOfCollectives[] = {"source", "device", "operation", "layout",
                                                        "size"};
  static constexpr std::string_view kOfMessages[] = {"library", "operation", "layout", "size"};
  static constexpr std::string_view kOfLaunches[] = {"quantity", "device", "model", "scheme"};
  if (kind == MeasurementTableKind::kLaunches) return kOfLaunches;
  if (kind == MeasurementTableKind::kOwnMessages) return kOfMessages;
  if (kind == MeasurementTableKind::kOperatorSamples) return kOfOperators;
  if (kind == MeasurementTableKind::kCollectiveSamples) return kOfCollectives;
  return kOfRuns;
}

Validation compare_predictions_to_measurements(const CsvTable& table,
                                               const ValidationOptions& options) {
  Validation validation{.kind = measurement_table_kind(table), .rows = table.rows.size()};
  const bool of_runs = validation.kind == MeasurementTableKind::kTrainingRuns ||
                       validation.kind == MeasurementTableKind::kMemory;
  if (of_runs) table.refuse_misspelt_column_titles(measured_run_table_columns());
  if (validation.kind == MeasurementTableKind::kLaunches)
    table.refuse_misspelt_column_titles(launch_table_columns());
  check_options(table, validation.kind, options);
  const CsvTable asked = of_tiers(table, options.tier, validation.skipped);
  std::vector<TableRowOutcome> outcomes = outcomes_of(asked, options, validation);
  table.require_table_rows();
  ErrorTables errors(prediction_error_group_keys(validation.kind).size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    for (const TableRowPrediction& result : outcomes[i].results) errors.add(i, result);
    add_outcome(validation, outcomes[i], asked.rows[i].line);
  }
  errors.write(validation);
  if (validation.kind == MeasurementTableKind::kTrainingRuns) {
    validation.choices = ranking_quality_of_predictions(validation.results);
    validation.inside_interval = inside_interval(validation.results);
  }
  return validation;
}

}  // namespace stepwright::validate
