#pragma once

#include <cstdint>
#include <variant>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// The ways in which publications count the FLOPs of a step when they state TFLOP/s or utilisation.
enum class FlopCountingMethod : std::uint8_t {
  kModel,  ///< Model FLOPs with full (not causal) attention and the logits, without recomputation.
  /// Model FLOPs with half of the attention, as under a causal mask, without recomputation.
  kCausal,
  /// FLOPs including full recomputation: 96 B s L h^2 (1 + s/6h + V/16Lh) (2104.04473).
  kHardware,
  kSixFold,  ///< Six FLOPs per token and parameter, without the embedding's parameters.
  /// Eight FLOPs per token and parameter (with recomputation), without the embedding's parameters.
  kEightFold,
};
inline constexpr Named<FlopCountingMethod> kFlopCountNames[] = {
    {FlopCountingMethod::kModel, "model"},
    {FlopCountingMethod::kCausal, "causal"},
    {FlopCountingMethod::kHardware, "hardware"},
    {FlopCountingMethod::kSixFold, "6P"},
    {FlopCountingMethod::kEightFold, "8P"}};

/// Returns the FLOPs of a step of a job, counted in one of the ways that publications use.
double published_step_flops(FlopCountingMethod count, const plan::Job& job);

/// Returns the measured step time of a row in seconds: as stated, or computed from tokens per
/// second per GPU, FLOP/s, or utilisation of the bf16 peak. Rows with unknown metrics or unknown
/// words in `flops` are skipped.
std::variant<double, SkippedRowReason> measured_step_s(const PublishedRunRow& row,
                                                       const plan::Job& job);

}  // namespace stepwright::validate
