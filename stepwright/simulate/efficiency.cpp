#include "stepwright/simulate/efficiency.h"

#include "stepwright/model/flops.h"
#include "stepwright/step/document_sizes.h"

namespace stepwright::simulate {

namespace {

using FlopsPerToken = double(const model::ModelArchitecture& model, std::int64_t length);

/// Returns the mean FLOPs of the tokens that count: all tokens, or those of documents, each
/// document at its own length.
double mean_of_tokens(const plan::Job& job, const plan::Plan& plan,
                      FlopsPerToken* flops_per_token) {
  if (!job.documents) return flops_per_token(job.model, job.length);
  double flops = 0;
  double tokens = 0;
  for (const auto& [length, count] : step::mean_documents_by_length(job, plan)) {
    const double these = static_cast<double>(length) * count;
    flops += these * flops_per_token(job.model, length);
    tokens += these;
  }
  return flops / tokens;
}

}  // namespace

double model_flops_per_token(const plan::Job& job, const plan::Plan& plan) {
  return mean_of_tokens(job, plan, &model::training_flops_per_token);
}

double masked_attention_flops_share(const plan::Job& job, const plan::Plan& plan) {
  return mean_of_tokens(job, plan, &model::flops_saved_by_causal_mask) /
         model_flops_per_token(job, plan);
}

ModelFlopsEfficiency model_flops_efficiency(const plan::Job& job, const plan::Plan& plan,
                                            double step_time_s) {
  const double step_flops =
      model_flops_per_token(job, plan) * step::step_tokens(job, plan).of_documents;
  ModelFlopsEfficiency used;
  used.flops_per_s = step_flops / (step_time_s * static_cast<double>(job.cluster.devices()));
  used.peak_flops = job.cluster.device.peak_flops.at(job.precision);
  used.mfu = used.flops_per_s / used.peak_flops;
  return used;
}

}  // namespace stepwright::simulate
