#include "stepwright/framework_files/torchtune/overrides.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/forms/references.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kComponent = "_component_";

/// Splits a dotted path into its first name and the rest.
std::pair<std::string_view, std::string_view> parted_path(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

/// Returns a tree with the value at a path set, or removed if `value` is null.
DocumentTree changed_tree(const DocumentTree& tree, std::string_view path,
                          const DocumentTree* value, std::string_view word) {
  if (tree.kind != DocumentTree::TreeValueKind::kMapping) {
    fail_input(fmt::format("'{}' sets what is in no section of the configuration",
                           one_line_printable_text(word)));
  }
  const auto [key, rest] = parted_path(path);
  const DocumentTree* below = tree.find(key);
  DocumentTree made = tree;
  if (!rest.empty()) {
    return made.set(
        key, changed_tree(below != nullptr ? *below : DocumentTree::make_empty_mapping(), rest,
                          value, word));
  }
  if (value == nullptr) return copy_without_key(tree, key);
  const bool component = below != nullptr && below->find(kComponent) != nullptr;
  return made.set(key, component ? changed_tree(*below, kComponent, value, word) : *value);
}

DocumentTree tune_value(const std::string& text, const std::string& file) {
  if (text == "None") return {};
  if (!text.starts_with('[') && !text.starts_with('{'))
    return DocumentTree::make_scalar(without_digit_underscores(text), false);
  const YamlJsonDocument document = YamlJsonDocument::parse("value: " + text, file);
  return document.root().get("value").copy_tree();
}

}  // namespace

YamlJsonDocument with_torchtune_overrides(YamlJsonDocument document,
                                          const std::vector<std::string>& words) {
  if (words.empty()) return document;
  const std::string& file = document.root().file();
  DocumentTree tree = document.root().copy_tree_with_file_positions();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (word.starts_with('~')) {
      tree = changed_tree(tree, std::string_view(word).substr(1, equals - 1), nullptr, word);
      continue;
    }
    if (equals == std::string::npos || equals == 0) {
      fail_input(fmt::format("'{}' is no NAME=VALUE", one_line_printable_text(word)));
    }
    const DocumentTree value = tune_value(word.substr(equals + 1), file);
    tree = changed_tree(tree, std::string_view(word).substr(0, equals), &value, word);
  }
  return YamlJsonDocument::from_tree(std::move(tree), file);
}

}  // namespace stepwright::framework_files
