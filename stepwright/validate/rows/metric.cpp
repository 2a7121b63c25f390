#include "stepwright/validate/rows/metric.h"

#include <fmt/format.h>

#include "stepwright/model/flops.h"
#include "stepwright/model/parameters.h"
#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

double hardware_flops(const Job& job) {
  const auto layers = static_cast<double>(job.model.layers);
  const auto hidden = static_cast<double>(job.model.hidden);
  const auto length = static_cast<double>(job.length);
  const auto vocabulary = static_cast<double>(job.model.vocabulary);
  return 96 * job.tokens() * layers * hidden * hidden *
         (1 + length / (6 * hidden) + vocabulary / (16 * layers * hidden));
}

/// Half of the attention's FLOPs per token, forward and backward: what a causal mask leaves out.
double masked_flops_per_token(const Job& job) {
  const Architecture& model = job.model;
  const auto widths = static_cast<double>(model.heads * (model.head_dim + model.value_dim()));
  return 3 * static_cast<double>(model.layers) * widths * static_cast<double>(job.length);
}

/// The rate that utilisation refers to: the bf16 peak, except where fp8 is said.
double reference_flops(const RunRow& row, const Job& job) {
  if (const auto stated = Words(row.convention).number_after("peak ")) {
    if (*stated < 10000) return static_cast<double>(*stated) * 1e12;
  }
  return job.cluster.device.peak_flops.at(DType::kBf16);
}

}  // namespace

double counted_flops(const RunRow& row, const Job& job) {
  const Words words(row.convention);
  const double parameters =
      static_cast<double>(count_parameters(job.model) - job.model.vocabulary * job.model.hidden);
  if (words.has("8*p")) return 8 * parameters * job.tokens();
  if (words.has("6*p")) return 6 * parameters * job.tokens();
  if (words.has("hardware", "96b", "incl. recompute", "with recompute", "counts recompute")) {
    return hardware_flops(job);
  }
  const double full = training_flops_per_token(job.model, job.length);
  return job.tokens() * (words.has("halved") && !words.has("not causal-halved")
                             ? full - masked_flops_per_token(job)
                             : full);
}

std::variant<double, Skipped> measured_step_s(const RunRow& row, const Job& job) {
  if (!row.measured) return Skipped{"nothing measured"};
  const auto devices = static_cast<double>(job.cluster.devices());
  const double value = *row.measured;
  if (row.metric == "iteration_time_s") return value;
  if (row.metric == "tokens_per_s_per_gpu") return job.tokens() / (value * devices);
  if (row.metric == "tflops_per_gpu") return counted_flops(row, job) / (value * 1e12 * devices);
  if (row.metric == "mfu") {
    const double share = value > 1 ? value / 100 : value;
    return counted_flops(row, job) / (share * reference_flops(row, job) * devices);
  }
  return Skipped{fmt::format("metric: {}", row.metric)};
}

}  // namespace stepwright
