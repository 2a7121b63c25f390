#include "stepwright/framework_files/huggingface/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"
#include "stepwright/framework_files/recognition/marks.h"

namespace stepwright::framework_files {

OptimizerNameTable::OptimizerNameTable(const YamlJsonDocument& document) {
  visit_rows_of_yaml_table(
      document, "optimizers", [&](DocumentNode row, const std::string& /*source*/) {
        row.allow_only_keys({"word", "words", "optimizer", "leaves_out"});
        for (std::string& word : single_text_or_text_list(row, "word", "words")) {
          words_.push_back({.word = texts_.store_table_row_text(std::move(word)),
                            .optimizer = row.get("optimizer").choice(plan::kOptimizerNames),
                            .leaves_out = texts_.store_table_row_text(row, "leaves_out")});
        }
      });
}

const OptimizerNameMeaning* OptimizerNameTable::find(std::string_view word) const {
  const auto found = std::ranges::find_if(words_, [&](const OptimizerNameMeaning& known) {
    return matches_wildcard_pattern(known.word, word);
  });
  return found == words_.end() ? nullptr : &*found;
}

const OptimizerNameMeaning* find_optimizer_name(std::string_view word, std::string_view table) {
  return loaded_table<OptimizerNameTable>(table).find(word);
}

void apply_trainer_defaults(PartialPlan& settled, StatedStepBatch& batch) {
  constexpr std::int64_t kUsualBatch = 8;
  batch.derive_micro_batch = false;
  settled.plan.micro_batch = kUsualBatch;
  batch.micro_batches = 1;
  settled.precision = DType::kFp32;
  settled.optimizer = plan::Optimizer::kAdamW;
}

void set_optimizer_by_name(const FrameworkSettingsReader& fields, std::string_view key,
                           const OptimizerNameMeaning* known, PartialPlan& settled,
                           ImportReport& report) {
  static constexpr OptimizerNameMeaning kUnknown{
      .word = "", .leaves_out = "its states and its update: AdamW's are counted"};
  const DocumentNode given = fields.node().get(key);
  if (known == nullptr) known = &kUnknown;
  settled.optimizer = known->optimizer;
  if (known->leaves_out.empty()) {
    fields.mark_setting_read(key);
    return;
  }
  report.add_assumption("job.optimizer",
                        fmt::format("in the place of {}", one_line_printable_text(given.text())));
  fields.record_unmodelled_setting(key, given, std::string(known->leaves_out));
}

void read_optimizer_name(const FrameworkSettingsReader& fields, std::string_view key,
                         PartialPlan& settled, ImportReport& report) {
  const auto given = fields.node().find(key);
  if (!given || given->is_null()) return;
  set_optimizer_by_name(fields, key, find_optimizer_name(given->text()), settled, report);
}

void apply_attention_kernel(const FrameworkSettingsReader& fields, std::string_view key,
                            PartialPlan& settled) {
  const auto given = fields.node().find(key);
  if (!given || given->is_null()) return;
  const std::string_view known =
      meaning_of_program_setting_word("huggingface/attention", "kernels", given->text());
  if (known.empty()) {
    fields.record_unmodelled_setting(key, *given, "this kernel of attention");
    return;
  }
  for (const auto& [kernel, name] : cluster::kAttentionKernelNames) {
    if (name == known) settled.attention = kernel;
  }
  if (known == "pytorch") leave_attention_to_pytorch(settled);
  fields.mark_setting_read(key);
}

void leave_attention_to_pytorch(PartialPlan& settled) {
  settled.attention.reset();
  settled.pytorch_attention = true;
}

void check_is_training(const FrameworkSettingsReader& fields) {
  const auto on = [&](std::string_view key) {
    const auto value = fields.node().find(key);
    return value && !value->is_null() && value->is_scalar() && value->text() == "true";
  };
  if (!on("do_train") && (on("do_predict") || on("do_eval"))) {
    fields.node().fail_unsupported("has no do_train: nothing is trained");
  }
}

std::optional<YamlJsonDocument> deepspeed_config_of_setting(const FrameworkSettingsReader& fields,
                                                            std::string_view key,
                                                            const TransformersProgramFiles& files) {
  const auto named = fields.find(key);
  if (named && named->is_mapping()) {
    return YamlJsonDocument::from_tree(named->copy_tree_with_file_positions(), files.name);
  }
  if (named && files.program != nullptr && named->text() == files.program->name) {
    named->fail("names this file itself");
  }
  if (named && files.deepspeed == nullptr) {
    named->fail("names a configuration of DeepSpeed: give its file, too");
  }
  if (files.deepspeed == nullptr) return std::nullopt;
  return parse_like_python_yaml(files.deepspeed->text, files.deepspeed->name);
}

std::int64_t data_parallel_replica_count(const TrainerDistribution& trainer, const plan::Plan& plan,
                                         const JobRankCounts& extent, const std::string& name) {
  const std::int64_t data = plan.parallel.data;
  const std::int64_t copies = trainer.copies
                                  ? *trainer.copies
                                  : std::max<std::int64_t>(1, data / trainer.share.value_or(data));
  const std::int64_t share = trainer.share.value_or(data / copies);
  if (copies * share == data) return copies;
  fail_input(
      fmt::format("{}: {} (replicate) x {} (share) must be {}, the data-parallel ranks that the "
                  "other degrees leave of {} devices",
                  name, copies, share, data, extent.cluster.devices()));
}

PlanDraft complete_trainer_draft(const TrainerDistribution& trainer, const UserFacts& given,
                                 PlanDraft draft, ImportReport& report, const std::string& name) {
  if (trainer.deepspeed) {
    draft.framework.name = "deepspeed";
    std::optional<std::int64_t> hidden;
    if (given.known_model) hidden = given.known_model->hidden;
    if (draft.model) hidden = draft.model->hidden;
    // The trainer computes products in fp8 while DeepSpeed runs in bf16.
    const DType precision = draft.precision;
    const TrainerAutoValues values{.micro_batch = draft.plan.micro_batch,
                                   .accumulation = draft.batch.micro_batches.value_or(1),
                                   .precision = plan::parameter_storage_type(precision),
                                   .hidden = hidden};
    draft =
        read_deepspeed_configuration(*trainer.deepspeed, given, std::move(draft), report, &values);
    if (draft.precision == plan::parameter_storage_type(precision)) draft.precision = precision;
    return draft;
  }
  draft.framework_overlap = draft.framework_gradients = true;
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, name);
  apply_fsdp_options(trainer.fsdp,
                     data_parallel_replica_count(trainer, draft.plan, draft.extent, name), draft,
                     draft.extent, report);
  const bool stays =
      trainer.weights == LoadedWeightType::kPure ||
      (trainer.weights == LoadedWeightType::kNarrow && !shards_optimizer_states(draft.plan));
  // Adapters are trained in fp32: huggingface/peft src/peft/tuners/tuners_utils.py,
  // autocast_adapter_dtype.
  if (stays && !draft.adapters) draft.masters = plan::MasterWeights::kNone;
  return draft;
}

}  // namespace stepwright::framework_files
