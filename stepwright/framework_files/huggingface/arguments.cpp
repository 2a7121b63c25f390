#include "stepwright/framework_files/huggingface/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/fields.h"
#include "stepwright/framework_files/huggingface/accelerate.h"
#include "stepwright/framework_files/huggingface/arguments_settings.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/launch_words.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

constexpr std::array<std::string_view, 4> kMarks = {"per_device_train_batch_size", "output_dir",
                                                    "gradient_accumulation_steps", "deepspeed"};

bool has_mark(const Fields& root) {
  if (!root.node().is_mapping()) return false;
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return root.has(mark); });
}

/// The model alone, on plain data parallelism.
void read_model_alone(const std::string& name, const Given& given, Draft& draft) {
  draft.framework_overlap = draft.framework_gradients = true;
  settle_ranks(draft, given, name);
  draft.assume("parallel", "plain data parallelism, as only the model is said");
}

bool is_trainer_script(const SourceFile& file) {
  return holds(file, "--per_device_train_batch_size") ||
         holds(file, "--per-device-train-batch-size");
}

bool starts_trainer(std::span<const ShellWord> words) {
  return std::ranges::any_of(words, [](const ShellWord& word) {
    return word.text.starts_with("--per_device_train_batch_size") ||
           word.text.starts_with("--per-device-train-batch-size");
  });
}

/// huggingface/trl trl/trainer/sft_config.py: what SFTConfig sets in TrainingArguments.
void add_sft_defaults(const StartedCommand& command, Tree& fields) {
  constexpr int kUsualLength = 1024;
  const auto names_trl = [](const ShellWord& word) {
    return word.text == "trl" || word.text.find("trl/scripts/sft.py") != std::string::npos;
  };
  if (!std::ranges::any_of(command.words, names_trl)) return;
  if (fields.find("gradient_checkpointing") == nullptr) fields.set("gradient_checkpointing", true);
  if (fields.find("max_length") == nullptr) fields.set("max_length", kUsualLength);
  if (fields.find("bf16") == nullptr && fields.find("fp16") == nullptr) fields.set("bf16", true);
}

/// A script that starts a program on transformers' Trainer.
void read_trainer_script(HubFiles& files, const Given& given, Draft& draft) {
  const StartedProgram program{
      .framework = "transformers' Trainer",
      .arguments = "--per_device_train_batch_size",
      .starts = starts_trainer,
      .has_argument = is_argument_and_value,
      .takes_values = [](std::string_view) { return true; },
      .matters =
          [](std::string_view argument) { return argument_matters(argument, kArgumentSettings); }};
  const StartedCommand command = started_command({files.program, 1}, given, program, draft);
  draft.source = command.file;
  read_launcher(command, draft);
  take_launch_words(command, files);
  Tree fields = command_fields(command.all_words());
  add_sft_defaults(command, fields);
  const Document document = with_fsdp_file(Document::from(std::move(fields), command.file), files);
  read_training_arguments(Fields(document.root()), files, given, draft, kArgumentSettings);
  read_environment(command, draft);
}

}  // namespace

void read_huggingface(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  HubFiles sorted = sorted_hub_files(files);
  if (sorted.model) draft.model = read_config(*sorted.model, &draft.notes);
  if (sorted.program == nullptr) {
    if (sorted.accelerate != nullptr) fail_input(sorted.name + ": give TrainingArguments, too");
    if (sorted.deepspeed == nullptr) return read_model_alone(sorted.name, given, draft);
    draft.framework.name = "deepspeed";
    return read_deepspeed({sorted.deepspeed, 1}, given, draft);
  }
  if (is_trainer_script(*sorted.program)) return read_trainer_script(sorted, given, draft);
  const std::string& name = sorted.program->name;
  const Document document = program_document(sorted, given);
  const Fields arguments(document.root());
  if (!has_mark(arguments)) {
    fail_input(
        fmt::format("{}: is neither a config.json (model_type), nor TrainingArguments "
                    "(per_device_train_batch_size), nor of DeepSpeed (zero_optimization)",
                    name));
  }
  read_training_arguments(arguments, sorted, given, draft, kArgumentSettings);
}

bool is_huggingface(const SourceFile& file) {
  return holds(file, "\"model_type\"") || holds(file, "per_device_train_batch_size") ||
         is_trainer_script(file);
}

}  // namespace stepwright
