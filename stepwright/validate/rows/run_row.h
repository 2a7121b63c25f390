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

inline constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;  ///< Number of bytes in a GiB.

/// One published training run or memory peak, as a table's row states it. Empty cells are nullopt
/// (numbers) or empty (texts); words are spelled as in the source.
struct PublishedRunRow {
  std::size_t line = 0;    ///< Line number of the row in its file, from 1.
  std::string id, source;  ///< Id of the row, and the name of the source that it comes from.
  std::string tier;

  std::string folder;  ///< Folder of the table, against which paths in it are resolved.
  /// Cluster profile or cluster file that replaces the job's cluster; empty: none.
  std::string cluster;
  std::string gpu;
  std::string model;
  /// Mappings with keys of job and plan files, which override the row's other columns; empty: none.
  std::string job, plan;
  /// Reason why no plan can describe the run, if the row states one; empty: a plan can.
  std::string no_plan;
  /// Name of the machine's setup, if the source says that runs on different machines are not
  /// comparable; else empty.
  std::string setup;

  std::optional<std::int64_t> gpus;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, ffn, vocabulary, length;
  std::optional<std::int64_t> global_batch, micro_batch;
  std::optional<std::int64_t> tensor, pipeline, chunks, context, expert;

  // Training runs.
  std::string metric;  ///< Name of the measured quantity, from the column `measured_metric`.
  /// How the source counts FLOPs: a word of `kFlopCountNames`; empty: `model`.
  std::string flops;
  std::optional<double> measured;
  /// Outcome of a user's own run: ok, oom (out of memory) or failed; empty: not stated.
  std::string outcome;
  /// Weight of a user's own run in learning, at most 1; nullopt: not given.
  std::optional<double> trust;
  // Memory.
  std::string peak;  ///< Which memory peak the row states: a word of `kPeakKindNames`.
  /// Rank on which the memory peak was measured: `least`: the one that needs the least memory;
  /// empty: the one that needs the most.
  std::string peak_of;
  std::optional<double> memory_gib;
};

/// Reason why a row is not used; rows with equal reasons are counted together in reports.
struct SkippedRowReason {
  std::string reason;
  /// Details about the skipped row for the user, which may differ between rows with equal reasons.
  std::string detail = {};
};

/// The id and the source under which a table's row is reported.
struct TableRowName {
  /// Id of the table's row; if the table has no ids, the row's line number.
  std::string id;
  /// Id without the number at its end; if there is no id, the host in `source_url`; else the file's
  /// name.
  std::string source;
};
TableRowName row_name(const CsvTable& table, const CsvRow& row);

/// Returns the text in column `title` of a row, without surrounding spaces; empty if the table
/// lacks the column.
std::string_view cell(const CsvTable& table, const CsvRow& row, std::string_view title);

/// Returns a text as a finite number above zero; nullopt if the whole text is not such a number.
std::optional<double> positive_number(std::string_view text);

/// Returns the cluster that a row names in its column `cluster`: a profile, or the path of a file
/// (looked up in the table's folder first). Empty: none.
std::string cluster_named_by_row(const CsvTable& table, const CsvRow& row);

/// Returns the names of all columns that tables of runs and memory may have, including those with
/// prose.
std::vector<std::string_view> measured_run_table_columns();

/// Reads the numbers and words of a table's row, or returns the reason why it is skipped: a number
/// that is not finite or not above zero, or prose without a translation
/// (`tools/data/row_words.py`).
std::variant<PublishedRunRow, SkippedRowReason> read_measured_run_row(const CsvTable& table,
                                                                      const CsvRow& row);

/// Returns a row's id without the number at its end: "aleph_layouts" for "aleph_layouts-0001". An
/// id without a number is returned whole.
std::string row_id_without_number(const std::string& id);

}  // namespace stepwright::validate
