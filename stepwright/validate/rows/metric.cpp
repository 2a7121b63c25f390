#include "stepwright/validate/rows/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "stepwright/model/flops.h"
#include "stepwright/model/parameters.h"

namespace stepwright::validate {
namespace {

double hardware_flops(const plan::Job& job) {
  const auto layers = static_cast<double>(job.model.layers);
  const auto hidden = static_cast<double>(job.model.hidden);
  const auto length = static_cast<double>(job.length);
  const auto vocabulary = static_cast<double>(job.model.vocabulary);
  return 96 * job.tokens() * layers * hidden * hidden *
         (1 + length / (6 * hidden) + vocabulary / (16 * layers * hidden));
}

/// Returns half of the attention's FLOPs per token, forward and backward, which a causal mask
/// skips.
double flops_saved_by_causal_mask(const plan::Job& job) {
  const model::ModelArchitecture& model = job.model;
  const auto widths =
      static_cast<double>(model.heads * (model.head_dim + model.value_head_elements()));
  return 3 * static_cast<double>(model.layers) * widths * static_cast<double>(job.length);
}

}  // namespace

double published_step_flops(FlopCountingMethod count, const plan::Job& job) {
  const double parameters = static_cast<double>(model::count_parameters(job.model) -
                                                job.model.vocabulary * job.model.hidden);
  const double per_token = model::training_flops_per_token(job.model, job.length);
  switch (count) {
    case FlopCountingMethod::kHardware: return hardware_flops(job);
    case FlopCountingMethod::kSixFold: return 6 * parameters * job.tokens();
    case FlopCountingMethod::kEightFold: return 8 * parameters * job.tokens();
    case FlopCountingMethod::kCausal:
      return job.tokens() * (per_token - flops_saved_by_causal_mask(job));
    case FlopCountingMethod::kModel: break;
  }
  return job.tokens() * per_token;
}

std::variant<double, SkippedRowReason> measured_step_s(const PublishedRunRow& row,
                                                       const plan::Job& job) {
  if (!row.measured) return SkippedRowReason{"nothing measured"};
  const auto devices = static_cast<double>(job.cluster.devices());
  const double value = *row.measured;
  if (row.metric == "iteration_time_s") return value;
  if (row.metric == "tokens_per_s_per_gpu") return job.tokens() / (value * devices);
  const auto* const count = std::ranges::find(
      kFlopCountNames, row.flops.empty() ? "model" : row.flops, &Named<FlopCountingMethod>::name);
  if (count == std::end(kFlopCountNames))
    return SkippedRowReason{fmt::format("flops: {}", row.flops)};
  const double flops = published_step_flops(count->value, job);
  if (row.metric == "tflops_per_gpu") return flops / (value * 1e12 * devices);
  if (row.metric == "mfu") {
    const double share = value > 1 ? value / 100 : value;
    return flops / (share * job.cluster.device.peak_flops.at(DType::kBf16) * devices);
  }
  return SkippedRowReason{fmt::format("metric: {}", row.metric)};
}

}  // namespace stepwright::validate
