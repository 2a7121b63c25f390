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

/// One published training run or memory peak, as its row gives it. Empty cells are nullopt
/// (numbers) or empty (texts). Spelling is that of the source.
struct RunRow {
  std::size_t line = 0;    ///< Line of the row in its file, from 1.
  std::string id, source;  ///< Id of the row and its source (`RowName`).
  std::string tier;

  std::string folder;  ///< Folder of the table, to which its paths are relative.
  /// Cluster profile or cluster file that replaces the job's cluster; empty: none.
  std::string cluster;
  std::string gpu;
  std::string model;
  std::string job, plan;  ///< Mappings with keys of job and plan files, laid over the columns.
  std::string no_plan;    ///< Reason why no plan can describe the run; empty: a plan can.
  /// Setup of the machine, if the source says that runs on other machines are not comparable; empty
  /// otherwise.
  std::string setup;

  std::optional<std::int64_t> gpus;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, ffn, vocabulary, length;
  std::optional<std::int64_t> global_batch, micro_batch;
  std::optional<std::int64_t> tensor, pipeline, chunks, context, expert;

  // Training runs.
  std::string metric;  ///< Value of the column `measured_metric`.
  /// How the source counts FLOPs: a word of `kFlopCountNames`; empty means `model`.
  std::string flops;
  std::optional<double> measured;
  std::string outcome;          ///< Outcome of a user's own run: ok, oom, failed.
  std::optional<double> trust;  ///< Weight of a user's own run, at most 1; nullopt: not given.
  // Memory.
  std::string peak;     ///< Measure of the memory peak: a word of `kPeakKindNames`.
  std::string peak_of;  ///< Rank of the memory peak: `least`; empty: the rank with the most memory.
  std::optional<double> memory_gib;
};

/// Reason why a row is not used; rows with equal reasons are counted together.
struct Skipped {
  std::string reason;
  std::string detail = {};  ///< Details about this row, for people.
};

/// The id and the source under which a row is reported.
struct RowName {
  std::string id;  ///< Id of the row; its line number if the table has no ids.
  /// Id without its number; if there is no id, the host of `source_url`; if there is none, the
  /// file.
  std::string source;
};
RowName row_name(const CsvTable& table, const CsvRow& row);

/// Returns the text of a row's cell without surrounding spaces; empty if the table lacks the
/// column.
std::string_view cell(const CsvTable& table, const CsvRow& row, std::string_view title);

/// Returns the finite number above zero that the whole text is; nullopt if it is not one.
std::optional<double> positive_number(std::string_view text);

/// Returns the column `cluster`: a profile name, or the path of a file, relative to the table's
/// folder if the file exists there. Empty: the row names no cluster.
std::string named_profile(const CsvTable& table, const CsvRow& row);

/// Returns the columns of run and memory tables that are read, including those in which sources
/// write prose.
std::vector<std::string_view> run_columns();

/// Reads a row's numbers and words, or returns the reason why it is skipped: a number that is not
/// finite or not above zero, or prose that has no translation (`tools/data/row_words.py`).
std::variant<RunRow, Skipped> read_run_row(const CsvTable& table, const CsvRow& row);

/// Returns an id without the number at its end: "aleph_layouts" for "aleph_layouts-0001"; ids
/// without a number are returned whole.
std::string source_of(const std::string& id);

}  // namespace stepwright::validate
