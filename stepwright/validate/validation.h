#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/core/named.h"
#include "stepwright/validate/choices.h"
#include "stepwright/validate/error_table.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// The kinds of tables of measurements with which predictions are compared.
enum class MeasurementTableKind : std::uint8_t {
  kTrainingRuns,
  kMemory,
  kOperatorSamples,
  kCollectiveSamples,
  kOwnMessages,
  kLaunches
};
inline constexpr Named<MeasurementTableKind> kTableKindNames[] = {
    {MeasurementTableKind::kTrainingRuns, "training_runs"},
    {MeasurementTableKind::kMemory, "memory"},
    {MeasurementTableKind::kOperatorSamples, "operators"},
    {MeasurementTableKind::kCollectiveSamples, "collectives"},
    {MeasurementTableKind::kOwnMessages, "messages"},
    {MeasurementTableKind::kLaunches, "launches"}};

/// Returns the kind of a table of measurements, recognised by columns that only this kind has.
/// Fails with `kInput`, listing the columns of each kind.
MeasurementTableKind measurement_table_kind(const CsvTable& table);

/// Returns the keys by which prediction errors are grouped for a kind of table: "source", "device",
/// ...
std::span<const std::string_view> prediction_error_group_keys(MeasurementTableKind kind);

/// Number of rows that were skipped for one reason, with details of the first such row.
struct SkippedRows {
  std::size_t count = 0;
  /// Line number of the first row that was skipped for this reason, and the details of its reason.
  std::string first;
};

/// Numbers of rows for which predictions are right about whether the run fitted in memory.
struct MemoryFitLabelCounts {
  std::size_t right = 0;
  std::size_t wrong = 0;
  /// Rows predicted right, among those whose predicted peak differs from the capacity by more than
  /// 5 %.
  std::size_t clear_right = 0;
  std::size_t clear_wrong = 0;
  std::size_t fits_called_oom = 0;
  std::size_t oom_called_fits = 0;
  /// Pairs of ids of rows that contradict each other and are not counted: a run that did not fit in
  /// memory, and one that needs at least as much but fitted.
  std::vector<std::pair<std::string, std::string>> contradictory;
};

struct Validation {
  MeasurementTableKind kind{};
  std::size_t rows = 0;
  std::size_t used = 0;
  /// Rows of the table that were skipped, by reason.
  std::map<std::string, SkippedRows> skipped;
  /// Measurements that were not used although another measurement of their row was, by reason.
  std::map<std::string, SkippedRows> left_out;
  /// Statistics of the prediction errors of all rows; `used` counts rows, also in `groups`.
  ErrorStatistics errors;
  /// Statistics of the prediction errors for each key in `prediction_error_group_keys` ("device"),
  /// by the rows' value of that key ("H100").
  std::vector<std::map<std::string, ErrorStatistics>> groups;
  /// Predictions compared with measurements, in the order of the rows in the table's file.
  std::vector<TableRowPrediction> results;
  std::optional<MemoryFitLabelCounts> labels;
  /// How well predictions choose the fastest plan of a job; nullopt: the table has no training
  /// runs.
  std::optional<PlanChoiceQuality> choices;
  /// Share of training runs whose measured step time is inside the predicted 80 % interval;
  /// nullopt: the table has no training runs.
  std::optional<double> inside_interval;
};

struct ValidationOptions {
  /// Machine on which all rows of the table were measured, a name or a file; empty: each row names
  /// its own.
  std::string profile;
  /// Quality tiers of the rows to use ("A", "AB"), from the column `tier`; empty: all rows.
  std::string tier;
  /// Path of a file of training conditions (fitted constants of devices and frameworks) with which
  /// rows are predicted; empty: the built-in ones.
  std::string conditions;
  int threads = 1;
};

/// Predicts every row of a table of measurements and compares prediction and measurement. Rows that
/// no job or plan can express are skipped with a reason. The result does not depend on the number
/// of threads. Fails with `kInput` if the kind of table or the machine is unknown, or if no row
/// names a machine.
Validation compare_predictions_to_measurements(const CsvTable& table,
                                               const ValidationOptions& options);

/// Returns the JSON document that `stepwright validate --json` prints (docs/formats.md,
/// "Validation").
nlohmann::ordered_json validation_json(const Validation& validation);

}  // namespace stepwright::validate
