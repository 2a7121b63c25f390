#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/profiles/measured_profile.h"

namespace stepwright::fit {

/// A message that `stepwright sample collectives` timed.
struct MessageSample {
  std::optional<collective::Algorithm> method;  ///< Method of a schedule; nullopt: c10d's Gloo.
  double chunk_bytes = 0;                       ///< Bytes of a schedule's chunk.
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

/// A computation and messages, each alone and both at once, as `stepwright sample overlap` timed
/// them.
struct OverlapSample {
  cost::LinkClass link{};
  double computation_s = 0;
  double message_s = 0;
  double together_s = 0;
};

/// The content of tables of own samples.
struct OwnSamples {
  std::vector<MessageSample> messages;
  std::vector<ComputationSample> computations;
  std::vector<OverlapSample> overlaps;
};

/// Whether a table is one of them.
bool holds_own_samples(const CsvTable& table);

/// Fails with `kInput` where a table that is none of them has a column that is nearly one of
/// theirs.
void refuse_misspelt_own(const CsvTable& table);

/// Adds the rows of such a table. Fails with `kInput`, naming file, line and column, for what is no
/// word of docs/formats.md or a number that no measured profile holds, and for a table without
/// rows.
void read_own_samples(const CsvTable& table, OwnSamples& samples);

}  // namespace stepwright::fit
