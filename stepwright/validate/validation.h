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

/// The kinds of tables of published measurements.
enum class TableKind : std::uint8_t {
  kTrainingRuns,
  kMemory,
  kOperatorSamples,
  kCollectiveSamples,
  kOwnMessages,
  kLaunches
};
inline constexpr Named<TableKind> kTableKindNames[] = {
    {TableKind::kTrainingRuns, "training_runs"}, {TableKind::kMemory, "memory"},
    {TableKind::kOperatorSamples, "operators"},  {TableKind::kCollectiveSamples, "collectives"},
    {TableKind::kOwnMessages, "messages"},       {TableKind::kLaunches, "launches"}};

/// Recognises the kind of a table by columns that only this kind has. Fails with `kInput`, naming
/// the columns of each kind, if it is none.
TableKind table_kind(const CsvTable& table);

/// Returns the keys by which errors of a kind of table are grouped: "source", "device", ...
std::span<const std::string_view> error_groups(TableKind kind);

/// Rows that were skipped for one reason.
struct SkippedRows {
  std::size_t count = 0;
  std::string first;  ///< Line of the first such row, and the detail of its reason.
};

/// Number of labels (fitted, or out of memory) that predictions get right.
struct LabelCount {
  std::size_t right = 0;
  std::size_t wrong = 0;
  /// Labels predicted right among those whose predicted peak is more than 5 % away from the
  /// capacity.
  std::size_t clear_right = 0;
  std::size_t clear_wrong = 0;
  std::size_t fits_called_oom = 0;
  std::size_t oom_called_fits = 0;
  /// Pairs of ids of contradictory labels, which are not counted above: a run that did not fit, and
  /// one that needs at least as much memory but did.
  std::vector<std::pair<std::string, std::string>> contradictory;
};

struct Validation {
  TableKind kind{};
  std::size_t rows = 0;
  std::size_t used = 0;
  std::map<std::string, SkippedRows> skipped;   ///< Skipped rows by reason.
  std::map<std::string, SkippedRows> left_out;  ///< Unused measurements of used rows, by reason.
  /// Error statistics of all rows; `used` counts rows, also in `groups`.
  ErrorStatistics errors;
  /// Error statistics by value, for each key in `error_groups`.
  std::vector<std::map<std::string, ErrorStatistics>> groups;
  std::vector<RowResult> results;  ///< Results in the order of the file.
  std::optional<LabelCount> labels;
  /// Quality of the choices among runs of one job; nullopt: the table has no runs.
  std::optional<PlanChoiceQuality> choices;
  /// Share of runs whose measured step is inside the 80 % interval of the prediction; nullopt: the
  /// table has no runs.
  std::optional<double> inside_interval;
};

struct ValidationOptions {
  std::string profile;  ///< Machine of all rows, a name or a file; empty: each row names its own.
  std::string tier;     ///< Tiers of the rows to use ("A", "AB"); empty: all rows.
  std::string conditions;  ///< File of training conditions; empty: the built-in ones.
  int threads = 1;
};

/// Predicts every row of a table in the usual way (runs and memory: job, plan, program, cost,
/// simulation; operators and collectives: their cost alone) and compares it with the measurement.
/// Rows that no job or plan can express are skipped with a reason. Runs are predicted in parallel;
/// the result does not depend on the number of threads. Fails with `kInput` if the table is of no
/// known kind, if its rows name no machine, or if the machine in the options is unknown.
Validation validate(const CsvTable& table, const ValidationOptions& options);

/// Returns the answer of `stepwright validate --json` (docs/formats.md, "Validation").
nlohmann::ordered_json validation_json(const Validation& validation);

}  // namespace stepwright::validate
