#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stepwright/core/csv.h"

namespace stepwright::validate {

inline constexpr double kGib = 1024.0 * 1024.0 * 1024.0;  ///< Bytes of a GiB.

/// One published training run or memory peak as its row states it. Numbers that a row leaves empty
/// are absent; words are empty then. Spelling is the source's.
struct RunRow {
  std::size_t line = 0;    ///< Line in the file, from 1.
  std::string id, source;  ///< Names of the row (`RowName`).
  std::string tier;

  std::string folder;   ///< Folder of the table, from which its paths start.
  std::string cluster;  ///< A cluster profile or its file, instead of what `job` says.
  std::string gpu;
  std::string model;
  std::string job, plan;  ///< Mappings in the words of job and plan files.
  std::string no_plan;    ///< Why no plan says what the row ran.
  /// Setup of the machine, where its source says that another's do not compare.
  std::string setup;

  std::optional<std::int64_t> gpus;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, ffn, vocabulary, length;
  std::optional<std::int64_t> global_batch, micro_batch;
  std::optional<std::int64_t> tensor, pipeline, chunks, context, expert;

  // Training runs.
  std::string metric;  ///< Column `measured_metric` of the row.
  std::string flops;   ///< FLOPs of the metric: a word of `kFlopCountNames`; empty for `model`.
  std::optional<double> measured;
  std::string outcome;          ///< Outcome of a person's own run: ok, oom, failed.
  std::optional<double> trust;  ///< Weight of a person's own run, at most 1.
  // Memory.
  std::string peak;     ///< A word of `kPeakKindNames`.
  std::string peak_of;  ///< Rank of the peak: `least`; empty for the one that holds most.
  std::optional<double> memory_gib;
};

/// Why a row is not used; equal reasons are counted together.
struct Skipped {
  std::string reason;
  std::string detail = {};  ///< Detail of this row, for people.
};

/// The names by which a row goes.
struct RowName {
  std::string id;      ///< Id of the row; its line, when it has none.
  std::string source;  ///< The id without its number; else the host of `source_url`; else the file.
};
RowName row_name(const CsvTable& table, const CsvRow& row);

/// The text of a column without spaces around it; empty where the table has no such column.
std::string_view cell(const CsvTable& table, const CsvRow& row, std::string_view title);

/// A finite number above zero that is the whole text.
std::optional<double> positive_number(std::string_view text);

/// The column `cluster`: a name, or the path of a file, which is relative to the table's when it is
/// there. Empty when the row names none.
std::string named_profile(const CsvTable& table, const CsvRow& row);

/// The columns of runs and memory that are read, and those that sources fill with prose.
std::vector<std::string_view> run_columns();

/// The row as numbers and words, or why it cannot be one: a number that is none, not finite, or not
/// above zero; prose without its translation (`tools/data/row_words.py`).
std::variant<RunRow, Skipped> read_run_row(const CsvTable& table, const CsvRow& row);

/// "aleph_layouts" of "aleph_layouts-0001", the whole of an id without a number at its end.
std::string source_of(const std::string& id);

}  // namespace stepwright::validate
