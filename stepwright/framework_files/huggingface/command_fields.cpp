#include "stepwright/framework_files/huggingface/command_fields.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree_members.h"

namespace stepwright::framework_files {
namespace {

/// Returns a value with the type that YAML would give it.
DocumentTree typed_value(const std::string& word, std::uint32_t line) {
  const std::string text = without_digit_underscores(word);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  DocumentTree value(text);
  if (text == "true" || text == "True" || text == "false" || text == "False") {
    value = DocumentTree(text == "true" || text == "True");
  } else if (!text.empty() && error == std::errc() && end == text.data() + text.size()) {
    value = DocumentTree::make_scalar(text, false);
  }
  value.line = line;
  value.column = 1;
  return value;
}

/// Returns the mapping key of an argument such as "--per-device-batch=2".
std::string field_name(std::string_view argument) {
  std::string name(argument.substr(2, argument.substr(2).find('=')));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Returns the setting that a name means: the name itself, or the only setting that begins with it.
std::string whole_name(std::string name, std::span<const KnownSetting> known) {
  std::string_view longer;
  for (const KnownSetting& one : known) {
    const bool all = one.name.ends_with('*');
    const std::string_view own = one.name.substr(0, one.name.size() - (all ? 1 : 0));
    if (name == own || (all && name.starts_with(own))) return name;
    if (!own.starts_with(name)) continue;
    if (all || !longer.empty()) return name;
    longer = own;
  }
  return longer.empty() ? name : std::string(longer);
}

}  // namespace

std::function<bool(std::string_view)> step_relevant_argument_predicate(
    std::span<const KnownSetting> known) {
  return [known](std::string_view argument) {
    if (!argument.starts_with("--")) return false;
    const KnownSetting* found = find_known_setting(known, field_name(argument));
    return found == nullptr || !found->field.empty() || found->matters != SettingImpact::kNo;
  };
}

DocumentTree command_arguments_as_mapping(Words words, std::span<const KnownSetting> known) {
  TreeMappingBuilder fields;
  for (std::size_t i = 0; i < words.size();) {
    const ShellWord& word = words[i++];
    if (!word.text.starts_with("--") || word.text.size() == 2) continue;
    const std::size_t equals = word.text.find('=');
    const std::string name = whole_name(field_name(word.text), known);
    std::vector<DocumentTree> values;
    if (equals != std::string::npos) {
      values.push_back(typed_value(word.text.substr(equals + 1), word.line));
    }
    while (equals == std::string::npos && i < words.size() && !words[i].text.starts_with("--")) {
      values.push_back(typed_value(words[i].text, words[i].line));
      ++i;
    }
    DocumentTree value = values.empty() ? DocumentTree(true) : values.front();
    if (values.size() > 1) value = DocumentTree::empty_flow_sequence(values);
    value.line = word.line;
    value.column = 1;
    fields.set(name, std::move(value));
  }
  return fields.finished_mapping();
}

YamlJsonDocument with_command_arguments(const YamlJsonDocument& said, Words words,
                                        std::span<const KnownSetting> known) {
  if (!said.root().is_mapping()) said.root().fail("must be a mapping (key: value)");
  DocumentTree all = said.root().copy_tree_with_file_positions();
  const DocumentTree over = command_arguments_as_mapping(words, known);
  for (const auto& [key, value] : tree_members(over)) {
    DocumentTree own = value;
    // The value comes from another file than the one that messages name.
    own.line = own.column = 0;
    all.set(key, std::move(own));
  }
  return YamlJsonDocument::from_tree(std::move(all), said.document_name());
}

}  // namespace stepwright::framework_files
