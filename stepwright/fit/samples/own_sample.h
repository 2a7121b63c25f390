#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/profiles/measured_profile.h"

namespace stepwright::fit {

/// A message that `stepwright sample collectives` timed.
struct MessageSample {
  /// Algorithm of the schedule that was timed; nullopt: c10d's Gloo.
  std::optional<collective::Algorithm> method;
  double chunk_bytes = 0;  ///< Bytes of a chunk of the schedule.
  collective::Collective operation{};
  cost::SocketGroup group;
  double payload_bytes = 0;
  double seconds = 0;
  std::string file;
  std::size_t line = 0;
};

/// A computation that `stepwright sample operators` timed.
struct ComputationSample {
  step::OperatorKind kind{};
  step::Phase phase{};
  DType dtype{};
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
  std::size_t line = 0;
};

/// A computation and messages, timed by `stepwright sample overlap` alone and together.
struct OverlapSample {
  cost::LinkClass link{};
  double computation_s = 0;
  double message_s = 0;
  double together_s = 0;
};

/// The samples of tables that a person measured on the own cluster.
struct OwnSamples {
  std::vector<MessageSample> messages;
  std::vector<ComputationSample> computations;
  std::vector<OverlapSample> overlaps;
};

/// True if a table is one of own samples.
bool holds_own_samples(const CsvTable& table);

/// Fails with `kInput` if a table that is none of own samples has a column whose name is nearly one
/// of theirs.
void refuse_misspelt_own(const CsvTable& table);

/// Adds the rows of a table of own samples. Fails with `kInput`, naming file, line and column, for
/// a word that docs/formats.md does not list or a number that no measured profile allows, and for a
/// table without rows.
void read_own_samples(const CsvTable& table, OwnSamples& samples);

}  // namespace stepwright::fit
