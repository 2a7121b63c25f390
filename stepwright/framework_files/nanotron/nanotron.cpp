#include <fmt/format.h>

#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/launchers/configured.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<DType> kNanotronTypes[] = {
    {DType::kBf16, "bfloat16"}, {DType::kFp16, "float16"}, {DType::kFp32, "float32"}};
constexpr Named<schedule::PipelineScheduleKind> kEngines[] = {
    {schedule::PipelineScheduleKind::kOneForwardOneBackward, "1f1b"},
    {schedule::PipelineScheduleKind::kGpipe, "afab"}};
constexpr Named<bool> kTensorModes[] = {{true, "REDUCE_SCATTER"},
                                        {true, "reduce_scatter"},
                                        {false, "ALL_REDUCE"},
                                        {false, "all_reduce"}};

/// Reads the sizes of a model like Llama or Qwen 2, under the keys of transformers.
void read_nanotron_sizes(const FrameworkSettingsReader& model, const plan::Plan& plan,
                         StatedModel& model_words, ImportReport& report, const std::string& file) {
  const auto config = model.find("model_config");
  if (!config || !config->is_mapping()) return;
  const auto experts = config->find("moe_config");
  const auto is = [&](std::string_view key) {
    const auto flag = config->find(key);
    return flag && !flag->is_null() && flag->boolean();
  };
  const bool qwen = is("is_qwen2_config");
  if (experts && !experts->is_null()) model_words.lacks = "which layers have experts (moe_config)";
  if (!qwen && !is("is_llama_config")) {
    model_words.lacks = "sizes in a form that is read (is_llama_config, is_qwen2_config)";
  }
  if (!model_words.lacks.empty()) return;
  DocumentTree sizes = config->copy_tree();
  sizes.set("model_type", qwen ? "qwen2" : "llama");
  const auto window = config->find("sliding_window_size");
  if (window && !window->is_null()) {
    report.not_read.push_back({"model.model_config.sliding_window_size", window->text(), file,
                               window->source_line(), SettingImpact::kYes,
                               "the window of attention"});
  }
  const YamlJsonDocument document =
      YamlJsonDocument::from_tree(sizes, config->file_position_text());
  model::ModelArchitecture read = model::read_huggingface_config(document);
  const auto bias = config->find("attention_bias");
  if (bias && !bias->is_null()) read.qkv_bias = bias->boolean();
  const std::int64_t multiple =
      model.integer("make_vocab_size_divisible_by", 1) * plan.parallel.tensor;
  read.vocabulary = (read.vocabulary + multiple - 1) / multiple * multiple;
  read.name = "imported";
  model_words.model = read;
}

/// Takes the number of ranks from the degrees, and the nodes from the launcher; ParallelContext of
/// src/nanotron/parallel/context.py requires that the numbers agree.
void take_nanotron_ranks(std::int64_t ranks, const UserFacts& given, const std::string& file,
                         JobRankCounts& extent) {
  std::optional<std::int64_t> started = extent.ranks;
  if (extent.nodes && extent.devices_of_node) started = *extent.nodes * *extent.devices_of_node;
  if (!started || given.nodes || given.devices) {
    extent.nodes = extent.devices_of_node = std::nullopt;
    extent.ranks = ranks;
  } else if (*started != ranks) {
    fail_input(fmt::format("{}: its degrees are those of {} ranks, its script starts {}", file,
                           ranks, *started));
  }
}

/// Reads the degrees of all axes: src/nanotron/parallel/context.py.
void read_nanotron_degrees(const FrameworkSettingsReader& fields, plan::Plan& plan,
                           JobRankCounts& extent, ImportReport& report, const UserFacts& given,
                           const std::string& file) {
  plan::ParallelismDegrees& degrees = plan.parallel;
  degrees.tensor = fields.integer("tp", 1);
  degrees.pipeline = fields.integer("pp", 1);
  degrees.context = fields.integer("context_parallel_size", 1);
  degrees.expert = fields.integer("expert_parallel_size", 1);
  std::int64_t ranks = fields.integer("dp", 1);
  for (const std::int64_t more :
       {degrees.tensor, degrees.pipeline, degrees.context, degrees.expert}) {
    if (__builtin_mul_overflow(ranks, more, &ranks)) fields.node().fail("more than 2^63 ranks");
  }
  take_nanotron_ranks(ranks, given, file, extent);
  resolve_cluster_and_data_degree(plan, extent, report, given, file);
}

void read_nanotron_schedule(const FrameworkSettingsReader& fields, plan::Plan& plan) {
  if (plan.parallel.pipeline > 1) {
    plan.schedule.kind =
        fields.choice("pp_engine", kEngines, schedule::PipelineScheduleKind::kGpipe);
  }
  plan.sequence_parallel =
      plan.parallel.tensor > 1 && fields.choice("tp_mode", kTensorModes, false);
  const bool again = fields.flag("tp_recompute_allgather", true);
  plan.tensor_input =
      again ? plan::GatheredInputPolicy::kRegather : plan::GatheredInputPolicy::kKeep;
  if (fields.flag("recompute_layer", false)) plan.recompute.kind = plan::RecomputeKind::kFull;
}

void read_nanotron_states(const FrameworkSettingsReader& optimizer, PartialPlan& settled) {
  static constexpr std::string_view kStages[] = {"NNN", "NNG"};
  const auto stage = optimizer.find("zero_stage");
  const auto index = static_cast<std::size_t>(stage ? stage->integer(0, 1) : 0);
  settled.plan.sharding = plan::sharding_named_by_word(kStages[index]).value();
  const bool wide = optimizer.flag("accumulate_grad_in_fp32", true);
  settled.plan.accumulate = wide ? DType::kFp32 : settled.precision;
  static constexpr Named<plan::Optimizer> kNames[] = {{plan::Optimizer::kAdamW, "adamW"},
                                                      {plan::Optimizer::kAdamW, "adamw"},
                                                      {plan::Optimizer::kSgd, "sgd"}};
  settled.optimizer = optimizer.nested_settings("optimizer_factory")
                          .choice("name", kNames, plan::Optimizer::kAdamW);
}

}  // namespace

PlanDraft read_nanotron(Sources files, const UserFacts& given, PlanDraft draft,
                        ImportReport& report) {
  if (is_shell_script(files.front())) {
    static constexpr std::string_view kOptions[] = {"--config-file"};
    const ConfigurationFileRun run =
        read_run_from_configuration_files(files, given,
                                          {.framework = "nanotron",
                                           .arguments = "--config-file FILE.yaml",
                                           .target = "nanotron",
                                           .options = kOptions},
                                          draft.extent, draft.start, report);
    return read_nanotron(run.files, run.given, std::move(draft), report);
  }
  if (files.size() != 1) fail_input("nanotron: one file is read at a time");
  const SourceFile& file = files.front();
  const YamlJsonDocument document =
      with_user_settings(parse_like_python_yaml(file.text, file.name), given);
  const FrameworkSettingsReader root(document.root());
  const FrameworkSettingsReader parallelism = root.nested_settings("parallelism");
  const FrameworkSettingsReader tokens = root.nested_settings("tokens");
  const FrameworkSettingsReader model = root.nested_settings("model");
  draft.framework_overlap = true;
  read_nanotron_degrees(parallelism, draft.plan, draft.extent, report, given, file.name);
  read_nanotron_sizes(model, draft.plan, draft, report, file.name);
  read_nanotron_schedule(parallelism, draft.plan);
  draft.precision = model.choice("dtype", kNanotronTypes, DType::kBf16);
  read_nanotron_states(root.nested_settings("optimizer"), draft);
  draft.plan.micro_batch = tokens.integer("micro_batch_size", 1);
  draft.batch.micro_batches = tokens.integer("batch_accumulation_per_replica", 1);
  draft.batch.length = tokens.size("sequence_length");
  report_read_and_unread_settings(root, file.name, known_program_settings("nanotron/settings"),
                                  report);
  return draft;
}

}  // namespace stepwright::framework_files
