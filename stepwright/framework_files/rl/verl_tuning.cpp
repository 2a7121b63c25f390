#include "stepwright/framework_files/rl/verl_tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/rl/verl_engine.h"

namespace stepwright::framework_files {
namespace {

constexpr std::int64_t kTunedBatch = 256;
constexpr std::int64_t kTunedMicroBatch = 4;
constexpr std::int64_t kTunedLength = 1024;
constexpr std::int64_t kTunedTokens = 8192;

/// True for verl's first supervised trainer, which supports only FSDP.
bool is_first_trainer(const FrameworkSettingsReader& root, const StartedTrainingProgram& start) {
  if (start.program.find("fsdp_sft_trainer") != std::string::npos) return true;
  return root.nested_settings("model").node().find("partial_pretrain").has_value();
}

/// Reads the first trainer (verl/trainer/fsdp_sft_trainer.py of 0.6.1): FULL_SHARD, or fully_shard
/// that gathers again in the backward.
PlanDraft read_first_trainer(const FrameworkSettingsReader& root, const std::string& file,
                             const UserFacts& given, PlanDraft draft, ImportReport& report) {
  const FrameworkSettingsReader model = root.nested_settings("model");
  const FrameworkSettingsReader data = root.nested_settings("data");
  set_built_in_model(model.word("partial_pretrain", ""), given, draft, report);
  draft.batch.length = data.integer("max_length", kTunedLength);
  draft.plan.parallel.context = root.integer("ulysses_sequence_parallel_size", 1);
  set_user_document_packing(root, "use_remove_padding", kVerlUnpaddedPacking, given, draft.batch);
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  const FrameworkSettingsReader config = model.nested_settings("fsdp_config");
  read_verl_fsdp_engine(config, false, draft, report);
  const auto host = config.find("cpu_offload");
  if (host && host->boolean() && config.flag("offload_params", false)) {
    set_fsdp_host_offload(make_unread_setting(*host), draft, report);
  }
  read_verl_model_section(model, draft.plan, draft);
  draft = read_verl_parameter_type(config, std::move(draft));
  set_verl_update_batch(data.integer("train_batch_size", kTunedBatch),
                        data.integer("micro_batch_size_per_gpu", kTunedMicroBatch), draft.plan,
                        draft.batch, report);
  report_read_and_unread_settings(root, file, known_program_settings("rl/verl_tuning"), report);
  return draft;
}

/// Returns the sequences of a micro-batch; verl/trainer/sft_trainer.py,
/// verl/workers/engine/utils.py. A limit in tokens covers all ranks that share a sequence.
std::int64_t micro_batch_of(const FrameworkSettingsReader& data, std::int64_t length,
                            std::int64_t context) {
  if (!data.flag("use_dynamic_bsz", true)) {
    return data.integer("micro_batch_size_per_gpu", kTunedMicroBatch);
  }
  return std::max<std::int64_t>(
      1, data.integer("max_token_len_per_gpu", kTunedTokens) * context / length);
}

PlanDraft read_engine_trainer(const FrameworkSettingsReader& root, const std::string& file,
                              const std::string& engine, const UserFacts& given, PlanDraft draft,
                              ImportReport& report) {
  const FrameworkSettingsReader model = root.nested_settings("model");
  const FrameworkSettingsReader data = root.nested_settings("data");
  const FrameworkSettingsReader config = root.nested_settings("engine");
  set_built_in_model(model.word("path", ""), given, draft, report);
  draft.batch.length = data.integer("max_length", kTunedLength);
  set_user_document_packing(model, "use_remove_padding", kVerlUnpaddedPacking, given, draft.batch);
  const std::int64_t sequences = data.integer("train_batch_size", kTunedBatch);
  if (engine == "megatron") {
    draft.framework.name = "megatron-core";
    draft.adapters = verl_megatron_adapters(model.nested_settings("lora"));
    MegatronFieldSources text{
        .said = flat_megatron_settings(root.node(), megatron_field_paths("rl/verl_tuning")),
        .program = "verl"};
    text.usual = verl_megatron_defaults(text.said);
    text.derived.set("seq_length", *draft.batch.length).set("global_batch_size", sequences);
    draft = read_plan_from_megatron_fields(text, root, known_program_settings("rl/verl_tuning"),
                                           given, std::move(draft), report, file);
    set_verl_update_batch(sequences,
                          micro_batch_of(data, *draft.batch.length, draft.plan.parallel.context),
                          draft.plan, draft.batch, report);
    return draft;
  }
  draft.plan.parallel.context = config.integer("ulysses_sequence_parallel_size", 1);
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  read_verl_fsdp_engine(config, config.word("strategy", "fsdp") == "fsdp2", draft, report);
  read_verl_model_section(model, draft.plan, draft);
  draft = read_verl_parameter_type(config, std::move(draft));
  set_verl_update_batch(sequences,
                        micro_batch_of(data, *draft.batch.length, draft.plan.parallel.context),
                        draft.plan, draft.batch, report);
  report_read_and_unread_settings(root, file, known_program_settings("rl/verl_tuning"), report);
  return draft;
}

}  // namespace

PlanDraft read_verl_fine_tuning(const FrameworkSettingsReader& root, const std::string& file,
                                const std::string& engine, const UserFacts& given, PlanDraft draft,
                                ImportReport& report) {
  draft.framework.name = "fsdp";
  draft.framework_overlap = true;
  if (is_first_trainer(root, draft.start))
    return read_first_trainer(root, file, given, std::move(draft), report);
  if (engine != "fsdp" && engine != "megatron") {
    fail_unsupported(fmt::format("{}: engine {} is not read: fsdp and megatron are", file,
                                 one_line_printable_text(engine)));
  }
  // Only trainer/sft_trainer_ray.py starts its ranks itself.
  if (!draft.extent.ranks && !draft.extent.devices_of_node) {
    draft.extent.nodes = root.nested_settings("trainer").size("nnodes");
    draft.extent.devices_of_node = root.nested_settings("trainer").size("n_gpus_per_node");
  }
  return read_engine_trainer(root, file, engine, given, std::move(draft), report);
}

}  // namespace stepwright::framework_files
