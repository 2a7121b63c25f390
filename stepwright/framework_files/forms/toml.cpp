#include "stepwright/framework_files/forms/toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"

namespace stepwright::framework_files {
namespace {

[[noreturn]] void fail_at(const toml::source_position& place, const std::string& name,
                          std::string_view what) {
  fail_input(fmt::format("{}:{}:{}: {}", name, place.line, place.column, what));
}

Tree tree_of(const toml::node& node, const std::string& name);

Tree scalar_of(const toml::node& node, const std::string& name) {
  if (const auto* text = node.as_string()) return Tree::scalar(text->get(), true);
  if (const auto* number = node.as_integer()) return {number->get()};
  if (const auto* truth = node.as_boolean()) return {truth->get()};
  const auto* number = node.as_floating_point();
  if (number == nullptr) fail_at(node.source().begin, name, "dates and times are not read");
  if (!std::isfinite(number->get())) fail_at(node.source().begin, name, "must be a finite number");
  return {number->get()};
}

Tree tree_of(const toml::node& node, const std::string& name) {
  Tree tree;
  if (const auto* table = node.as_table()) {
    tree = Tree::mapping();
    for (const auto& [key, value] : *table) tree.set(key.str(), tree_of(value, name));
  } else if (const auto* array = node.as_array()) {
    tree = Tree::sequence();
    for (const toml::node& value : *array) tree.add(tree_of(value, name));
  } else {
    tree = scalar_of(node, name);
  }
  tree.line = node.source().begin.line;
  tree.column = node.source().begin.column;
  return tree;
}

}  // namespace

Document parse_toml(std::string_view text, const std::string& name) {
  try {
    return Document::from(tree_of(toml::parse(text, name), name), name);
  } catch (const toml::parse_error& error) {
    fail_at(error.source().begin, name, error.description());
  }
}

}  // namespace stepwright::framework_files
