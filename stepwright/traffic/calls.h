#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/wire.h"
#include "stepwright/step/program.h"

namespace stepwright::traffic {

/// The algorithms that carry the messages of a step: the plan's algorithm for a message if it suits
/// the group's placement on the cluster, else the library's. Null cluster: always the library's.
struct MessageCarriers {
  const cluster::Cluster* cluster = nullptr;
  plan::Collectives collectives;
};

/// A communication operator of a stage, and how often one rank performs it in a step.
struct Call {
  const step::Operator* op = nullptr;  ///< Operator in the program, which must outlive the call.
  std::int64_t count = 0;
  /// Ranks of the group; 2 for transfers between pipeline neighbours.
  std::int64_t group_size = 1;
  std::int64_t to = -1;  ///< Pipeline position that receives a send; -1: no send.
  collective::Algorithm algorithm =
      /// Algorithm that carries the call; it covers the operation and suits the group.
      collective::Algorithm::kLibrary;
  /// Shape of the group; set if the algorithm is not the library's.
  collective::GroupNodeLayout form;
};

/// Returns the calls of one rank of a stage, template by template. Operators whose group has no
/// other rank are left out: a group of one, or, on the middle positions of a pipeline, the group
/// that shares a tied embedding table.
std::vector<Call> rank_calls(const step::StepProgram& program, const step::Stage& stage,
                             const plan::Grid& grid, const MessageCarriers& carriers);

/// Returns the bytes that a rank sends in one call, averaged over its group; 0 for a receive.
double sent_bytes(const Call& call);

}  // namespace stepwright::traffic
