#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::phases {

/// The way of updated weights to the devices that generate, as two messages that a library carries
/// out one after the other.
struct WeightSync {
  /// Bytes of one copy: all weights as they are stored, or adapters alone.
  double bytes = 0;
  double held_bytes = 0;  ///< Bytes of the weights that a device that generates holds.
  /// Seconds among the devices that train: each gets what it hands on or holds.
  double gather_s = 0;
  double broadcast_s = 0;  ///< Seconds to devices that generate and do not train.

  [[nodiscard]] double seconds() const { return gather_s + broadcast_s; }
};

/// Way of the weights for a plan whose job has a rollout; `whole`: the cluster with all devices,
/// those that generate included. Devices that do both gather what one of `tensor` holds from the
/// ranks that have parts of it (tensor and expert ranks, those that share parameters, pipeline
/// positions). Others get the whole model, gathered by the ranks that train, along a ring of all
/// devices: what verl and NeMo-RL do by a broadcast of NCCL, weight by weight.
WeightSync weight_sync(const plan::PlannedJob& planned, const step::StepProgram& program,
                       const cluster::Cluster& whole);

}  // namespace stepwright::phases
