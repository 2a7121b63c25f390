#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/wire.h"
#include "stepwright/step/program.h"

namespace stepwright::traffic {

/// Which algorithms carry the messages of a step: those that the plan chooses, where they suit a
/// group's placement on `cluster`, else the communication library's. Null `cluster`: always the
/// library's.
struct MessageAlgorithmChoice {
  const cluster::Cluster* cluster = nullptr;
  plan::CollectiveAlgorithmChoices collectives;
};

/// A communication operator of a pipeline stage, and how often one rank performs it in a step.
struct StageCommunicationCall {
  /// The operator, owned by the step program, which must outlive this.
  const step::Operator* op = nullptr;
  std::int64_t count = 0;
  /// Number of ranks in the group; 2 for transfers between pipeline stages.
  std::int64_t group_size = 1;
  std::int64_t to = -1;  ///< Index of the pipeline stage that receives a send; -1: not a send.
  /// Collective algorithm that carries the call; it supports the operation and the group's
  /// placement.
  collective::CollectiveAlgorithm algorithm = collective::CollectiveAlgorithm::kLibrary;
  /// How many of the group's ranks are on each node; set only if the algorithm is not the
  /// library's.
  collective::GroupNodeLayout form;
};

/// Returns the communication calls of one rank of a stage in a step. Calls in which the rank has no
/// partner are left out: groups of one, and on middle pipeline stages the group that shares a tied
/// embedding table.
std::vector<StageCommunicationCall> rank_communication_calls(
    const step::StepProgram& program, const step::PipelineStageProgram& stage,
    const plan::RankGrid& grid, const MessageAlgorithmChoice& carriers);

/// Returns the bytes that a rank sends in one call, averaged over the ranks of its group; 0 for a
/// receive.
double sent_bytes(const StageCommunicationCall& call);

}  // namespace stepwright::traffic
