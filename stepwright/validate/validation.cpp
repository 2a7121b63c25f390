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
  TableKind kind;
  std::vector<std::string_view> columns;
};

const std::vector<KindColumns>& kind_columns() {
  static const std::vector<KindColumns> kColumns = {
      {TableKind::kTrainingRuns, {"model", "measured_metric", "measured_value"}},
      {TableKind::kMemory, {"model", "memory_kind", "memory_value_gib"}},
      {TableKind::kLaunches, {"target", "launch", "allocated_gib", "peak_gib"}},
      {TableKind::kCollectiveSamples, {"collective", "size_bytes", "time_us"}},
      {TableKind::kCollectiveSamples, {"op", "elements_fp16", "time_us"}},
      {TableKind::kOwnMessages,
       {"library", "operation", "payload_bytes", "chunk_bytes", "seconds"}},
      {TableKind::kOperatorSamples, {"op", "metric", "value"}},
      {TableKind::kOperatorSamples, {"op", "fwd_us", "bwd_us"}}};
  return kColumns;
}

/// Reads a row about a run or a peak; if the options name a cluster, it replaces the row's.
std::variant<RunRow, Skipped> asked_row(const CsvTable& table, const CsvRow& cells,
                                        const ValidationOptions& options) {
  auto read = read_run_row(table, cells);
  if (auto* row = std::get_if<RunRow>(&read); row != nullptr && !options.profile.empty()) {
    row->cluster = options.profile;
  }
  return read;
}

std::vector<RowOutcome> predict_runs(const CsvTable& table, const ValidationOptions& options) {
  const cost::TrainingConditions conditions =
      options.conditions.empty() ? cost::built_in_training_conditions()
                                 : cost::load_training_conditions(options.conditions);
  std::vector<RowOutcome> outcomes(table.rows.size());
  parallel_for(options.threads, outcomes.size(), [&](std::size_t i) {
    auto row = asked_row(table, table.rows[i], options);
    if (auto* skipped = std::get_if<Skipped>(&row)) {
      outcomes[i].skipped = std::move(*skipped);
      return;
    }
    auto made = predict_row_step_time(std::get<RunRow>(row), conditions);
    if (auto* skipped = std::get_if<Skipped>(&made)) {
      outcomes[i].skipped = std::move(*skipped);
    } else {
      outcomes[i].results.push_back(std::get<RowPredictionResult>(std::move(made)));
    }
  });
  return outcomes;
}

void count_skipped(std::map<std::string, SkippedRows>& all, const Skipped& skipped,
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
  std::variant<RunRow, Skipped> row;
  std::variant<MemoryResult, Skipped> made;
};

MemoryOutcome predict_peak(const CsvTable& table, const CsvRow& cells,
                           const ValidationOptions& options) {
  MemoryOutcome out{.row = asked_row(table, cells, options), .made = Skipped{}};
  if (const auto* skipped = std::get_if<Skipped>(&out.row)) {
    out.made = *skipped;
  } else {
    out.made = predict_row_memory(std::get<RunRow>(out.row));
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
    peaks[rows[oom]].made = Skipped{"contradictory label", "fits as " + labels[fits].id};
    peaks[rows[fits]].made = Skipped{"contradictory label", "OOM as " + labels[oom].id};
  }
}

std::vector<RowOutcome> predict_peaks(const CsvTable& table, const ValidationOptions& options,
                                      MemoryFitLabelCounts& labels) {
  std::vector<MemoryOutcome> peaks(table.rows.size());
  parallel_for(options.threads, peaks.size(),
               [&](std::size_t i) { peaks[i] = predict_peak(table, table.rows[i], options); });
  set_aside_conflicts(peaks, labels);
  std::vector<RowOutcome> outcomes(peaks.size());
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    if (auto* skipped = std::get_if<Skipped>(&peaks[i].made)) {
      outcomes[i].skipped = std::move(*skipped);
      continue;
    }
    auto& made = std::get<MemoryResult>(peaks[i].made);
    if (made.is_label()) count_label(labels, made);
    outcomes[i].results.push_back(std::move(made.row));
  }
  return outcomes;
}

std::vector<RowOutcome> outcomes_of(const CsvTable& table, const ValidationOptions& options,
                                    Validation& validation) {
  switch (validation.kind) {
    case TableKind::kOperatorSamples: return predict_operator_times(table, options.profile);
    case TableKind::kCollectiveSamples: return predict_collective_times(table, options.profile);
    case TableKind::kOwnMessages: return predict_own_message_times(table, options.profile);
    case TableKind::kLaunches: return predict_launch_memory(table, options.threads);
    default: break;
  }
  if (!options.profile.empty())
    cluster::load_cluster(options.profile, 1);  // fails unless it is a cluster
  if (validation.kind == TableKind::kTrainingRuns) return predict_runs(table, options);
  return predict_peaks(table, options, validation.labels.emplace());
}

/// Fails with `kInput` for options that do not apply to this kind of table.
void check_options(const CsvTable& table, TableKind kind, const ValidationOptions& options) {
  if (!options.conditions.empty() && kind != TableKind::kTrainingRuns) {
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
                           printable(std::string_view(&tier, 1)), fmt::join(known, ", ")));
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

  void add(std::size_t row, const RowPredictionResult& result) {
    if (result.measured == 0) return;  // a label
    all_.add(row, result.error);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      groups_[i][result.groups[i]].add(row, result.error);
    }
  }
  void write(Validation& validation) const {
    validation.errors = all_.statistics();
    for (const auto& group : groups_) {
      auto& written = validation.groups.emplace_back();
      for (const auto& [word, errors] : group) written.emplace(word, errors.statistics());
    }
  }

 private:
  ErrorGroup all_;
  std::vector<std::map<std::string, ErrorGroup>> groups_;
};

/// Counts a row and adds its results to the validation.
void add_outcome(Validation& validation, RowOutcome& outcome, std::size_t line) {
  if (!outcome.skipped && outcome.results.empty()) outcome.skipped = outcome.left_out.front();
  if (outcome.skipped) return count_skipped(validation.skipped, *outcome.skipped, line);
  ++validation.used;
  for (const Skipped& skipped : outcome.left_out) {
    count_skipped(validation.left_out, skipped, line);
  }
  for (RowPredictionResult& result : outcome.results)
    validation.results.push_back(std::move(result));
}

std::optional<double> inside_interval(std::span<const RowPredictionResult> results) {
  if (results.empty()) return std::nullopt;
  const auto inside = std::ranges::count_if(results, [](const RowPredictionResult& result) {
    return result.low_s <= result.measured && result.measured <= result.high_s;
  });
  return static_cast<double>(inside) / static_cast<double>(results.size());
}

}  // namespace

TableKind table_kind(const CsvTable& table) {
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
  table.reject_misspelt_columns(known);
  fail_input(fmt::format(
      "{}:1: the header is of no kind of measurements that is known. Columns by which one is "
      "recognised{}",
      table.name, kinds));
}

std::span<const std::string_view> prediction_error_group_keys(TableKind kind) {
  static constexpr std::string_view kOfRuns[] = {"source", "device", "framework", "scheme"};
  static constexpr std::string_view kOfOperators[] = {"source", "device", "operator", "direction",
                                                      "size"};
  static constexpr std::string_view kOfCollectives[] = {"source", "device", "operation", "layout",
                                                        "size"};
  static constexpr std::string_view kOfMessages[] = {"library", "operation", "layout", "size"};
  static constexpr std::string_view kOfLaunches[] = {"quantity", "device", "model", "scheme"};
  if (kind == TableKind::kLaunches) return kOfLaunches;
  if (kind == TableKind::kOwnMessages) return kOfMessages;
  if (kind == TableKind::kOperatorSamples) return kOfOperators;
  if (kind == TableKind::kCollectiveSamples) return kOfCollectives;
  return kOfRuns;
}

Validation validate(const CsvTable& table, const ValidationOptions& options) {
  Validation validation{.kind = table_kind(table), .rows = table.rows.size()};
  const bool of_runs =
      validation.kind == TableKind::kTrainingRuns || validation.kind == TableKind::kMemory;
  if (of_runs) table.reject_misspelt_columns(run_table_columns());
  if (validation.kind == TableKind::kLaunches)
    table.reject_misspelt_columns(launch_table_columns());
  check_options(table, validation.kind, options);
  const CsvTable asked = of_tiers(table, options.tier, validation.skipped);
  std::vector<RowOutcome> outcomes = outcomes_of(asked, options, validation);
  table.require_table_rows();
  ErrorTables errors(prediction_error_group_keys(validation.kind).size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    for (const RowPredictionResult& result : outcomes[i].results) errors.add(i, result);
    add_outcome(validation, outcomes[i], asked.rows[i].line);
  }
  errors.write(validation);
  if (validation.kind == TableKind::kTrainingRuns) {
    validation.choices = plan_choice_quality(validation.results);
    validation.inside_interval = inside_interval(validation.results);
  }
  return validation;
}

}  // namespace stepwright::validate
