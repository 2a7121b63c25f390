#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/core/named.h"
#include "stepwright/validate/error_table.h"

namespace stepwright {

/// What a table of published measurements holds.
enum class TableKind : std::uint8_t { kTrainingRuns, kMemory, kOperators, kCollectives };
inline constexpr Named<TableKind> kTableKindNames[] = {{TableKind::kTrainingRuns, "training_runs"},
                                                       {TableKind::kMemory, "memory"},
                                                       {TableKind::kOperators, "operators"},
                                                       {TableKind::kCollectives, "collectives"}};

/// The kind of a table, by the columns that only it has. Fails with `kInput`, naming the columns of
/// each kind, when it is none.
TableKind table_kind(const CsvTable& table);

/// One row that was predicted.
struct RowResult {
  std::string id;
  double predicted = 0;  ///< Seconds; bytes of memory.
  double measured = 0;
  double error = 0;  ///< predicted / measured - 1.
  /// What the prediction consists of: seconds by term ("compute", "bubble", ...), bytes by kind.
  std::vector<std::pair<std::string_view, double>> terms;
  std::vector<std::string> notes;
  std::array<std::string, 4> groups;  ///< One word for each of `kErrorGroups`.
  [[nodiscard]] std::string_view largest_term() const;
};
inline constexpr std::string_view kErrorGroups[] = {"by_source", "by_device", "by_framework",
                                                    "by_scheme"};

/// How many fits / out-of-memory labels a prediction gets right.
struct LabelCount {
  std::size_t right = 0;
  std::size_t wrong = 0;
  /// The same where the prediction is more than 5 % away from the capacity.
  std::size_t clear_right = 0;
  std::size_t clear_wrong = 0;
  std::size_t fits_called_oom = 0;
  std::size_t oom_called_fits = 0;
  /// Labels that no model can all get right: a row that did not fit while one that needs at least
  /// as much did (their ids, in pairs).
  std::vector<std::pair<std::string, std::string>> contradictory;
};

struct Validation {
  TableKind kind{};
  std::size_t rows = 0;
  std::size_t used = 0;
  std::map<std::string, std::size_t> skipped;  ///< By reason.
  ErrorStatistics errors;
  std::array<std::map<std::string, ErrorStatistics>, std::size(kErrorGroups)> groups;
  std::vector<RowResult> results;  ///< In file order.
  std::optional<LabelCount> labels;
};

struct ValidationOptions {
  std::string profile;     ///< Use rows of this built-in cluster only; empty: all.
  std::string tier;        ///< Use rows of these tiers only ("A", "AB"); empty: all.
  std::string conditions;  ///< A file of conditions of training instead of the built-in ones.
  int threads = 1;
};

/// Predicts every row of a table by the ordinary path (job, plan, program, cost, simulation) and
/// compares. Rows that cannot be expressed are skipped with a reason. Rows are predicted in
/// parallel; the result does not depend on the number of threads. Fails with `kInput` when the
/// table is of no known kind, with `kUnsupported` for kinds that nothing covers yet.
Validation validate(const CsvTable& table, const ValidationOptions& options);

/// What `stepwright validate --json` prints (docs/formats.md, "Validation").
nlohmann::ordered_json validation_json(const Validation& validation);

}  // namespace stepwright
