#pragma once

#include <variant>

#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// The measured seconds of a step: as stated, from tokens per second and GPU, or from FLOP/s or
/// utilisation by the FLOPs that the source counts. Skips metrics and conventions that are unknown.
std::variant<double, Skipped> measured_step_s(const RunRow& row, const Job& job);

/// FLOPs of a step as the source counts them:
/// - with "hardware", "96B", "incl. recompute": 96 B s L h^2 (1 + s/6h + V/16Lh), full
///   recomputation included (Narayanan 2021, 2104.04473);
/// - "8*P", "6*P": FLOPs per token and parameter without embedding;
/// - "causal-halved": model FLOPs with half the attention (Megatron-Bridge);
/// - otherwise model FLOPs with full attention and logits.
double counted_flops(const RunRow& row, const Job& job);

}  // namespace stepwright
