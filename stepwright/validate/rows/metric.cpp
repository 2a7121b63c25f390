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
double masked_flops_per_token(const plan::Job& job) {
  const model::Architecture& model = job.model;
  const auto widths = static_cast<double>(model.heads * (model.head_dim + model.value_dim()));
  return 3 * static_cast<double>(model.layers) * widths * static_cast<double>(job.length);
}

}  // namespace

double counted_flops(FlopCount count, const plan::Job& job) {
  const double parameters = static_cast<double>(model::count_parameters(job.model) -
                                                job.model.vocabulary * job.model.hidden);
  const double per_token = model::training_flops_per_token(job.model, job.length);
  switch (count) {
    case FlopCount::kHardware: return hardware_flops(job);
    case FlopCount::kSixFold: return 6 * parameters * job.tokens();
    case FlopCount::kEightFold: return 8 * parameters * job.tokens();
    case FlopCount::kCausal: return job.tokens() * (per_token - masked_flops_per_token(job));
    case FlopCount::kModel: break;
  }
  return job.tokens() * per_token;
}

std::variant<double, Skipped> measured_step_s(const RunRow& row, const plan::Job& job) {
  if (!row.measured) return Skipped{"nothing measured"};
  const auto devices = static_cast<double>(job.cluster.devices());
  const double value = *row.measured;
  if (row.metric == "iteration_time_s") return value;
  if (row.metric == "tokens_per_s_per_gpu") return job.tokens() / (value * devices);
  const auto* const count = std::ranges::find(
      kFlopCountNames, row.flops.empty() ? "model" : row.flops, &Named<FlopCount>::name);
  if (count == std::end(kFlopCountNames)) return Skipped{fmt::format("flops: {}", row.flops)};
  const double flops = counted_flops(count->value, job);
  if (row.metric == "tflops_per_gpu") return flops / (value * 1e12 * devices);
  if (row.metric == "mfu") {
    const double share = value > 1 ? value / 100 : value;
    return flops / (share * job.cluster.device.peak_flops.at(DType::kBf16) * devices);
  }
  return Skipped{fmt::format("metric: {}", row.metric)};
}

}  // namespace stepwright::validate
