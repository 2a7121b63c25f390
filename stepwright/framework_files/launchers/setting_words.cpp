#include "stepwright/framework_files/launchers/setting_words.h"

#include <algorithm>
#include <cctype>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {
namespace {

constexpr std::ptrdiff_t kMostSettingParts = 20;

/// Returns the name in a word `a.b=value` or `+a.b=value`; empty for a word of another form.
std::string_view name_of_setting(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return "";
  std::string_view name = word.substr(0, equals);
  while (name.starts_with('+')) name.remove_prefix(1);
  const bool path = std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  return path && std::ranges::count(name, '.') < kMostSettingParts ? name : "";
}

/// True if a setting is unknown or can change time, memory or messages of a step.
bool can_matter(std::string_view table, std::string_view name) {
  while (name.starts_with('+')) name.remove_prefix(1);
  const KnownSetting* known =
      table.empty() ? nullptr : find_known_setting(known_program_settings(table), name);
  return known == nullptr || !known->field.empty() || known->matters != SettingImpact::kNo;
}

DocumentTree value_of_setting(std::string_view text, std::uint32_t line) {
  DocumentTree tree = text_as_yaml_scalar(text);
  tree.line = line;
  tree.column = 1;
  return tree;
}

void set_path(DocumentTree& root, std::string_view path, DocumentTree value) {
  DocumentTree* tree = &root;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    if (dot == std::string_view::npos) {
      tree->set(key, std::move(value));
      return;
    }
    const DocumentTree* below = tree->find(key);
    if (below == nullptr || below->kind != DocumentTree::TreeValueKind::kMapping)
      tree->set(key, DocumentTree::make_empty_mapping());
    tree = tree->find(key);
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

YamlJsonDocument read_key_value_command(Sources files, const KeyValueProgram& program,
                                        const UserFacts& given, JobRankCounts& extent,
                                        StartedTrainingProgram& start, ImportReport& report,
                                        std::optional<SourceFile>* configuration) {
  const auto is_setting = [&](const std::string& setting) {
    return program.has_setting(std::string_view(setting).substr(0, setting.find('=')));
  };
  const SplitScriptFiles parted = split_script_files(files);
  // A file that only its words show to be a script counts as one, too.
  const StartedCommand command = find_started_command(
      parted.scripts.empty() ? files : Sources(parted.scripts), given,
      {.framework = program.framework,
       .arguments = "NAME=VALUE",
       .starts = target_command_predicate(program.target),
       .has_argument = is_setting,
       .matters = [&](std::string_view name) { return can_matter(program.settings, name); }},
      report);
  start = training_program_started_by_command(command);
  start.environment = command.environment;
  if (program.launched) {
    read_launcher_rank_counts(command, extent, report);
    report_unknown_rank_counts(command, extent, report);
  }
  if (program.whole_nodes) read_rank_counts_without_launcher(command, extent, report);
  if (program.hydra) check_hydra_words(command);
  if (program.hydra) check_hydra_options(command);
  DocumentTree settings = DocumentTree::make_empty_mapping();
  bool configured = configuration == nullptr;
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    const std::string_view option = std::string_view(word.text).substr(0, equals);
    if (!option.empty() && std::ranges::find(program.options, option) != program.options.end()) {
      const bool apart = equals == word.text.size();
      if (apart && i + 1 == command.words.size()) break;
      const std::string text = apart ? command.words[++i].text : word.text.substr(equals + 1);
      settings.set(option, value_of_setting(text, word.line));
      continue;
    }
    const std::string_view name = name_of_setting(word.text);
    const bool yaml = word.text.ends_with(".yml") || word.text.ends_with(".yaml");
    if (!configured && equals == word.text.size() && (yaml || (i > 0 && !word.open.empty()))) {
      configured = true;
      const std::string file = launch_scripts::path_base_name(word.text);
      if (const SourceFile* found = find_command_file(file, parted.others, command)) {
        *configuration = *found;
      } else if (file != program.built_in_file) {
        fail_for_missing_file(word, command);
      }
    }
    if (name.empty()) continue;
    const std::string_view text = std::string_view(word.text).substr(word.text.find('=') + 1);
    set_path(settings, name, value_of_setting(text, word.line));
  }
  UserFacts own = given;
  std::erase_if(own.settings, [&](const std::string& setting) { return !is_setting(setting); });
  return with_user_settings(YamlJsonDocument::from_tree(std::move(settings), command.file), own);
}

}  // namespace stepwright::framework_files
