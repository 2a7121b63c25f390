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
Tree changed_tree(const Tree& tree, std::string_view path, const Tree* value,
                  std::string_view word) {
  if (tree.kind != Tree::Kind::kMapping) {
    fail_input(
        fmt::format("'{}' sets what is in no section of the configuration", printable(word)));
  }
  const auto [key, rest] = parted_path(path);
  const Tree* below = tree.find(key);
  Tree made = tree;
  if (!rest.empty()) {
    return made.set(key,
                    changed_tree(below != nullptr ? *below : Tree::mapping(), rest, value, word));
  }
  if (value == nullptr) return without(tree, key);
  const bool component = below != nullptr && below->find(kComponent) != nullptr;
  return made.set(key, component ? changed_tree(*below, kComponent, value, word) : *value);
}

Tree tune_value(const std::string& text, const std::string& file) {
  if (text == "None") return {};
  if (!text.starts_with('[') && !text.starts_with('{'))
    return Tree::scalar(without_digit_underscores(text), false);
  const Document document = Document::parse("value: " + text, file);
  return document.root().get("value").tree();
}

}  // namespace

Document with_torchtune_overrides(Document document, const std::vector<std::string>& words) {
  if (words.empty()) return document;
  const std::string& file = document.root().file();
  Tree tree = document.root().tree_with_positions();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (word.starts_with('~')) {
      tree = changed_tree(tree, std::string_view(word).substr(1, equals - 1), nullptr, word);
      continue;
    }
    if (equals == std::string::npos || equals == 0) {
      fail_input(fmt::format("'{}' is no NAME=VALUE", printable(word)));
    }
    const Tree value = tune_value(word.substr(equals + 1), file);
    tree = changed_tree(tree, std::string_view(word).substr(0, equals), &value, word);
  }
  return Document::from(std::move(tree), file);
}

}  // namespace stepwright::framework_files
