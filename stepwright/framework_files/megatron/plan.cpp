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

using Rules = std::initializer_list<const SettingTranslationRule*>;

/// Applies rules in order, adds their remarks to a report, and returns what they settled.
PartialPlan read_rules(Rules rules, const FrameworkSettingsReader& fields, bool routed,
                       PartialPlan settled, ImportReport& report) {
  for (const SettingTranslationRule* rule : rules) {
    const plan::TrainingFramework framework = settled.framework;
    SettingRuleReadResult reading = read_settings_by_rule(
        *rule, fields, {.framework = framework, .routed = routed}, std::move(settled));
    for (auto& [setting, why] : reading.left_out)
      report.add_unmodelled_setting(setting, std::move(why));
    report.notes.insert(report.notes.end(), reading.notes.begin(), reading.notes.end());
    settled = std::move(reading);
  }
  return settled;
}

}  // namespace

DocumentTree megatron_fields(const plan::PlannedJob& planned, std::string_view release) {
  DocumentTree fields = megatron_model_sizes(planned.job.model);
  const auto write = [&](std::initializer_list<const SettingTranslationRule*> rules) {
    for (const SettingTranslationRule* rule : rules)
      write_settings_by_rule(*rule, planned, release, fields);
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

PlanDraft read_megatron_fields(const FrameworkSettingsReader& fields, PlanDraft draft,
                               ImportReport& report, const UserFacts& given,
                               const std::string& file) {
  PartialPlan& settled = draft;
  const auto read = [&](Rules rules) {
    settled = read_rules(rules, fields, draft.routed, std::move(settled), report);
  };
  draft.start.source = file;
  const std::optional<model::ModelArchitecture> named = draft.model;
  draft = read_megatron_model_fields(fields, given, std::move(draft), report);
  draft.routed = fields.has("num_moe_experts") || (draft.model && draft.model->experts) ||
                 (named && named->experts) || (given.known_model && given.known_model->experts);
  draft.batch.length = fields.size("seq_length");
  read({&kDegrees, &kExpertDegrees});
  if (is_megatron_deepspeed(fields)) read_megatron_deepspeed_degrees(fields, settled);
  read({&kContextKind, &kRankOrder});
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  read({&kMicroBatch});
  read_batch_fields(fields, given, draft.batch, report);
  read({&kPipeline});
  if (is_megatron_deepspeed(fields)) {
    read_megatron_zero_stage(fields, settled, report);
  } else {
    read({&kSharding});
  }
  read({&kRecompute, &kOffload, &kPrecision, &kOptimizer, &kOptimizerTypes, &kKernels, &kDispatcher,
        &kTensorOverlap, &kExpertOverlap});
  note_vocabulary_padding(fields, draft.plan, draft, report);
  if (!draft.model) draft.model = named;
  return draft;
}

}  // namespace stepwright::framework_files
