
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/hub_script.h"
#include "stepwright/framework_files/huggingface/launch_words.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/llamafactory/mca.h"
#include "stepwright/framework_files/llamafactory/v1.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kFactory = "llama-factory";

/// True if preference training needs a frozen reference copy of the model; hiyouga/LLaMA-Factory
/// src/llamafactory/hparams/finetuning_args.py: `use_ref_model`, train/dpo/workflow.py. With
/// adapters, the reference is the model with adapters switched off.
bool has_reference(const FrameworkSettingsReader& fields) {
  const std::string loss = fields.word("pref_loss", "sigmoid");
  return loss != "orpo" && loss != "simpo";
}

/// Fails for files of `llamafactory-cli export` and `chat`, which have arguments of training, too.
void check_no_export(const FrameworkSettingsReader& fields) {
  const auto said = [&](std::string_view key) {
    const auto value = fields.node().find(key);
    return value && !value->is_null();
  };
  if (said("do_train") || said("output_dir")) return;
  for (const std::string_view key : {"export_dir", "infer_backend"}) {
    if (!said(key)) continue;
    fields.node().get(key).fail_unsupported(
        "stands in a file without do_train and output_dir: nothing is trained");
  }
}

/// Reads the training method. In DPO each pair counts as two sequences, the chosen and the rejected
/// answer.
void read_stage(const FrameworkSettingsReader& fields, PartialPlan& settled) {
  const auto stage = fields.node().find("stage");
  const std::string word = stage && !stage->is_null() ? stage->text() : "sft";
  const bool pairs = word == "dpo" && has_reference(fields);
  if (!pairs && word != "sft" && word != "pt") {
    fields.record_unmodelled_setting("stage", *stage,
                                     "a second model or another loss: one of tokens is counted");
    return;
  }
  fields.mark_setting_read("stage");
  if (!pairs) return;
  settled.method.kind = plan::TrainingMethodKind::kDpo;
  settled.method.reference.place = plan::SecondModelPlace::kSame;
}

/// Reads which weights are trained, and by which method; hiyouga/LLaMA-Factory
/// src/llamafactory/hparams/finetuning_args.py: stage, finetuning_type.
PlanDraft read_method(const FrameworkSettingsReader& fields, PlanDraft draft,
                      ImportReport& report) {
  const auto type = fields.node().find("finetuning_type");
  const std::string word = type && !type->is_null() ? type->text() : "lora";
  if (word == "lora" && !type) {
    report.add_assumption("job.adapters",
                          "LLaMA-Factory trains LoRA where finetuning_type does not say");
  }
  if (word == "lora") {
    fields.mark_setting_read("finetuning_type");
    draft.adapters = read_lora_adapter_settings(fields, "llamafactory/adapters", "lora");
  } else if (word != "full") {
    fields.record_unmodelled_setting("finetuning_type", *type,
                                     "frozen weights: all are trained in the plan");
  }
  read_stage(fields, draft);
  return draft;
}

/// Reads the sequence parallelism of a fork; Qihoo360/360-LLaMA-Factory
/// src/llamafactory/hparams/model_args.py: sequence_parallel_size, sequence_parallel_mode.
void read_sequence_parallelism(const FrameworkSettingsReader& fields, plan::Plan& plan) {
  static constexpr Named<plan::ContextKind> kModes[] = {
      {plan::ContextKind::kRing, "zigzag-ring"},
      {plan::ContextKind::kAllGather, "llama3"},
      {plan::ContextKind::kUlysses, "ulysses"},
      {plan::ContextKind::kUlysses, "deepspeed-alst"}};
  plan.parallel.context = fields.integer("sequence_parallel_size", 1);
  plan.context_kind = fields.choice("sequence_parallel_mode", kModes, plan::ContextKind::kRing);
}

/// Reads the weights' type: hiyouga/LLaMA-Factory src/llamafactory/model/patcher.py: compute_dtype.
/// Trained weights are converted to fp32 unless `pure_bf16` is set:
/// src/llamafactory/model/adapter.py, init_adapter.
void read_weight_types(const FrameworkSettingsReader& fields, TrainerDistribution& trainer,
                       PartialPlan& settled, ImportReport& report) {
  const bool pure = fields.flag("pure_bf16", false);
  if (pure) trainer.weights = LoadedWeightType::kPure;
  if (settled.precision == DType::kFp32) {
    settled.precision = DType::kBf16;
    if (!pure) {
      report.add_assumption("job.precision", "the type of the model's weights, taken to be bf16");
    }
  }
  if (fields.flag("fp8", false)) settled.precision = DType::kFp8;
}

/// Reads recomputation: hiyouga/LLaMA-Factory src/llamafactory/model/model_utils/checkpointing.py.
void read_recomputation(const FrameworkSettingsReader& fields, plan::Plan& plan,
                        ImportReport& report) {
  const bool off = fields.flag("disable_gradient_checkpointing", false);
  plan.recompute.kind = off ? plan::RecomputeKind::kNone : plan::RecomputeKind::kFull;
  if (!fields.has("disable_gradient_checkpointing")) {
    report.add_assumption("recompute",
                          "LLaMA-Factory recomputes unless disable_gradient_checkpointing");
  }
  if (!off && fields.flag("use_unsloth_gc", false)) plan.offload.move_inputs();
}

/// Reads packing (hiyouga/LLaMA-Factory src/llamafactory/data/processor/supervised.py): examples
/// are cut to `cutoff_len`, and each preprocessed group is packed by `greedy_knapsack`, which takes
/// the longest example that fits first. Without `neat_packing`, documents in a sequence attend to
/// each other. In pretraining, documents are joined and cut:
/// src/llamafactory/data/processor/pretrain.py.
void read_factory_packing(const FrameworkSettingsReader& fields, const UserFacts& given,
                          StatedStepBatch& batch, ImportReport& report) {
  constexpr std::int64_t kUsualGroup = 1000;
  const auto stage = fields.node().find("stage");
  const bool pretrains = stage && stage->is_scalar() && stage->text() == "pt";
  const auto packs = fields.node().find("packing");
  const bool unsaid = !packs || packs->is_null();
  const bool neat = packs_documents(fields, "neat_packing", given);
  StatedDocumentPacking words = {.packing = {.too_long = packing::LongDocumentPolicy::kTruncate}};
  if (pretrains && (unsaid || packs->boolean())) {
    fields.mark_setting_read("packing");
    batch.packing = StatedDocumentPacking{.joined = true};
    return;
  }
  if (neat || packs_documents(fields, "packing", given)) {
    words.packing.kind = packing::PackingKind::kFirstFit;
    words.packing.group = fields.integer("preprocessing_batch_size", kUsualGroup);
    words.packing.masks = neat;
  }
  set_user_document_packing(fields, neat ? "neat_packing" : "packing", words, given, batch);
  if (!is_setting_true(fields, "neat_packing") && !is_setting_true(fields, "packing")) {
    report_max_example_length_as_unread(fields, "cutoff_len", given, batch, report);
  }
}

/// Sets the number of devices to the workers of Ray, each of which has one, if Ray starts the job;
/// hiyouga/LLaMA-Factory src/llamafactory/hparams/training_args.py, train/trainer_utils.py:
/// get_ray_trainer. A script uses Ray if it sets USE_RAY, settings without a script if they name
/// the Ray run.
void take_ray_workers(const FrameworkSettingsReader& fields, const StartedCommand* command,
                      JobRankCounts& extent) {
  bool used = fields.has("ray_num_workers");
  if (command != nullptr) {
    // Values that turn a variable on (src/llamafactory/extras/misc.py: is_env_enabled).
    static constexpr std::string_view kEnabled[] = {"1", "true", "True", "y", "Y"};
    const auto found = command->environment.find("USE_RAY");
    used = found != command->environment.end() &&
           std::ranges::find(kEnabled, found->second.text) != std::end(kEnabled);
  }
  if (!used) return;
  extent.nodes = extent.devices_of_node = std::nullopt;
  extent.ranks = fields.integer("ray_num_workers", 1);
}

/// Returns the default of `cutoff_len`: src/llamafactory/hparams/data_args.py of v0.9.5; for the
/// program src/train_bash.py that of v0.7.1 (src/llmtuner/hparams/data_args.py).
std::int64_t usual_length(const StartedCommand* command) {
  constexpr std::int64_t kLength = 2048;
  constexpr std::int64_t kLengthBefore = 1024;
  const bool old = command != nullptr && command->words.front().text.ends_with("train_bash.py");
  return old ? kLengthBefore : kLength;
}

/// Reads a settings file. `command` is the command of the script that starts it; null: no script
/// was given.
PlanDraft read_factory_program(const TransformersProgramFiles& files,
                               const YamlJsonDocument& document, const StartedCommand* command,
                               const UserFacts& given, PlanDraft draft, ImportReport& report) {
  const FrameworkSettingsReader fields(document.root());
  check_is_training(fields);
  check_no_export(fields);
  take_ray_workers(fields, command, draft.extent);
  if (files.model) draft.model = model::read_huggingface_config(*files.model, &report.notes);
  if (const auto id = fields.find("model_name_or_path"))
    set_model_by_hub_id(*id, given, draft, report);
  if (is_llama_factory_megatron(fields)) {
    return read_llama_factory_megatron(files, fields, given, std::move(draft), report);
  }
  apply_trainer_defaults(draft, draft.batch);
  TrainerDistribution trainer;
  draft.batch.length = fields.integer("cutoff_len", usual_length(command));
  draft = read_method(fields, std::move(draft), report);
  // Both are true by default: hiyouga/LLaMA-Factory src/llamafactory/hparams/finetuning_args.py.
  draft.frozen =
      model::FrozenModelParts{.encoder = fields.flag("freeze_vision_tower", true),
                              .projector = fields.flag("freeze_multi_modal_projector", true)};
  read_trainer_settings(fields, files, trainer, draft, draft.batch, report);
  if (fields.flag("use_muon", false)) draft.optimizer = plan::Optimizer::kMuon;
  read_recomputation(fields, draft.plan, report);
  read_weight_types(fields, trainer, draft, report);
  read_sequence_parallelism(fields, draft.plan);
  read_factory_packing(fields, given, draft.batch, report);
  draft.apply_liger_loss(fields.flag("enable_liger_kernel", false));
  apply_attention_kernel(fields, "flash_attn", draft);
  draft = complete_transformers_plan(fields, files, trainer, given, std::move(draft), report,
                                     known_program_settings("llamafactory/settings"));
  if (draft.method.kind == plan::TrainingMethodKind::kDpo)
    double_preference_pair_batch(draft.plan, draft.batch, report);
  return draft;
}

/// True if the words after a program fit LLaMA-Factory: a settings file, arguments of its own, or
/// nothing.
bool has_factory_words(Words words) {
  static constexpr std::string_view kOwn[] = {"--stage",   "--finetuning_type", "--template",
                                              "--dataset", "--dataset_dir",     "--cutoff_len"};
  if (words.empty() || is_yaml_or_json_path(words.front().text)) return true;
  if (!words.front().text.starts_with('-')) return true;
  return std::ranges::any_of(words, [](const ShellWord& word) {
    return launch_scripts::is_one_of(std::string_view(word.text).substr(0, word.text.find('=')),
                                     kOwn);
  });
}

/// Returns the index of the word after which LLaMA-Factory's arguments begin; -1 if there is none.
std::ptrdiff_t place_of_start(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const bool command = text.ends_with("llamafactory-cli") || text == "lmf";
    if (command && i + 1 < words.size()) {
      const std::string& verb = words[i + 1].text;
      if (verb == "train" || verb == "sft") return static_cast<std::ptrdiff_t>(i) + 1;
    }
    const bool own =
        text.ends_with("src/train_bash.py") || text.ends_with("llamafactory/launcher.py");
    // Other projects have a program of this name, too.
    const bool likely = text.ends_with("src/train.py") && has_factory_words(words.subspan(i + 1));
    if (own || likely) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

/// Reads a script that starts LLaMA-Factory with a settings file or with arguments;
/// hiyouga/LLaMA-Factory src/llamafactory/hparams/parser.py: read_args.
PlanDraft read_factory_script(Sources files, const SourceFile& script, const UserFacts& given,
                              PlanDraft draft, ImportReport& report) {
  const StartedProgramRule program{
      .framework = "LLaMA-Factory",
      .arguments = "llamafactory-cli train",
      .starts = starts_llamafactory,
      .has_argument = is_name_value_argument,
      .matters = step_relevant_argument_predicate(known_program_settings("llamafactory/settings"))};
  TransformersScriptRun read =
      read_transformers_script(script, files, given, program, draft.start, report);
  const StartedCommand& command = read.command;
  read_rank_counts_without_launcher(command, draft.extent, report);
  const std::vector<ShellWord> words = command.command_words_with_overrides();
  const auto first = static_cast<std::size_t>(place_of_start(words)) + 1;
  // The only argument names a file, also where the script leaves open which one.
  if (first == words.size() && command.left_out.size() == 1) {
    fail_for_missing_file(command.left_out.front(), command);
  }
  const bool named = first < words.size() && is_yaml_or_json_path(words[first].text);
  if (!named) {
    read.files.program = &script;
    read_accelerate_launch_options(command, read.files, report);
    YamlJsonDocument said = YamlJsonDocument::from_tree(
        command_arguments_as_mapping(words, known_program_settings("llamafactory/settings")),
        command.file);
    draft = read_factory_program(read.files, with_fsdp_file_contents(std::move(said), read.files),
                                 &command, given, std::move(draft), report);
    read_environment_settings(command, draft, draft.extent, report);
    return draft;
  }
  set_program_settings_file(words[first], read);
  read_accelerate_launch_options(command, read.files, report);
  UserFacts own = given;
  own.settings.clear();
  for (const ShellWord& word : std::span(words).subspan(first + 1)) {
    if (is_name_value_argument(word.text)) own.settings.push_back(word.text);
  }
  if (file_matches_target_rules(kFactory, *read.files.program, "v1")) {
    draft = read_llama_factory_v1(read.files, own, std::move(draft), report);
  } else {
    draft = read_factory_program(read.files, program_settings_document(read.files, own), &command,
                                 given, std::move(draft), report);
  }
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

}  // namespace

bool starts_llamafactory(Words words) { return place_of_start(words) >= 0; }

PlanDraft read_llamafactory(Sources files, const UserFacts& given, PlanDraft draft,
                            ImportReport& report) {
  const auto script = std::ranges::find_if(files, [](const SourceFile& file) {
    return file_matches_target_rules(kFactory, file, "script");
  });
  if (script != files.end())
    return read_factory_script(files, *script, given, std::move(draft), report);
  const TransformersProgramFiles sorted = sort_transformers_files(files);
  if (sorted.program == nullptr)
    fail_input(sorted.name + ": is not a configuration of LLaMA-Factory");
  if (file_matches_target_rules(kFactory, *sorted.program, "v1"))
    return read_llama_factory_v1(sorted, given, std::move(draft), report);
  return read_factory_program(sorted, program_settings_document(sorted, given), nullptr, given,
                              std::move(draft), report);
}

}  // namespace stepwright::framework_files
