#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/wire.h"
#include "stepwright/step/program.h"

namespace stepwright::traffic {

/// The carriers of the messages of a step: the plan's algorithms, where they suit the groups as
/// they lie on the cluster; without a cluster the library all of them.
struct Carriers {
  const cluster::Cluster* cluster = nullptr;
  plan::Collectives collectives;
};

/// A communication operator of a stage and how often one rank performs it in a step.
struct Call {
  const step::Operator* op = nullptr;  ///< Operator of the program, which outlives the call.
  std::int64_t count = 0;
  std::int64_t group_size = 1;  ///< 2 for transfers between pipeline neighbours.
  std::int64_t to = -1;         ///< Pipeline position that receives a send.
  collective::Algorithm algorithm =
      collective::Algorithm::kLibrary;  ///< Covers the operation and suits the group.
  /// Form of the group; known where the algorithm is not the library's.
  collective::GroupForm form;
};

/// The calls of one rank of a stage, template by template; what has nobody to talk to is no call: a
/// group of one, a tied table's group between the ends of the pipeline.
std::vector<Call> calls_of(const step::StepProgram& program, const step::Stage& stage,
                           const plan::Grid& grid, const Carriers& carriers);

/// The bytes that a rank sends in one call, in the mean over its group; 0 for a receive.
double sent_bytes(const Call& call);

}  // namespace stepwright::traffic
