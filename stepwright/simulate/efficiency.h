#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// The FLOP/s that a device reaches in steps of a given duration, and its share of the peak (MFU).
/// Model FLOPs count attention without halving it for the causal mask, and leave out recomputation.
/// Documents count with their own lengths and without padding.
struct ModelFlopsEfficiency {
  /// Model FLOP/s divided by the number of all devices of the cluster, idle ones included.
  double flops_per_s = 0;
  double peak_flops = 0;  ///< Peak FLOP/s of a device in the job's precision, without sparsity.
  double mfu = 0;         ///< MFU: model FLOP/s per device over peak FLOP/s.
};

/// Returns the model FLOP/s and MFU of steps that take `step_time_s` seconds (above 0). The device
/// must have a peak rate for the job's precision.
ModelFlopsEfficiency model_flops_efficiency(const plan::Job& job, const plan::Plan& plan,
                                            double step_time_s);

/// Returns the model FLOPs per token, forward and backward, as a mean over the tokens that count
/// (all tokens, or only those of documents).
double model_flops_per_token(const plan::Job& job, const plan::Plan& plan);

/// Returns the share of a step's model FLOPs that attention spends on masked positions (behind the
/// causal mask).
double masked_attention_flops_share(const plan::Job& job, const plan::Plan& plan);

}  // namespace stepwright::simulate
