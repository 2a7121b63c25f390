#include "stepwright/phases/generation.h"

#include <algorithm>

#include "stepwright/step/document_sizes.h"

namespace stepwright::phases {

double sequences_per_policy_update(const plan::Job& job) {
  if (!job.documents) return static_cast<double>(job.sequences);
  const packing::LengthHistogram& documents = job.documents->packs.documents;
  return step::trained_data_tokens_per_step(job) /
         (packing::total_tokens(documents) / packing::total_document_count(documents));
}

double generated_tokens_per_step(const plan::Job& job) {
  const double prompts = sequences_per_policy_update(job) * job.method.rollout->prompt;
  return static_cast<double>(job.method.updates) *
         std::max(0.0, step::trained_data_tokens_per_step(job) - prompts);
}

bool is_generation_speed_stated(const plan::RolloutSettings& rollout) {
  return rollout.tokens_per_s || rollout.seconds;
}

double sequence_dispatch_s(const plan::Job& job) {
  if (!job.method.dispatch) return 0;
  const plan::RolloutSequenceDispatch& dispatch = *job.method.dispatch;
  const double sequences =
      static_cast<double>(job.method.updates) * sequences_per_policy_update(job);
  return sequences * static_cast<double>(dispatch.padded) * dispatch.token_s;
}

double generation_seconds_at_stated_speed(const plan::Job& job, std::int64_t devices,
                                          std::int64_t stated_on) {
  const plan::RolloutSettings& rollout = *job.method.rollout;
  const auto count = static_cast<double>(devices);
  const double shared_s = rollout.seconds
                              ? *rollout.seconds * static_cast<double>(stated_on) / count
                              : generated_tokens_per_step(job) / (*rollout.tokens_per_s * count);
  return std::max(shared_s, rollout.longest_s);
}

}  // namespace stepwright::phases
