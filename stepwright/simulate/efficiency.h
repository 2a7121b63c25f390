#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// How much of its devices a job uses in steps of one duration. Model FLOPs count attention without
/// halving it for the causal mask, and not what recomputation repeats; of documents, each with its
/// own length and without padding.
struct Efficiency {
  double flops_per_s = 0;  ///< Model FLOP/s of one device, idle ones included.
  double peak_flops = 0;   ///< FLOP/s of one device in the job's precision, without sparsity.
  double mfu = 0;          ///< Model FLOP/s over peak FLOP/s.
};

/// `step_time_s` above 0; the device has a peak rate for the job's precision.
Efficiency efficiency(const plan::Job& job, const plan::Plan& plan, double step_time_s);

/// Model FLOPs of a token, forward and backward, in the mean of those that count.
double step_flops_per_token(const plan::Job& job, const plan::Plan& plan);

/// The share of them that attention has behind the causal mask.
double step_masked_share(const plan::Job& job, const plan::Plan& plan);

}  // namespace stepwright::simulate
