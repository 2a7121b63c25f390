#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::phases {

/// Transfer of updated weights to the generating devices, as two messages that a library carries
/// out one after the other.
struct WeightSync {
  /// Bytes of one copy: all weights in their stored type, or only adapters.
  double bytes = 0;
  double held_bytes = 0;  ///< Bytes of weights that a generating device holds.
  /// Seconds to gather weights among the training devices: each needs the part that it sends to
  /// rollout devices or keeps for its own generation.
  double gather_s = 0;
  /// Seconds of the broadcast to devices that only generate; 0: there are none.
  double broadcast_s = 0;

  [[nodiscard]] double seconds() const { return gather_s + broadcast_s; }
};

/// Returns the weight transfer of a plan whose job has a rollout; `whole`: the cluster with all
/// devices, also those that only generate. Devices that train and generate gather the weights that
/// one of `tensor` generating devices holds from the ranks with shards of them (tensor and expert
/// ranks, ranks that share parameters, pipeline positions). Devices that only generate get the
/// whole model, gathered by the training ranks, along a ring of all devices: verl and NeMo-RL do
/// this by an NCCL broadcast, weight by weight.
WeightSync weight_sync(const plan::PlannedJob& planned, const step::StepProgram& program,
                       const cluster::Cluster& whole);

}  // namespace stepwright::phases
