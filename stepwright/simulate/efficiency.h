#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// The share of its devices' peak that a job reaches, for steps of a given duration. Model FLOPs
/// count attention without halving it for the causal mask, and leave out the FLOPs that
/// recomputation repeats. With documents, each document counts with its own length and without
/// padding.
struct Efficiency {
  double flops_per_s = 0;  ///< Model FLOP/s of one device, idle ones included.
  double peak_flops = 0;   ///< FLOP/s of one device in the job's precision, without sparsity.
  double mfu = 0;          ///< Model FLOP/s over peak FLOP/s.
};

/// Returns the efficiency of a step. `step_time_s` must be above 0, and the device must have a peak
/// rate for the job's precision.
Efficiency efficiency(const plan::Job& job, const plan::Plan& plan, double step_time_s);

/// Returns the model FLOPs of a token, forward and backward: the mean over the tokens that count
/// (all tokens, or those of documents).
double step_flops_per_token(const plan::Job& job, const plan::Plan& plan);

/// Returns the share of these model FLOPs that attention has behind the causal mask.
double step_masked_share(const plan::Job& job, const plan::Plan& plan);

}  // namespace stepwright::simulate
