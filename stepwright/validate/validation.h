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

/// The kind of a table of published measurements.
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

/// The kind of a table, by the columns that only it has. Fails with `kInput`, naming the columns of
/// each kind, when it is none.
TableKind table_kind(const CsvTable& table);

/// The keys by which the errors of a kind of table are grouped: "source", "device", ...
std::span<const std::string_view> error_groups(TableKind kind);

/// Rows that were skipped for one reason.
struct SkippedRows {
  std::size_t count = 0;
  std::string first;  ///< The line of the first one, and what is so there.
};

/// How many fits / out-of-memory labels a prediction gets right.
struct LabelCount {
  std::size_t right = 0;
  std::size_t wrong = 0;
  /// Labels right where the prediction is more than 5 % away from the capacity.
  std::size_t clear_right = 0;
  std::size_t clear_wrong = 0;
  std::size_t fits_called_oom = 0;
  std::size_t oom_called_fits = 0;
  /// Labels that no model can all get right, which are not counted above: a row that did not fit
  /// and one that needs as much or more and did (their ids).
  std::vector<std::pair<std::string, std::string>> contradictory;
};

struct Validation {
  TableKind kind{};
  std::size_t rows = 0;
  std::size_t used = 0;
  std::map<std::string, SkippedRows> skipped;   ///< Skipped rows, by reason.
  std::map<std::string, SkippedRows> left_out;  ///< Single measurements of used rows, by reason.
  /// Errors of all rows; `used` counts rows, as in the groups.
  ErrorStatistics errors;
  /// Groups of errors, as in `error_groups`.
  std::vector<std::map<std::string, ErrorStatistics>> groups;
  std::vector<RowResult> results;  ///< Results in file order.
  std::optional<LabelCount> labels;
  std::optional<Choices> choices;  ///< Choices among runs of one job.
  /// The share of runs that were measured inside the interval of 80 % of their prediction.
  std::optional<double> inside_interval;
};

struct ValidationOptions {
  std::string profile;     ///< Take every row to be of this machine, a name or a file.
  std::string tier;        ///< Use rows of these tiers only ("A", "AB"); empty: all.
  std::string conditions;  ///< A file of conditions of training instead of the built-in ones.
  int threads = 1;
};

/// Predicts every row of a table by the ordinary path (runs and memory: job, plan, program, cost,
/// simulation; operators and collectives: their cost alone) and compares. Rows that cannot be
/// expressed are skipped with a reason. Runs are predicted in parallel; the result does not depend
/// on the number of threads. Fails with `kInput` when the table is of no known kind, when its rows
/// name no machine, or when the machine of the options is unknown.
Validation validate(const CsvTable& table, const ValidationOptions& options);

/// The answer of `stepwright validate --json` (docs/formats.md, "Validation").
nlohmann::ordered_json validation_json(const Validation& validation);

}  // namespace stepwright::validate
