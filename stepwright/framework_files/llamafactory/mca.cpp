#include "stepwright/framework_files/llamafactory/mca.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/megatron/carried_fields.h"

namespace stepwright::framework_files {
namespace {

/// Fields whose key differs from Megatron-Core's name.
constexpr MegatronFieldPath kMcaPlaces[] = {{"ddp_bucket_size", "bucket_size"}};

/// Returns the fields of Megatron-Core that the file sets.
DocumentTree said_fields(const FrameworkSettingsReader& fields) {
  DocumentTree said = flat_megatron_settings(fields.node(), kMcaPlaces);
  const DocumentTree* modules = said.find("recompute_modules");
  if (modules == nullptr || modules->kind != DocumentTree::TreeValueKind::kScalar) return said;
  // "core_attn,moe" becomes a list.
  DocumentTree list = DocumentTree::empty_flow_sequence();
  list.line = modules->line;
  for (const std::string& word : split_word_list(*fields.node().find("recompute_modules")))
    list.add(word);
  said.set("recompute_modules", std::move(list));
  return said;
}

}  // namespace

bool is_llama_factory_megatron(const FrameworkSettingsReader& fields) {
  static constexpr std::string_view kDegrees[] = {
      "tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size"};
  return std::ranges::any_of(kDegrees, [&](std::string_view key) {
    const auto value = fields.node().find(key);
    return value && !value->is_null();
  });
}

PlanDraft read_llama_factory_megatron(const TransformersProgramFiles& files,
                                      const FrameworkSettingsReader& fields, const UserFacts& given,
                                      PlanDraft draft, ImportReport& report) {
  constexpr std::int64_t kUsualLength = 2048;
  constexpr std::int64_t kUsualBatch = 8;
  const std::string& name = files.program->name;
  draft.framework.name = "megatron-core";
  const bool half = fields.flag("fp16", false);
  const bool brain = fields.flag("bf16", false);
  MegatronFieldSources text{.said = said_fields(fields), .program = "mcore_adapter"};
  text.usual.set("expert_tensor_parallel_size", 1);
  if (brain) text.usual.set("grad_reduce_in_fp32", true);
  text.derived.set("precision", brain ? "bf16" : half ? "fp16" : "fp32");
  text.derived.set("seq_length", fields.integer("cutoff_len", kUsualLength));
  text.derived.set("micro_batch_size", fields.integer("per_device_train_batch_size", kUsualBatch));
  const std::int64_t accumulation = fields.integer("gradient_accumulation_steps", 1);
  if (given.batch.empty()) draft.batch.micro_batches = accumulation;
  const auto type = fields.node().find("finetuning_type");
  const auto own = known_program_settings("llamafactory/mca");
  const auto others = known_program_settings("llamafactory/settings");
  std::vector<KnownSetting> known(own.begin(), own.end());
  known.insert(known.end(), others.begin(), others.end());
  draft =
      read_plan_from_megatron_fields(text, fields, known, given, std::move(draft), report, name);
  // This trainer trains all weights: src/llamafactory/train/mca/workflow.py.
  if (type && type->is_scalar() && type->text() == "full") return draft;
  report.not_read.push_back({"finetuning_type", type && type->is_scalar() ? type->text() : "lora",
                             name, type ? type->source_line() : 0, SettingImpact::kYes,
                             "adapters: all weights are trained in the plan"});
  return draft;
}

}  // namespace stepwright::framework_files
