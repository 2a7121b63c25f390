#include "stepwright/framework_files/maxtext/form.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "stepwright/core/lower_case.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
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
          return find_known_setting(known_settings("maxtext/settings"), name) != nullptr;
        },
    .whole_nodes = true,
    .built_in_file = "base.yml"};

Document read_logged(const SourceFile& file) {
  Tree settings = Tree::mapping();
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
    Tree value = text_as_yaml_scalar(rest.substr(colon + 2));
    value.line = line;
    settings.set(rest.substr(0, colon), value);
  }
  return Document::from(std::move(settings), file.name);
}

/// A configuration overrides the one that it names, and replaces that one's members completely:
/// src/MaxText/pyconfig.py, _load_config.
constexpr ParentConfigurationKey kBaseConfig[] = {{.name = "base_config", .replaces = true}};

/// Merges YAML files: `top` overrides the files that it names; files that it does not name override
/// `top`, in their order.
Tree laid_together(const SourceFile& top, Sources files) {
  MergedConfiguration laid = merge_with_parent_files(top, files, kBaseConfig);
  MappingBuilder members(std::move(laid.tree));
  for (const SourceFile& file : files) {
    if (std::ranges::any_of(laid.together,
                            [&](const SourceFile* one) { return one->name == file.name; })) {
      continue;
    }
    const Document document = parse_like_python_yaml(file.text, file.name);
    Tree over = tree_with_positions(document.root());
    drop_line_numbers(over);
    for (std::size_t i = 0; i + 1 < over.items.size(); i += 2) {
      members.set(over.items[i].text, over.items[i + 1]);
    }
  }
  return members.take();
}

/// Adds settings from environment variables, unless a word sets them: src/MaxText/pyconfig.py,
/// yaml_key_to_env_key.
void add_environment(const StartedTrainingProgram& start, MappingBuilder& settings) {
  constexpr std::string_view kPrefix = "M_";
  for (const auto& [name, word] : start.environment) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string key = lower_case(name.substr(kPrefix.size()));
    if (find_known_setting(known_settings("maxtext/settings"), key) == nullptr) continue;
    Tree value = text_as_yaml_scalar(word.text);
    value.line = word.line;
    settings.set(key, std::move(value));
  }
}

}  // namespace

Document read_maxtext_mapping(Sources files, const UserFacts& given, JobRankCounts& extent,
                              StartedTrainingProgram& start, ImportReport& report) {
  const SourceFile& first = files.front();
  if (holds(first, kLogged)) return with_user_settings(read_logged(first), given);
  const bool script =
      file_matches_target_rules("maxtext", first, "script") && !first.name.ends_with(".yml");
  if (!script) {
    const SourceFile& top = topmost_configuration_file(files, kBaseConfig);
    return with_user_settings(Document::from(laid_together(top, files), top.name), given);
  }
  std::optional<SourceFile> named;
  const Document words =
      read_key_value_command(files, kProgram, given, extent, start, report, &named);
  std::vector<SourceFile> others = split_script_files(files).others;
  if (named && find_file_by_name(named->name, others) == nullptr) others.push_back(*named);
  Tree below = Tree::mapping();
  if (!others.empty()) {
    below = laid_together(named ? *named : topmost_configuration_file(others, kBaseConfig), others);
    if (!named || named->name != first.name) drop_line_numbers(below);
  }
  MappingBuilder all(std::move(below));
  add_environment(start, all);
  for (const auto& [name, value] : words.root().members())
    all.set(name, tree_with_positions(value));
  return Document::from(all.take(), first.name);
}

}  // namespace stepwright::framework_files
