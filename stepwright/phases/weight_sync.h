#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::phases {

/// Transfer of the updated policy weights to the devices that generate: a gather among the training
/// devices, then a broadcast.
struct PolicyWeightSync {
  /// Bytes of one copy of the policy weights that are sent to the generating devices: all weights
  /// in their stored type, or only LoRA adapters.
  double bytes = 0;
  double held_bytes = 0;  ///< Bytes of weights that one generating device holds.
  /// Seconds in which each training device gathers the weights that it sends on or uses for its own
  /// generation.
  double gather_s = 0;
  /// Seconds to broadcast the updated policy weights to devices that only generate; 0: there are
  /// none.
  double broadcast_s = 0;

  [[nodiscard]] double seconds() const { return gather_s + broadcast_s; }
};

/// Returns the time and bytes of transferring a plan's updated weights to generating devices;
/// `whole`: cluster with all devices. Devices that train and generate gather their part from the
/// ranks that hold shards of it. Devices that only generate receive the whole model by an NCCL
/// broadcast from the training ranks, weight by weight (as verl and NeMo-RL do).
PolicyWeightSync predict_weight_sync(const plan::PlannedJob& planned,
                                     const step::StepProgram& program,
                                     const cluster::Cluster& whole);

}  // namespace stepwright::phases
