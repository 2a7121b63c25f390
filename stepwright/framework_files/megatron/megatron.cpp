#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/megatron/arguments.h"
#include "stepwright/framework_files/megatron/deepspeed_file.h"
#include "stepwright/framework_files/megatron/flags.h"
#include "stepwright/framework_files/megatron/forks.h"
#include "stepwright/framework_files/megatron/mixers.h"
#include "stepwright/framework_files/megatron/plan.h"
#include "stepwright/framework_files/megatron/slime.h"
#include "stepwright/framework_files/megatron/stated.h"
#include "stepwright/framework_files/megatron/vocabulary.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/launch_scripts/text.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::framework_files {

namespace {

bool takes_values(std::string_view flag) {
  const auto argument = find_megatron_argument(flag);
  return !argument || argument->arity != ArgumentValueCount::kNone;
}

bool takes_list(std::string_view flag) {
  const auto argument = find_megatron_argument(flag);
  return argument && (argument->arity == ArgumentValueCount::kSome ||
                      argument->arity == ArgumentValueCount::kAny);
}

bool matters(std::string_view flag) {
  const auto argument = find_megatron_argument(flag);
  return !argument || !argument->field.empty();
}

/// Fails for a program whose model no plan has; reports a program of which a plan has only a part.
void check_program(const StartedCommand& command, ImportReport& report) {
  const std::string& program = command.words.front().text;
  if (!program.ends_with(".py")) return;
  const std::uint32_t line = command.words.front().line;
  const auto named_by = [&](const auto& row) {
    return program.find(row.first) != std::string::npos;
  };
  const auto others = words_of_table_section("megatron/words", "other_programs");
  if (const auto other = std::ranges::find_if(others, named_by); other != others.end()) {
    fail_unsupported(fmt::format("{}:{}: {} trains {}: a plan has decoders alone", command.file,
                                 line, one_line_printable_text(program), other->second));
  }
  const auto partly = words_of_table_section("megatron/words", "more_than_decoders");
  const auto more = std::ranges::find_if(partly, named_by);
  if (more == partly.end()) return;
  report.not_read.push_back({one_line_printable_text(program), "", command.file, line,
                             SettingImpact::kYes, more->second});
}

/// Reports a program that is named after a model with gated MLPs if its arguments set no gate.
void list_gated_program(const StartedCommand& command, const StatedModel& model_words,
                        ImportReport& report) {
  const ShellWord& program = command.words.front();
  if (!model_words.model || model_words.model->gated || !program.text.ends_with(".py")) return;
  const std::string_view file = launch_scripts::last_path_part(program.text);
  for (const auto& [name, model] : words_of_table_section("megatron/words", "gated_programs")) {
    if (file.find(name) == std::string_view::npos) continue;
    report.not_read.push_back(
        {one_line_printable_text(program.text), "", command.file, program.line, SettingImpact::kYes,
         fmt::format("that it may build {} by itself: the arguments say no gated MLP, and none is "
                     "counted",
                     model)});
    return;
  }
}

/// Programs of Megatron-LM itself, which refuse an argument that no release has (parse_args of
/// megatron/training/arguments.py).
constexpr std::string_view kOwnPrograms[] = {"pretrain_gpt.py", "pretrain_hybrid.py",
                                             "pretrain_mamba.py"};

bool is_own_program(const StartedCommand& command) {
  const std::string_view name = launch_scripts::last_path_part(command.words.front().text);
  return std::ranges::find(kOwnPrograms, name) != std::end(kOwnPrograms);
}

/// Renames settings from fields to the arguments that set them.
void name_by_flags(const MegatronArgumentFields& arguments, ImportReport& report) {
  each_setting(report, [&](auto& setting) {
    const auto flag = arguments.flags.find(setting.name);
    if (flag != arguments.flags.end()) setting.name = flag->second;
  });
}

/// Reads a plan from arguments, and reports what happened to each.
PlanDraft read_arguments(MegatronArgumentFields arguments, const UserFacts& given,
                         const std::string& name, PlanDraft draft, ImportReport& report) {
  const YamlJsonDocument document = YamlJsonDocument::from_tree(std::move(arguments.fields), name);
  const FrameworkSettingsReader fields(document.root());
  draft = read_megatron_fields(fields, std::move(draft), report, given, name);
  report_read_and_unread_settings(fields, name, known_program_settings("megatron/settings"),
                                  report);
  name_by_flags(arguments, report);
  return draft;
}

PlanDraft read_stated(const StatedMegatronArguments& stated, const std::string& name,
                      const UserFacts& given, PlanDraft draft, ImportReport& report) {
  draft.extent.ranks = stated.ranks;
  draft.start.program = "pretrain_gpt.py";
  const bool whole = !stated.values.empty();
  MegatronArgumentFields arguments =
      read_megatron_arguments(stated.words, name, given.settings, whole, report);
  translate_fork_arguments(arguments, name, report);
  draft = read_arguments(std::move(arguments), given, name, std::move(draft), report);
  if (whole) report_logged_megatron_arguments(stated, name, report);
  read_environment_settings({.file = name, .environment = stated.environment}, draft, draft.extent,
                            report);
  return draft;
}

/// Returns the lines that name the training program; the one for hybrids needs their layer spec.
std::string program_lines(const model::ModelArchitecture& model, std::string_view release) {
  if (!is_megatron_hybrid_model(model)) return "  \"$MEGATRON/pretrain_gpt.py\" \\\n";
  if (plan::is_earlier_release(release, "0.17")) {
    return "  \"$MEGATRON/pretrain_mamba.py\" \\\n"
           "  --spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec \\\n";
  }
  return "  \"$MEGATRON/pretrain_hybrid.py\" \\\n"
         "  --spec megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec \\\n";
}

}  // namespace

std::string write_megatron(const plan::PlannedJob& planned,
                           const std::vector<std::string>& header) {
  DocumentTree fields = megatron_fields(planned, planned.job.framework.version);
  add_megatron_null_tokenizer(fields, planned);
  std::string text = torchrun_script_head(
      planned, header, environment_shell_lines(needed_environment_settings(planned)));
  text +=
      "MEGATRON=${MEGATRON:-.}  # where Megatron-LM is\nDATA_ARGS=${DATA_ARGS:---mock-data}\n"
      "TRAIN_ARGS=${TRAIN_ARGS:---train-iters 100 --lr 3e-4 --min-lr 3e-5 --lr-decay-style cosine "
      "--lr-warmup-iters 10 --weight-decay 0.1 --clip-grad 1.0 --log-interval 1}\n\n";
  text += torchrun_command_lines();
  const std::string& release = planned.job.framework.version;
  text += program_lines(planned.job.model, release);
  for (const std::string& flag : megatron_argument_texts(fields, release)) {
    text += fmt::format("  {} \\\n", flag);
  }
  return text + "  $TRAIN_ARGS $DATA_ARGS \"$@\"\n";
}

PlanDraft read_megatron(Sources files, const UserFacts& given, PlanDraft draft,
                        ImportReport& report) {
  if (const auto stated = read_logged_megatron_arguments(files.front(), given.settings)) {
    if (files.size() != 1) fail_input("megatron: of stated arguments one file is read at a time");
    draft = read_stated(*stated, files.front().name, given, std::move(draft), report);
    return draft;
  }
  const StartedProgramRule program{"Megatron-LM",
                                   "--tensor-model-parallel-size, ...",
                                   target_command_predicate("megatron"),
                                   is_megatron_argument_setting,
                                   takes_values,
                                   takes_list,
                                   matters};
  std::vector<SourceFile> scripts;
  std::ranges::copy_if(files, std::back_inserter(scripts),
                       [](const SourceFile& file) { return !is_deepspeed(file); });
  if (scripts.empty()) fail_input("megatron: give the script that starts it, too");
  const StartedCommand command = find_started_command(scripts, given, program, report);
  read_launcher_rank_counts(command, draft.extent, report);
  draft.start.program = command.words.front().text;
  check_program(command, report);
  MegatronArgumentFields arguments =
      read_megatron_arguments(command.words, command.file, given.settings, false, report);
  const std::optional<YamlJsonDocument> deepspeed =
      named_deepspeed_configuration(arguments, command, files);
  report.strict_parser =
      is_own_program(command) && !deepspeed && !has_fork_arguments(arguments, report);
  translate_fork_arguments(arguments, command.file, report);
  const bool slime = is_slime_command(arguments, report);
  if (slime) {
    read_slime_arguments(arguments, command.file, given, draft, draft.extent, report);
    set_slime_model(arguments, given, draft, report);
  }
  try {
    draft = read_arguments(std::move(arguments), given, command.file, std::move(draft), report);
  } catch (const Error& error) {
    rethrow_naming_option_for_value(error, command, report);
  }
  list_gated_program(command, draft, report);
  if (deepspeed) apply_deepspeed_configuration(*deepspeed, draft, report);
  // Settings that slime makes have no line in a file.
  if (slime) std::erase_if(report.read, [](const ImportedSetting& one) { return one.line == 0; });
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

}  // namespace stepwright::framework_files
