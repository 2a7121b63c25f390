#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/lower_case.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/python_report.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/hub_script.h"
#include "stepwright/framework_files/huggingface/launch_words.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/huggingface/trainer_program.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kTrl = "trl";
constexpr std::array<std::string_view, 4> kMarks = {"per_device_train_batch_size", "output_dir",
                                                    "gradient_accumulation_steps", "deepspeed"};

bool has_mark(const FrameworkSettingsReader& root) {
  if (!root.node().is_mapping()) return false;
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return root.has(mark); });
}

/// Reads a plan from a model's config.json alone: plain data parallelism.
void read_model_alone(const std::string& name, const UserFacts& given, PartialPlan& settled,
                      JobRankCounts& extent, ImportReport& report) {
  settled.framework_overlap = settled.framework_gradients = true;
  resolve_cluster_and_data_degree(settled.plan, extent, report, given, name);
  report.add_assumption("parallel", "plain data parallelism, as only the model is said");
}

/// A command that starts a program built on transformers' Trainer.
struct TrainerCommand {
  /// Method "sft" for `trl sft` and `scripts/sft.py`; empty: the command starts no such program.
  std::string method;
  bool trl = false;                   ///< True for a script of TRL, which has TRL's defaults.
  std::optional<ShellWord> settings;  ///< The settings file that the command names; nullopt: none.
};

/// Returns the file after `--config`, or directly after the program; nullopt: none. huggingface/trl
/// trl/scripts/utils.py: TrlParser; huggingface/alignment-handbook src/alignment/configs.py:
/// H4ArgumentParser.
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
  if (first && is_yaml_or_json_path(words.front().text)) return words.front();
  return std::nullopt;
}

/// True if a word of a command line is a training method: "dpo" in `lab-cli dpo --bf16`.
bool names_method(std::string_view word) {
  return !meaning_of_program_setting_word("huggingface/trl", "methods", word).empty();
}

/// True if a word is the name of a TRL module that trains.
bool is_trl_module(std::string_view word) {
  return std::ranges::any_of(words_of_table_section("huggingface/trl", "modules"),
                             [&](const WordRow& row) { return word.starts_with(row.first); });
}

TrainerCommand trainer_command(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const bool cli = text == "trl" || text.ends_with("/trl");
    if (cli && i + 1 < words.size()) {
      return {words[i + 1].text, true, settings_among(words.subspan(i + 2))};
    }
    if (i == 1 && names_method(text) && !words.front().text.ends_with(".py")) {
      return {text, false, settings_among(words.subspan(2))};
    }
    const bool module = is_trl_module(text);
    const bool file = text.ends_with(".py") && text.find('=') == std::string::npos;
    if (!module && !file) continue;
    std::string name = text.substr(0, text.size() - (file ? 3 : 0));
    name.erase(0, name.find_last_of(file ? '/' : '.') + 1);
    const bool own = module || text.find("trl/scripts/") != std::string::npos;
    return {name.empty() ? text : name, own, settings_among(words.subspan(i + 1))};
  }
  return {};
}

/// Reports a method of TRL whose loss no plan has, with its line in a file.
void leave_out_other_loss(const std::string& named, const std::string& file, std::uint32_t line,
                          ImportReport& report) {
  for (const auto& [method, why] : words_of_table_section("huggingface/trl", "other_losses")) {
    if (named.find(method) == std::string::npos) continue;
    report.not_read.push_back({named, "", file, line, SettingImpact::kYes, why});
    return;
  }
}

/// Returns the plan fields that arguments set, as far as the table of arguments has their names.
std::vector<std::string_view> said_fields(const DocumentTree& arguments,
                                          std::span<const KnownSetting> known) {
  std::vector<std::string_view> fields;
  for (const auto& [key, value] : tree_members(arguments)) {
    const KnownSetting* one = find_known_setting(known, key);
    if (one != nullptr && value.kind != DocumentTree::TreeValueKind::kNull) {
      fields.push_back(one->field);
    }
  }
  return fields;
}

/// Adds the values that TRL sets in TrainingArguments (trl 1.16.0 trl/trainer/base_config.py,
/// sft_config.py, dpo_config.py, grpo_config.py). A sequence of GRPO is as long as prompt and
/// completion may be.
void add_trl_defaults(std::string_view method, DocumentTree& fields) {
  constexpr int kUsualLength = 1024;
  constexpr std::int64_t kUsualPart = 512;
  const auto says = [&](std::string_view key) { return fields.find(key) != nullptr; };
  const auto known = known_program_settings("huggingface/arguments");
  const auto says_field = [&](std::string_view field) {
    return std::ranges::any_of(said_fields(fields, known),
                               [&](std::string_view one) { return one == field; });
  };
  if (!says("gradient_checkpointing")) fields.set("gradient_checkpointing", true);
  if (method == "grpo" && !says("max_length")) {
    const auto part = [&](std::string_view key) {
      const DocumentTree* said = fields.find(key);
      const IntegerParseResult number = read_integer(said == nullptr ? "" : said->text);
      return number.status == IntegerParseResult::IntegerParseStatus::kGood ? number.value
                                                                            : kUsualPart;
    };
    fields.set("max_length", part("max_prompt_length") + part("max_completion_length"));
  }
  if (!says_field("job.batch.length")) fields.set("max_length", kUsualLength);
  if (!says("bf16") && !says("fp16")) fields.set("bf16", true);
}

/// Turns adapters on if the program's name contains LoRA (`run_fsdp_qlora.py`) and its arguments
/// configure adapters without a switch. Fails with `kInput` if no argument mentions adapters: the
/// program then sets them in its own code, or trains all weights.
void add_named_adapters(const TrainerCommand& started, const StartedCommand& command,
                        DocumentTree& fields) {
  const std::string name = to_lower_case(started.method);
  if (name.find("lora") == std::string::npos) return;
  const std::string_view way = name.find("qlora") != std::string::npos ? "use_qlora" : "use_lora";
  bool speaks = false;
  for (const auto& [key, said] : tree_members(fields)) {
    if (key.find("lora") == std::string::npos && key.find("peft") == std::string::npos) continue;
    if (said.text == "true" || said.text == "false") return;
    speaks = true;
  }
  if (!speaks) {
    fail_input(fmt::format(
        "{}:{}: {}: the program's name says LoRA, and no argument speaks of adapters: say them "
        "with --set {}=true --set lora_r=16, or --set use_lora=false where it trains all weights",
        command.file, command.words.front().line, one_line_printable_text(started.method), way));
  }
  fields.set(std::string(way), true);
}

/// True if a program's name has a word of a loss of pairs without a reference: "run_simpo".
bool learns_from_pairs_alone(std::string_view script) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto rows = words_of_table_section("huggingface/trl", "pairs_alone");
  return std::ranges::any_of(rows, [&](const WordRow& row) {
    const std::size_t at = script.find(row.first);
    const std::size_t end = at + row.first.size();
    return at != std::string_view::npos && (at == 0 || !letter(script[at - 1])) &&
           (end >= script.size() || !letter(script[end]));
  });
}

}  // namespace

void read_trl_method(std::string_view script, const FrameworkSettingsReader& arguments,
                     PartialPlan& settled, double usual_beta) {
  plan::TrainingMethod& method = settled.method;
  if (script.find("sft") != std::string_view::npos) method.kind = plan::TrainingMethodKind::kSft;
  if (script.find("dpo") != std::string_view::npos) {
    const bool ahead = arguments.flag("precompute_ref_log_probs", false);
    arguments.mark_setting_read("beta");
    method.kind = plan::TrainingMethodKind::kDpo;
    method.reference.place = ahead ? plan::SecondModelPlace::kHost : plan::SecondModelPlace::kSame;
  }
  if (learns_from_pairs_alone(script)) {
    arguments.mark_setting_read("beta");
    method.kind = plan::TrainingMethodKind::kDpo;
  }
  if (script.find("grpo") == std::string_view::npos) return;
  constexpr double kUsualPrompt = 512;
  const std::int64_t accumulation = arguments.integer("gradient_accumulation_steps", 1);
  const std::int64_t steps = arguments.integer("steps_per_generation", accumulation);
  arguments.mark_setting_read("num_generations");
  arguments.mark_setting_read("max_completion_length");
  method.kind = plan::TrainingMethodKind::kGrpo;
  method.updates =
      std::max<std::int64_t>(1, steps / accumulation) * arguments.integer("num_iterations", 1);
  method.old_log_probabilities = method.updates > 1;
  if (arguments.number("beta", usual_beta) > 0)
    method.reference.place = plan::SecondModelPlace::kSame;
  method.rollout =
      plan::RolloutSettings{.prompt = arguments.number("max_prompt_length", kUsualPrompt),
                            .tensor = arguments.integer("vllm_tensor_parallel_size", 1)};
}

namespace {

/// Reads arguments of transformers' Trainer and, if there is one, of a method of TRL.
PlanDraft read_method_arguments(std::string_view method, const FrameworkSettingsReader& arguments,
                                const TransformersProgramFiles& files, const UserFacts& given,
                                PlanDraft draft, ImportReport& report) {
  // Only methods that generate several answers to a prompt have num_generations.
  const bool named = std::ranges::any_of(
      words_of_table_section("huggingface/trl", "methods"),
      [&](const WordRow& row) { return method.find(row.first) != std::string_view::npos; });
  if (!named && arguments.has("num_generations")) method = "grpo";
  read_trl_method(method, arguments, draft);
  draft = read_training_arguments(arguments, files, given, std::move(draft), report,
                                  known_program_settings("huggingface/arguments"));
  if (draft.method.kind == plan::TrainingMethodKind::kDpo)
    double_preference_pair_batch(draft.plan, draft.batch, report);
  return draft;
}

/// Returns the settings file overridden by the command's arguments, or the arguments alone.
YamlJsonDocument said_by(const TrainerCommand& started, const std::vector<ShellWord>& words,
                         TransformersScriptRun& script) {
  if (!started.settings) {
    return YamlJsonDocument::from_tree(
        command_arguments_as_mapping(words, known_program_settings("huggingface/arguments")),
        script.command.file);
  }
  set_program_settings_file(*started.settings, script);
  const SourceFile& file = *script.files.program;
  std::vector<ShellWord> others = words;
  std::erase_if(others, [](const ShellWord& word) { return word.text.starts_with("--config="); });
  const auto config = std::ranges::find(others, "--config", &ShellWord::text);
  if (config != others.end()) others.erase(config, config + 2);
  return with_command_arguments(parse_like_python_yaml(file.text, file.name), others,
                                known_program_settings("huggingface/arguments"));
}

/// Fails for a program of the user's own if its settings file has no argument of transformers'
/// Trainer.
void refuse_other_settings(const TrainerCommand& started, const StartedCommand& command,
                           const FrameworkSettingsReader& arguments) {
  if (started.trl || !started.settings || has_mark(arguments)) return;
  fail_unsupported(fmt::format(
      "{}:{}: starts {}, a program of its own: {} has none of the arguments of transformers' "
      "Trainer (per_device_train_batch_size, gradient_accumulation_steps, output_dir)",
      command.file, command.words.front().line, one_line_printable_text(command.words.front().text),
      one_line_printable_text(started.settings->text)));
}

/// Returns the cluster that a program sees, with as many devices as its launcher states, else those
/// of --cluster.
cluster::Cluster seen_cluster(JobRankCounts extent, const UserFacts& given,
                              const std::string& file) {
  plan::Plan plan;
  ImportReport report;
  resolve_cluster_and_data_degree(plan, extent, report, given, file);
  return extent.cluster;
}

std::string_view stated_name(std::string_view setting) {
  return setting.substr(0, setting.find('='));
}

/// Sets one node with the devices to which a program restricts itself, unless its launcher states
/// the job's size.
void take_visible_devices(const ShellWord& visible, const std::string& file, JobRankCounts& extent,
                          ImportReport& report) {
  const auto count = cuda_visible_device_count(visible.text);
  if (!count || extent.ranks || extent.nodes || extent.devices_of_node) return;
  extent.nodes = 1;
  extent.devices_of_node = count;
  report.read.push_back({"CUDA_VISIBLE_DEVICES", visible.text, file, visible.line, "job.cluster"});
}

/// Reads a Python program that makes TrainingArguments from literals, and the files given with it;
/// `options` are the words of its command.
PlanDraft read_program(const TransformersProgramFiles& files,
                       const std::vector<std::string>& options, const UserFacts& given,
                       PlanDraft draft, ImportReport& report) {
  const SourceFile& file = *files.program;
  launch_scripts::ArgparseOptions of_command(options);
  for (const std::string_view setting : given.settings) {
    const std::string_view name = stated_name(setting);
    if (name != setting) of_command.set(name, setting.substr(name.size() + 1));
  }
  TrainerProgram program =
      read_trainer_program(file, seen_cluster(draft.extent, given, file.name), of_command);
  if (!program.has_arguments) {
    fail_input(fmt::format(
        "{}: makes no TrainingArguments that can be followed: `stepwright check --capture "
        "-- COMMAND` reads what its command says, stepwright.check(ARGUMENTS) in the "
        "program the object itself",
        file.name));
  }
  take_visible_devices(program.visible_devices, file.name, draft.extent, report);
  if (program.trl_defaults) add_trl_defaults(program.method, program.config.tree);
  if (!program.method.empty()) {
    draft.framework.variant = kTrl;
    leave_out_other_loss(program.method, file.name, program.config.tree.line, report);
  }
  UserFacts others = given;
  std::erase_if(others.settings, [&](const std::string& setting) {
    return of_command.has_program_option(stated_name(setting));
  });
  const YamlJsonDocument document = with_fsdp_file_contents(
      with_user_settings(YamlJsonDocument::from_tree(std::move(program.config.tree), file.name),
                         others),
      files);
  const FrameworkSettingsReader arguments(document.root());
  const auto known = known_program_settings("huggingface/arguments");
  report_unread_python_values(program.config, document, known, report, known);
  return read_method_arguments(program.method, arguments, files, others, std::move(draft), report);
}

/// Reads a script that starts a Trainer program, whose file was given.
PlanDraft read_started_program(TransformersScriptRun& script, const SourceFile& program,
                               const UserFacts& given, PlanDraft draft, ImportReport& report) {
  const StartedCommand& command = script.command;
  script.files.program = &program;
  if (script.files.model)
    draft.model = model::read_huggingface_config(*script.files.model, &report.notes);
  read_launcher_rank_counts(command, draft.extent, report);
  read_accelerate_launch_options(command, script.files, report);
  std::vector<std::string> options;
  for (const ShellWord& word : command.words) options.push_back(word.text);
  draft = read_program(script.files, options, given, std::move(draft), report);
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

/// True if a mapping turns adapters on by one of the arguments that are a switch.
bool turns_adapters_on(const DocumentTree& arguments, std::span<const KnownSetting> known) {
  for (const auto& [key, value] : tree_members(arguments)) {
    const KnownSetting* one = find_known_setting(known, key);
    const bool on = to_lower_case(value.text) == "true";
    if (on && one != nullptr && one->field == "job.adapters") return true;
  }
  return false;
}

/// Adds to a command's arguments what a given program states of those that the command leaves out:
/// defaults of the classes that its parser fills, and how it loads the model. Returns what the
/// program states.
TrainerProgram add_program_values(const SourceFile& file, const cluster::Cluster& cluster,
                                  DocumentTree& fields, ImportReport& report) try {
  const auto known = known_program_settings("huggingface/arguments");
  launch_scripts::ArgparseOptions options;
  for (const auto& [key, value] : tree_members(fields)) {
    if (value.kind != DocumentTree::TreeValueKind::kScalar) continue;
    options.set(key, value.text);
  }
  const TrainerProgram program = read_trainer_program(file, cluster, options);
  const DocumentTree& told = program.config.tree;
  const std::vector<std::string_view> said = said_fields(fields, known);
  const bool adapted = turns_adapters_on(fields, known) || turns_adapters_on(told, known);
  for (const auto& [name, value] : tree_members(told)) {
    const KnownSetting* one = find_known_setting(known, name);
    const bool matters =
        one != nullptr && (!one->field.empty() || one->matters != SettingImpact::kNo);
    if (!matters || value.kind == DocumentTree::TreeValueKind::kNull ||
        fields.find(name) != nullptr)
      continue;
    if (!one->field.empty() && std::ranges::find(said, one->field) != said.end()) continue;
    if (!adapted && one->field.starts_with("job.adapters")) continue;
    fields.set(name, without_line_numbers(value));
  }
  if (program.trl_defaults) add_trl_defaults(program.method, fields);
  return program;
} catch (const Error& error) {
  if (error.kind() != ErrorKind::kInput) throw;
  report.notes.push_back(
      fmt::format("Only the arguments of the command were read: {}.", error.what()));
  return {};
}

/// Replaces the file of settings without a line in a report by `file`, if that is where they are
/// stated.
void place_settings(const DocumentTree& stated, const std::string& settings,
                    const std::string& file, ImportReport& report) {
  each_setting(report, [&](auto& one) {
    const DocumentTree* said =
        one.line == 0 && one.file == settings ? stated.find(one.name) : nullptr;
    if (said == nullptr) return;
    one.file = file;
    one.line = said->line;
  });
}

/// Reads a script that starts a program built on transformers' Trainer.
PlanDraft read_trainer_script(Sources files, const SourceFile& file, const UserFacts& given,
                              PlanDraft draft, ImportReport& report) {
  const StartedProgramRule program{
      .framework = "transformers' Trainer",
      .arguments = "--per_device_train_batch_size, --config FILE.yaml",
      .starts =
          [&](Words words) {
            return starts_trainer(words) ||
                   trainer_program_started_by_command(words, files) != nullptr;
          },
      .has_argument = is_name_value_argument,
      .matters = step_relevant_argument_predicate(known_program_settings("huggingface/arguments"))};
  TransformersScriptRun script =
      read_transformers_script(file, files, given, program, draft.start, report);
  const StartedCommand& command = script.command;
  const SourceFile* const own = trainer_program_started_by_command(command.words, files);
  if (own != nullptr && makes_own_arguments(*own)) {
    return read_started_program(script, *own, given, std::move(draft), report);
  }
  TrainerCommand started = trainer_command(command.words);
  script.files.program = &file;
  if (script.files.model)
    draft.model = model::read_huggingface_config(*script.files.model, &report.notes);
  const std::vector<ShellWord> words = command.command_words_with_overrides();
  const YamlJsonDocument said = said_by(started, words, script);
  read_launcher_rank_counts(command, draft.extent, report);
  read_accelerate_launch_options(command, script.files, report);
  DocumentTree fields = said.root().copy_tree_with_file_positions();
  if (started.trl) {
    add_trl_defaults(started.method, fields);
    draft.framework.variant = kTrl;
  }
  TrainerProgram program_says;
  if (own != nullptr) {
    program_says =
        add_program_values(*own, seen_cluster(draft.extent, given, own->name), fields, report);
    if (!program_says.method.empty()) {
      started.method = program_says.method;
      draft.framework.variant = kTrl;
    }
  }
  add_named_adapters(started, command, fields);
  leave_out_other_loss(started.method, command.file, command.words.front().line, report);
  const YamlJsonDocument document = with_fsdp_file_contents(
      YamlJsonDocument::from_tree(std::move(fields), said.document_name()), script.files);
  const FrameworkSettingsReader arguments(document.root());
  refuse_other_settings(started, command, arguments);
  draft = read_method_arguments(started.method, arguments, script.files, given, std::move(draft),
                                report);
  if (started.settings) {
    place_settings(
        command_arguments_as_mapping(words, known_program_settings("huggingface/arguments")),
        said.document_name(), command.file, report);
  }
  if (own != nullptr)
    place_settings(program_says.config.tree, said.document_name(), own->name, report);
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

}  // namespace

bool starts_trainer(Words words) {
  if (command_matches_target_rules("hf", words)) return true;
  const TrainerCommand command = trainer_command(words);
  // TRL's own programs have transformers' default batch if none is stated.
  const bool trl = command.trl && names_method(command.method);
  return trl || command.settings.has_value();
}

PlanDraft read_huggingface(Sources files, const UserFacts& given, PlanDraft draft,
                           ImportReport& report) {
  for (const SourceFile& file : files) {
    if (is_shell_script(file) || file_matches_target_rules("hf", file, "arguments")) {
      return read_trainer_script(files, file, given, std::move(draft), report);
    }
  }
  TransformersProgramFiles sorted = sort_transformers_files(files);
  if (sorted.model) draft.model = model::read_huggingface_config(*sorted.model, &report.notes);
  if (sorted.program == nullptr) {
    if (sorted.accelerate != nullptr) fail_input(sorted.name + ": give TrainingArguments, too");
    if (sorted.deepspeed == nullptr) {
      read_model_alone(sorted.name, given, draft, draft.extent, report);
      return draft;
    }
    draft.framework.name = "deepspeed";
    return read_deepspeed({sorted.deepspeed, 1}, given, std::move(draft), report);
  }
  if (is_trainer_program(*sorted.program)) {
    return read_program(sorted, {}, given, std::move(draft), report);
  }
  const std::string& name = sorted.program->name;
  const YamlJsonDocument document = program_settings_document(sorted, given);
  const FrameworkSettingsReader arguments(document.root());
  if (!has_mark(arguments)) {
    fail_input(fmt::format(
        "{}: is neither a config.json (it has no model_type), nor TrainingArguments (no "
        "per_device_train_batch_size), nor a configuration of DeepSpeed (no zero_optimization)",
        name));
  }
  return read_method_arguments("", arguments, sorted, given, std::move(draft), report);
}

}  // namespace stepwright::framework_files
