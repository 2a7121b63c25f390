#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "stepwright/core/csv.h"

namespace stepwright {

/// One published training run or memory peak as its row states it. Numbers that a row leaves empty
/// are absent; words are empty then. Spelling is the source's.
struct RunRow {
  std::size_t line = 0;    ///< In the file, from 1.
  std::string id, source;  ///< `RowName`.
  std::string tier;

  std::string cluster;  ///< A cluster profile or its file, instead of what `gpu` and notes say.
  std::string gpu;
  std::string network;  ///< `inter_node_net_note`.
  std::string framework;
  std::string model;
  std::string moe;
  std::string precision;
  std::string sequence_parallel;
  std::string sharding;  ///< `zero_stage_or_fsdp`.
  std::string recompute;
  std::string notes;        ///< `overlap_notes`: kernels, overlap, schedules.
  std::string source_note;  ///< Where in the source, release, remarks.

  std::optional<std::int64_t> year;
  std::optional<std::int64_t> gpus, gpus_per_node;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, ffn, vocabulary, length;
  std::optional<std::int64_t> global_batch, micro_batch;
  std::optional<std::int64_t> tensor, pipeline, chunks, context, expert, data;
  std::optional<double> parameters_1e9;

  // Training runs.
  std::string metric;  ///< `measured_metric`.
  std::string convention;
  std::optional<double> measured;
  std::string outcome;          ///< Of a person's own run: ok, oom, failed.
  std::optional<double> trust;  ///< Of a person's own run, at most 1.
  // Memory.
  std::string memory_kind;
  std::optional<double> memory_gib;
};

/// Why a row is not used; equal reasons are counted together.
struct Skipped {
  std::string reason;
  std::string detail = {};  ///< What is so in this row, for people.
};

/// What a row goes by.
struct RowName {
  std::string id;      ///< Its line, when the row has none.
  std::string source;  ///< The id without its number; else the host of `source_url`; else the file.
};
RowName row_name(const CsvTable& table, const CsvRow& row);

/// The column `cluster`: a name, or the path of a file, which is relative to the table's when it is
/// there. Empty when the row names none.
std::string named_profile(const CsvTable& table, const CsvRow& row);

/// The row as numbers and words, or why it cannot be one: a number that is none, not finite, or not
/// above zero.
std::variant<RunRow, Skipped> read_run_row(const CsvTable& table, const CsvRow& row);

/// "aleph_layouts" of "aleph_layouts-0001", the whole of an id without a number at its end.
std::string source_of(const std::string& id);

}  // namespace stepwright
