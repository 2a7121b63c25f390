#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/accelerate.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/hub_script.h"
#include "stepwright/framework_files/huggingface/launch_words.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
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

/// What a command starts on transformers' Trainer.
struct TrainerCommand {
  std::string method;  ///< "sft" of `trl sft` and of `scripts/sft.py`; empty: nothing is started.
  bool trl = false;    ///< Whether it is a script of TRL, with its defaults.
  std::optional<ShellWord> settings;  ///< The file that it is given.
};

/// The file behind `--config`, or right behind the program; huggingface/trl trl/scripts/utils.py:
/// TrlParser; huggingface/alignment-handbook src/alignment/configs.py: H4ArgumentParser.
std::optional<ShellWord> settings_among(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (text == "--config" && i + 1 < words.size()) return words[i + 1];
    if (text.starts_with("--config=")) {
      ShellWord word = words[i];
      word.text.erase(0, text.find('=') + 1);
      return word;
    }
  }
  const bool first = !words.empty() && !words.front().text.starts_with('-');
  if (first && names_settings(words.front().text)) return words.front();
  return std::nullopt;
}

TrainerCommand trainer_command(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const bool cli = text == "trl" || text.ends_with("/trl");
    if (cli && i + 1 < words.size()) {
      return {words[i + 1].text, true, settings_among(words.subspan(i + 2))};
    }
    const bool module = text.starts_with("trl.scripts.") || text.starts_with("trl.cli");
    const bool file = text.ends_with(".py") && text.find('=') == std::string::npos;
    if (!module && !file) continue;
    std::string name = text.substr(0, text.size() - (file ? 3 : 0));
    name.erase(0, name.find_last_of(file ? '/' : '.') + 1);
    const bool own = module || text.find("trl/scripts/") != std::string::npos;
    return {name.empty() ? text : name, own, settings_among(words.subspan(i + 1))};
  }
  return {};
}

void leave_out_other_loss(const TrainerCommand& started, const StartedCommand& command,
                          ImportReport& report) {
  for (const auto& [method, why] : words_below("huggingface/trl", "other_losses")) {
    if (started.method.find(method) == std::string::npos) continue;
    report.not_read.push_back(
        {started.method, "", command.file, command.words.front().line, Matters::kYes, why});
    return;
  }
}

/// huggingface/trl trl/trainer/base_config.py, trl/trainer/sft_config.py: what they set in
/// TrainingArguments.
void add_trl_defaults(Tree& fields) {
  constexpr int kUsualLength = 1024;
  const auto says = [&](std::string_view key) { return fields.find(key) != nullptr; };
  if (!says("gradient_checkpointing")) fields.set("gradient_checkpointing", true);
  if (!says("max_length") && !says("max_seq_length") && !says("max_seq_len")) {
    fields.set("max_length", kUsualLength);
  }
  if (!says("bf16") && !says("fp16")) fields.set("bf16", true);
}

/// The file of settings with what the command says over it, or the command's words alone.
Document said_by(const TrainerCommand& started, const std::vector<ShellWord>& words,
                 HubScript& script) {
  if (!started.settings) {
    return Document::from(command_fields(words, known_settings("huggingface/arguments")),
                          script.command.file);
  }
  take_named_settings(*started.settings, script);
  const SourceFile& file = *script.files.program;
  std::vector<ShellWord> others = words;
  std::erase_if(others, [](const ShellWord& word) { return word.text.starts_with("--config="); });
  const auto config = std::ranges::find(others, "--config", &ShellWord::text);
  if (config != others.end()) others.erase(config, config + 2);
  return with_command_fields(Document::parse(file.text, file.name), others,
                             known_settings("huggingface/arguments"));
}

/// A script that starts a program on transformers' Trainer.
void read_trainer_script(Sources files, const SourceFile& file, const Given& given, Draft& draft) {
  const StartedProgram program{.framework = "transformers' Trainer",
                               .arguments = "--per_device_train_batch_size, --config FILE.yaml",
                               .starts = starts_trainer,
                               .has_argument = is_argument_and_value,
                               .matters = matters_by(known_settings("huggingface/arguments"))};
  HubScript script = read_hub_script(file, files, given, program, draft);
  const StartedCommand& command = script.command;
  const TrainerCommand started = trainer_command(command.words);
  script.files.program = &file;
  if (script.files.model) draft.model = model::read_config(*script.files.model, &draft.notes);
  const Document said = said_by(started, command.all_words(), script);
  read_launcher(command, draft);
  take_launch_words(command, script.files, draft.report);
  Tree fields = said.root().placed_tree();
  if (started.trl) add_trl_defaults(fields);
  leave_out_other_loss(started, command, draft.report);
  const Document document =
      with_fsdp_file(Document::from(std::move(fields), said.name()), script.files);
  read_training_arguments(Fields(document.root()), script.files, given, draft,
                          known_settings("huggingface/arguments"));
  read_environment(command, draft);
}

}  // namespace

bool starts_trainer(Words words) {
  static constexpr std::array<std::string_view, 7> kMethods = {"sft",    "dpo",  "grpo", "kto",
                                                               "reward", "rloo", "orpo"};
  if (is_start_of("hf", words)) return true;
  const TrainerCommand command = trainer_command(words);
  // The batch of TRL's own programs is transformers' default where nothing says it.
  const bool trl = command.trl && std::ranges::find(kMethods, command.method) != kMethods.end();
  return trl || command.settings.has_value();
}

void read_huggingface(Sources files, const Given& given, Draft& draft) {
  for (const SourceFile& file : files) {
    if (is_shell_script(file) || is_file_of("hf", file, "arguments")) {
      return read_trainer_script(files, file, given, draft);
    }
  }
  HubFiles sorted = sorted_hub_files(files);
  if (sorted.model) draft.model = model::read_config(*sorted.model, &draft.notes);
  if (sorted.program == nullptr) {
    if (sorted.accelerate != nullptr) fail_input(sorted.name + ": give TrainingArguments, too");
    if (sorted.deepspeed == nullptr) return read_model_alone(sorted.name, given, draft);
    draft.framework.name = "deepspeed";
    return read_deepspeed({sorted.deepspeed, 1}, given, draft);
  }
  const std::string& name = sorted.program->name;
  const Document document = program_document(sorted, given);
  const Fields arguments(document.root());
  if (!has_mark(arguments)) {
    fail_input(
        fmt::format("{}: is neither a config.json (model_type), nor TrainingArguments "
                    "(per_device_train_batch_size), nor of DeepSpeed (zero_optimization)",
                    name));
  }
  read_training_arguments(arguments, sorted, given, draft, known_settings("huggingface/arguments"));
}

}  // namespace stepwright::framework_files
