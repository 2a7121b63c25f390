#include "stepwright/framework_files/megatron/deepspeed_fields.h"

#include <array>

#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::framework_files {

bool is_megatron_deepspeed(const FrameworkSettingsReader& fields) {
  return fields.flag("deepspeed", false);
}

void read_megatron_deepspeed_degrees(const FrameworkSettingsReader& fields, PartialPlan& settled) {
  settled.framework.name = "megatron-deepspeed";
  plan::ParallelismDegrees& degrees = settled.plan.parallel;
  if (const auto off = fields.find("no_pipeline_parallel"); off && degrees.pipeline > 1) {
    off->fail("--no-pipeline-parallel is only for --pipeline-model-parallel-size 1");
  }
  if (const auto ranks = fields.find("ds_sequence_parallel_size")) {
    degrees.context = ranks->integer(1, kMaxIntegerSetting);
    settled.plan.context_kind = plan::ContextKind::kUlysses;
  }
  if (!fields.flag("expert_tensor_parallelism", false)) degrees.expert_tensor = 1;
}

void read_megatron_zero_stage(const FrameworkSettingsReader& fields, PartialPlan& settled,
                              ImportReport& report) {
  static constexpr std::array<std::string_view, 4> kStages = {"NNN", "NNG", "NGG", "GGG"};
  const auto given = fields.find("zero_stage");
  auto stage = static_cast<std::size_t>(given ? given->number(0, 3) : 1);
  if (!given) report.add_assumption("sharding.states", "ZeRO-1 is the default of --zero-stage");
  if (stage == 0 && fields.word("precision", "") == "bf16") {
    // BF16_Optimizer shards its states over data-parallel ranks even without ZeRO:
    // deepspeedai/DeepSpeed deepspeed/runtime/bf16_optimizer.py.
    stage = 1;
    report.notes.push_back(
        "Without ZeRO, DeepSpeed's optimizer of bf16 shards its states as ZeRO-1.");
  }
  settled.plan.sharding = plan::sharding_named_by_word(kStages[stage]).value();
  settled.plan.gradient_bucket = settled.plan.parameter_bucket = kDeepspeedDefaultBucketElements;
  settled.framework_overlap = settled.framework_gradients = true;
}

void set_megatron_deepspeed_model(const FrameworkSettingsReader& fields,
                                  model::ModelArchitecture& model) {
  model.embedding_norm = fields.flag("embedding_norm", false);
  if (!model.experts) return;
  // --topk and --expert-interval are in deepspeedai/Megatron-DeepSpeed megatron/arguments.py;
  // layers count from 1 in megatron/model/transformer.py.
  model.experts->top_k = fields.integer("moe_router_topk", 1);
  const auto interval = static_cast<std::size_t>(fields.integer("expert_interval", 2));
  std::vector<std::uint8_t> dense(static_cast<std::size_t>(model.layers), 1);
  for (std::size_t i = interval; i <= dense.size(); i += interval) dense[i - 1] = 0;
  model::assign_dense_mlp_layers(model, dense);
  model.experts->router_bias = false;  // Gates of Megatron-DeepSpeed have no bias.
}

}  // namespace stepwright::framework_files
