#include "stepwright/framework_files/megatron/plan.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/megatron/deepspeed_fields.h"
#include "stepwright/framework_files/megatron/job.h"
#include "stepwright/framework_files/megatron/model.h"
#include "stepwright/framework_files/megatron/rules.h"
#include "stepwright/framework_files/megatron/vocabulary.h"
#include "stepwright/framework_files/rules/draft_bridge.h"

namespace stepwright::framework_files {
namespace {

/// How experts exchange tokens.
void add_dispatcher(Tree& fields, const plan::Job& job) {
  if (!job.model.experts) return;
  fields.set("moe_token_dispatcher_type", name_of(kMegatronDispatchers, job.dispatcher));
  if (job.dispatcher == plan::Dispatcher::kOncePerNode) {
    fields.set("moe_flex_dispatcher_backend", "deepep");
  }
}

void add_precision(Tree& fields, const plan::PlannedJob& planned) {
  const plan::Job& job = planned.job;
  if (job.precision == DType::kFp16) fields.set("precision", "fp16");
  if (plan::storage_type(job.precision) == DType::kBf16) fields.set("precision", "bf16");
  if (job.precision == DType::kFp8) fields.set("fp8", "hybrid");
  if (job.precision == DType::kMxfp8) fields.set("fp8", "e4m3").set("fp8_recipe", "mxfp8");
  if (job.precision == DType::kNvfp4) fields.set("fp4", "e2m1");
  const bool wide = planned.plan.accumulate == DType::kFp32;
  if (job.precision != DType::kFp32) fields.set("grad_reduce_in_fp32", wide);
}

void add_optimizer(Tree& fields, const plan::Job& job) {
  const bool muon = job.optimizer == plan::Optimizer::kMuon;
  fields.set("optimizer", job.optimizer == plan::Optimizer::kSgd ? "sgd" : muon ? "muon" : "adam");
  if (muon) {
    fields.set("muon_tp_mode", name_of(plan::kMuonFormNames, job.muon));
    if (!job.kernels.scattered_gradients) fields.set("use_layer_wise_param_layout", false);
  }
}

void add_optimizer_types(Tree& fields, const plan::Job& job) {
  if (job.optimizer == plan::Optimizer::kSgd) fields.set("sgd_momentum", 0);
  if (job.optimizer == plan::Optimizer::kAdamNarrow) {
    fields.set("use_precision_aware_optimizer", true);
    fields.set("exp_avg_dtype", "bf16").set("exp_avg_sq_dtype", "bf16");
  }
}

void add_kernels(Tree& fields, const plan::Job& job) {
  static constexpr std::array kBackends = {"unfused", "flash", "flash", "flash", "fused"};
  fields.set("attention_backend", kBackends[static_cast<std::size_t>(job.kernels.attention)]);
  if (job.kernels.fused_cross_entropy) fields.set("cross_entropy_loss_fusion", true);
}

}  // namespace

Tree megatron_fields(const plan::PlannedJob& planned, std::string_view release) {
  Tree fields = model_sizes(planned.job.model);
  const auto write = [&](std::initializer_list<const Rule*> rules) {
    for (const Rule* rule : rules) write_rule(*rule, planned, release, fields);
  };
  write({&kDegrees, &kContextKind, &kRankOrder, &kExpertDegrees});
  add_dispatcher(fields, planned.job);
  write({&kExpertOverlap, &kPipeline, &kSharding, &kTensorOverlap, &kRecompute});
  add_precision(fields, planned);
  fields.set("seq_length", planned.job.length);
  fields.set("max_position_embeddings", std::max(planned.job.model.positions, planned.job.length));
  write({&kMicroBatch});
  fields.set("global_batch_size", planned.job.sequences);
  add_optimizer(fields, planned.job);
  write({&kOffload});
  add_optimizer_types(fields, planned.job);
  add_kernels(fields, planned.job);
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
  read_rules({&kRecompute, &kOffload}, fields, draft);
  read_job_fields(fields, draft);
  read_rules({&kTensorOverlap, &kExpertOverlap}, fields, draft);
  note_padding(fields, draft);
  if (!draft.model) draft.model = named;
}

}  // namespace stepwright::framework_files
