#include "stepwright/framework_files/maxtext/form.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "stepwright/core/lower_case.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/forms/parents.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/setting_words.h"
#include "stepwright/framework_files/recognition/target_data.h"

namespace stepwright::framework_files {

namespace {

/// Start of the log lines that state a value: src/maxtext/configs/pyconfig.py.
constexpr std::string_view kLogged = "Config param ";

constexpr KeyValueProgram kProgram = {
    .framework = "MaxText",
    .target = "maxtext",
    .has_setting =
        [](std::string_view name) {
          return find_known_setting(known_program_settings("maxtext/settings"), name) != nullptr;
        },
    .whole_nodes = true,
    .built_in_file = "base.yml"};

YamlJsonDocument read_logged(const SourceFile& file) {
  DocumentTree settings = DocumentTree::make_empty_mapping();
  std::uint32_t line = 0;
  std::string_view text = file.text;
  constexpr std::size_t kMostSettings = 10'000;
  while (!text.empty() && settings.items.size() < kMostSettings) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    ++line;
    const std::size_t at = one.find(kLogged);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = one.substr(at + kLogged.size());
    const std::size_t colon = rest.find(": ");
    if (colon == std::string_view::npos) continue;
    DocumentTree value = text_as_yaml_scalar(rest.substr(colon + 2));
    value.line = line;
    settings.set(rest.substr(0, colon), value);
  }
  return YamlJsonDocument::from_tree(std::move(settings), file.name);
}

/// A configuration overrides the one that it names, and replaces that one's members completely:
/// src/MaxText/pyconfig.py, _load_config.
constexpr ParentConfigurationKey kBaseConfig[] = {{.name = "base_config", .replaces = true}};

/// Merges YAML files: `top` overrides the files that it names; files that it does not name override
/// `top`, in their order.
DocumentTree laid_together(const SourceFile& top, Sources files) {
  MergedConfiguration laid = merge_with_parent_files(top, files, kBaseConfig);
  TreeMappingBuilder members(std::move(laid.tree));
  for (const SourceFile& file : files) {
    if (std::ranges::any_of(laid.together,
                            [&](const SourceFile* one) { return one->name == file.name; })) {
      continue;
    }
    const YamlJsonDocument document = parse_like_python_yaml(file.text, file.name);
    DocumentTree over = copy_tree_with_file_positions(document.root());
    drop_line_numbers(over);
    for (const auto& [key, value] : tree_members(over)) {
      members.set(key, value);
    }
  }
  return members.finished_mapping();
}

/// Adds settings from environment variables, unless a word sets them: src/MaxText/pyconfig.py,
/// yaml_key_to_env_key.
void add_environment(const StartedTrainingProgram& start, TreeMappingBuilder& settings) {
  constexpr std::string_view kPrefix = "M_";
  for (const auto& [name, word] : start.environment) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string key = to_lower_case(name.substr(kPrefix.size()));
    if (find_known_setting(known_program_settings("maxtext/settings"), key) == nullptr) continue;
    DocumentTree value = text_as_yaml_scalar(word.text);
    value.line = word.line;
    settings.set(key, std::move(value));
  }
}

}  // namespace

YamlJsonDocument read_maxtext_mapping(Sources files, const UserFacts& given, JobRankCounts& extent,
                                      StartedTrainingProgram& start, ImportReport& report) {
  const SourceFile& first = files.front();
  if (file_contains_text(first, kLogged)) return with_user_settings(read_logged(first), given);
  const bool script =
      file_matches_target_rules("maxtext", first, "script") && !first.name.ends_with(".yml");
  if (!script) {
    const SourceFile& top = configuration_file_without_child(files, kBaseConfig);
    return with_user_settings(YamlJsonDocument::from_tree(laid_together(top, files), top.name),
                              given);
  }
  std::optional<SourceFile> named;
  const YamlJsonDocument words =
      read_key_value_command(files, kProgram, given, extent, start, report, &named);
  std::vector<SourceFile> others = split_script_files(files).others;
  if (named && find_file_by_name(named->name, others) == nullptr) others.push_back(*named);
  DocumentTree below = DocumentTree::make_empty_mapping();
  if (!others.empty()) {
    below = laid_together(named ? *named : configuration_file_without_child(others, kBaseConfig),
                          others);
    if (!named || named->name != first.name) drop_line_numbers(below);
  }
  TreeMappingBuilder all(std::move(below));
  add_environment(start, all);
  for (const auto& [name, value] : words.root().mapping_members())
    all.set(name, copy_tree_with_file_positions(value));
  return YamlJsonDocument::from_tree(all.finished_mapping(), first.name);
}

}  // namespace stepwright::framework_files
