#include "stepwright/framework_files/megatron/plan.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/megatron/deepspeed_fields.h"
#include "stepwright/framework_files/megatron/model.h"
#include "stepwright/framework_files/megatron/rules.h"
#include "stepwright/framework_files/megatron/vocabulary.h"

namespace stepwright::framework_files {
namespace {

/// Runs rules: a draft takes over their plan and remarks.
void read_rules(std::initializer_list<const Rule*> rules, const Fields& fields, Draft& draft) {
  for (const Rule* rule : rules) {
    Reading reading =
        read_rule(*rule, fields, {.framework = draft.framework, .routed = draft.routed}, draft);
    static_cast<Settled&>(draft) = static_cast<Settled&>(reading);
    for (auto& [setting, why] : reading.left_out) draft.leave_out(setting, std::move(why));
    draft.notes.insert(draft.notes.end(), reading.notes.begin(), reading.notes.end());
    if (reading.refused) draft.refused = std::move(reading.refused);
  }
}

}  // namespace

Tree megatron_fields(const plan::PlannedJob& planned, std::string_view release) {
  Tree fields = model_sizes(planned.job.model);
  const auto write = [&](std::initializer_list<const Rule*> rules) {
    for (const Rule* rule : rules) write_rule(*rule, planned, release, fields);
  };
  write({&kDegrees, &kContextKind, &kRankOrder, &kExpertDegrees, &kDispatcher, &kExpertOverlap,
         &kPipeline, &kSharding, &kTensorOverlap, &kRecompute, &kPrecision});
  fields.set("seq_length", planned.job.length);
  fields.set("max_position_embeddings", std::max(planned.job.model.positions, planned.job.length));
  write({&kMicroBatch});
  fields.set("global_batch_size", planned.job.sequences);
  write({&kOptimizer, &kOffload, &kOptimizerTypes, &kKernels});
  return fields;
}

void read_megatron_fields(const Fields& fields, Draft& draft, const Given& given,
                          const std::string& file) {
  draft.source = file;
  const std::optional<model::Architecture> named = draft.model;
  draft.model = read_model_fields(fields, given, draft);
  draft.routed = fields.has("num_moe_experts") || (draft.model && draft.model->experts) ||
                 (named && named->experts) || (given.known_model && given.known_model->experts);
  draft.length = fields.size("seq_length");
  read_rules({&kDegrees, &kExpertDegrees}, fields, draft);
  if (is_megatron_deepspeed(fields)) take_deepspeed_degrees(fields, draft);
  read_rules({&kContextKind, &kRankOrder}, fields, draft);
  settle_ranks(draft, given, file);
  read_rules({&kMicroBatch}, fields, draft);
  read_batch_fields(fields, given, draft);
  read_rules({&kPipeline}, fields, draft);
  if (is_megatron_deepspeed(fields)) {
    take_deepspeed_states(fields, draft);
  } else {
    read_rules({&kSharding}, fields, draft);
  }
  read_rules({&kRecompute, &kOffload, &kPrecision, &kOptimizer, &kOptimizerTypes, &kKernels,
              &kDispatcher, &kTensorOverlap, &kExpertOverlap},
             fields, draft);
  note_padding(fields, draft);
  if (!draft.model) draft.model = named;
}

}  // namespace stepwright::framework_files
