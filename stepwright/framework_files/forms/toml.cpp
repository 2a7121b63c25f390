#include "stepwright/framework_files/forms/toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "stepwright/core/assembler.h"
#include "stepwright/core/error.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/text_check.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {
namespace {

[[noreturn]] void fail_at(const toml::source_position& place, const std::string& name,
                          std::string_view what) {
  fail_input(fmt::format("{}:{}:{}: {}", name, place.line, place.column, what));
}

/// Finds dotted keys with too many parts, because toml++ recurses once for each part.
class DottedKeys {
 public:
  explicit DottedKeys(std::string_view text) : text_(text) {}

  /// Returns the position of the first dot that makes a key too deep; nullopt if there is none.
  std::optional<std::size_t> too_deep_at() {
    std::size_t parts = 1;
    for (at_ = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_quoted(c);
        continue;
      }
      if (c == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      if (c == '.' && ++parts > kMaxDocumentNestingDepth) return at_;
      if (c != '.' && !is_in_key(c)) parts = 1;
      ++at_;
    }
    return std::nullopt;
  }

 private:
  static bool is_in_key(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_- \t").find(c) != std::string_view::npos;
  }

  /// Moves from an opening quote, or three of them, past the closing one.
  void skip_quoted(char quote) {
    const std::string three(3, quote);
    const bool lines = text_.substr(at_).starts_with(three);
    const std::string_view closing = std::string_view(three).substr(0, lines ? 3 : 1);
    at_ += closing.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(closing)) {
      if (!lines && text_[at_] == '\n') return;
      at_ += text_[at_] == '\\' && quote == '"' ? 2 : 1;
    }
    at_ = std::min(at_ + closing.size(), text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

DocumentTree tree_of(const toml::node& node, const std::string& name);

DocumentTree scalar_of(const toml::node& node, const std::string& name) {
  if (const auto* text = node.as_string()) return DocumentTree::make_scalar(text->get(), true);
  if (const auto* number = node.as_integer()) return {number->get()};
  if (const auto* truth = node.as_boolean()) return {truth->get()};
  const auto* number = node.as_floating_point();
  if (number == nullptr) fail_at(node.source().begin, name, "dates and times are not read");
  if (!std::isfinite(number->get())) fail_at(node.source().begin, name, "must be a finite number");
  return {number->get()};
}

DocumentTree tree_of(const toml::node& node, const std::string& name) {
  DocumentTree tree;
  if (const auto* table = node.as_table()) {
    TreeMappingBuilder members;
    for (const auto& [key, value] : *table) members.set(key.str(), tree_of(value, name));
    tree = members.finished_mapping();
  } else if (const auto* array = node.as_array()) {
    tree = DocumentTree::make_empty_sequence();
    for (const toml::node& value : *array) tree.add(tree_of(value, name));
  } else {
    tree = scalar_of(node, name);
  }
  tree.line = node.source().begin.line;
  tree.column = node.source().begin.column;
  return tree;
}

}  // namespace

YamlJsonDocument parse_toml(std::string_view text, const std::string& name) {
  check_file_text(text, name);
  if (const auto deep = DottedKeys(text).too_deep_at()) {
    fail_nested_too_deep(name, text_position_at_offset(text, *deep));
  }
  try {
    return YamlJsonDocument::from_tree(tree_of(toml::parse(text, name), name), name);
  } catch (const toml::parse_error& error) {
    fail_at(error.source().begin, name, error.description());
  }
}

}  // namespace stepwright::framework_files
