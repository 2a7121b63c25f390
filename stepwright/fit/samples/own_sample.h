#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/profiles/measured_profile.h"

namespace stepwright::fit {

/// A collective that `stepwright sample collectives` timed on a user's own cluster.
struct OwnCollectiveSample {
  /// Algorithm of the explicit schedule of sends with which this project's process group ran the
  /// collective; nullopt: Gloo of torch.distributed ran it.
  std::optional<collective::CollectiveAlgorithm> method;
  /// Bytes of a chunk into which the explicit schedule of sends cuts the payload.
  double chunk_bytes = 0;
  collective::CollectiveOperation operation{};
  cost::GroupNodePlacement group;
  double payload_bytes = 0;
  double seconds = 0;
  std::string file;
  std::size_t line = 0;
};

/// A computation that `stepwright sample operators` timed on a user's own cluster.
struct OwnComputationSample {
  step::OperatorKind kind{};
  step::Phase phase{};
  DType dtype{};
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
  std::size_t line = 0;
};

/// A computation and messages on one class of links, timed by `stepwright sample overlap` alone and
/// together.
struct OwnOverlapSample {
  cost::LinkClass link{};
  double computation_s = 0;
  double message_s = 0;
  double together_s = 0;
};

/// The samples of messages, computations and overlap that a user measured on the own cluster.
struct OwnClusterSamples {
  std::vector<OwnCollectiveSample> messages;
  std::vector<OwnComputationSample> computations;
  std::vector<OwnOverlapSample> overlaps;
};

/// True if a table holds samples that a user measured on the own cluster: messages, computations or
/// overlap.
bool table_has_own_cluster_timings(const CsvTable& table);

/// Fails with `kInput` if a table is probably one of a user's own samples with a misspelt header:
/// its columns are those of no such table, but one has nearly the name of such a column.
void refuse_misspelt_own_samples(const CsvTable& table);

/// Adds the rows of a table that a user measured on the own cluster to `samples`. Fails with
/// `kInput`, naming file, line and column, for a word that docs/formats.md does not list or a
/// number that no measured profile allows, and for a table without rows.
void read_own_cluster_samples(const CsvTable& table, OwnClusterSamples& samples);

}  // namespace stepwright::fit
