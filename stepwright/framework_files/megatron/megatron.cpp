#include "stepwright/framework_files/megatron/megatron.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/megatron/flags.h"
#include "stepwright/framework_files/megatron/plan.h"
#include "stepwright/framework_files/megatron/settings.h"

namespace stepwright {
namespace {

/// The command with most flags of Megatron-LM.
const std::vector<ShellWord>& training_command(const ShellScript& script, const std::string& name) {
  const auto flags = [](const std::vector<ShellWord>& words) {
    return std::ranges::count_if(words,
                                 [](const ShellWord& word) { return is_megatron_flag(word.text); });
  };
  const auto most = std::ranges::max_element(script.commands, {}, flags);
  if (most == script.commands.end() || flags(*most) == 0) {
    fail_input(
        fmt::format("{}: no command has arguments of Megatron-LM "
                    "(--tensor-model-parallel-size, ...)",
                    name));
  }
  return *most;
}

/// The place at which the arguments of the program begin, behind those of its launcher.
std::size_t program_of(const std::vector<ShellWord>& words) {
  const auto is_program = [](const ShellWord& word) { return word.text.ends_with(".py"); };
  const auto program = std::ranges::find_if(words, is_program);
  if (program == words.end()) return 0;
  return static_cast<std::size_t>(program - words.begin());
}

/// Collectives as the environment chooses them, if a plan can.
void read_environment(const std::map<std::string, std::string>& exported, Draft& draft) {
  const auto algorithms = exported.find("NCCL_ALGO");
  if (algorithms == exported.end()) return;
  if (const auto chosen = collectives_of(algorithms->second, draft.plan)) {
    draft.plan.collectives = *chosen;
    return;
  }
  draft.report.not_read.push_back({"NCCL_ALGO", printable(algorithms->second), draft.source, 0,
                                   Matters::kYes, "which algorithms the library may choose"});
}

/// Calls settings as the script does.
void name_by_flags(const MegatronArguments& arguments, ImportReport& report) {
  const auto rename = [&](auto& settings) {
    for (auto& setting : settings) {
      const auto flag = arguments.flags.find(setting.name);
      if (flag != arguments.flags.end()) setting.name = flag->second;
    }
  };
  rename(report.read);
  rename(report.not_read);
}

}  // namespace

std::string write_megatron(const PlannedJob& planned, const std::vector<std::string>& header) {
  Tree fields = megatron_fields(planned, planned.job.framework.version);
  // It counts a token for the end of a document on top.
  fields.set("tokenizer_type", "NullTokenizer").set("vocab_size", planned.job.model.vocabulary - 1);
  std::string text = script_head(planned, header, shell_lines(needed_settings(planned)));
  text +=
      "MEGATRON=${MEGATRON:-.}  # where Megatron-LM is\nDATA_ARGS=${DATA_ARGS:---mock-data}\n\n";
  text += torchrun_lines();
  text += "  \"$MEGATRON/pretrain_gpt.py\" \\\n";
  for (const std::string& flag : flag_texts(fields, planned.job.framework.version)) {
    text += fmt::format("  {} \\\n", flag);
  }
  return text + "  $DATA_ARGS \"$@\"\n";
}

void read_megatron(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  if (files.size() != 1) fail_input("megatron: one file is read at a time");
  const std::string& name = files.front().name;
  const ShellScript script = read_shell_script(files.front().text, name);
  draft.notes.insert(draft.notes.end(), script.notes.begin(), script.notes.end());
  const std::vector<ShellWord>& command = training_command(script, name);
  const std::span<const ShellWord> words(command);
  const std::size_t program = program_of(command);
  read_launcher(words.first(program), script, draft);
  draft.program = command[program].text;
  MegatronArguments arguments =
      read_flags(words.subspan(program), name, given.settings, draft.report);
  const Document document = Document::from(std::move(arguments.fields), name);
  const Fields fields(document.root());
  read_megatron_fields(fields, draft, given, name);
  list_settings(fields, name, kMegatronSettings, draft.report);
  name_by_flags(arguments, draft.report);
  read_environment(script.exported, draft);
}

bool is_megatron(const SourceFile& file) {
  return holds(file, "--num-layers") || holds(file, "--tensor-model-parallel-size") ||
         holds(file, "--micro-batch-size");
}

}  // namespace stepwright
