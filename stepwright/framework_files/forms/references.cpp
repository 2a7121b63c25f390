#include "stepwright/framework_files/forms/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string_view>

#include "stepwright/core/divide_up.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/utf8.h"

namespace stepwright::framework_files {
namespace {

constexpr int kLongestChain = 8;
constexpr int kMostReferences = 10'000;
constexpr std::size_t kLongestText = 4096;

bool is_variable(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
  });
}

/// Returns the value of a function of NeMo's launcher: `multiply`, `divide_ceil` or `divide_floor`
/// (launcher_scripts/main.py of NVIDIA/NeMo-Framework-Launcher registers them). nullopt for any
/// other function, and if an argument is not an integer above zero.
std::optional<DocumentTree> value_of_launcher(std::string_view function, std::string_view first,
                                              std::string_view second) {
  constexpr std::int64_t kMostFactor = std::int64_t{1} << 30U;
  const IntegerParseResult a = read_integer(first);
  const IntegerParseResult b = read_integer(second);
  const auto fits = [](const IntegerParseResult& one) {
    return one.status == IntegerParseResult::IntegerParseStatus::kGood && one.value > 0 &&
           one.value < kMostFactor;
  };
  if (!fits(a) || !fits(b)) return std::nullopt;
  if (function == "multiply") return DocumentTree(a.value * b.value);
  if (function == "divide_ceil") return DocumentTree(ceil_divide(a.value, b.value));
  if (function == "divide_floor") return DocumentTree(a.value / b.value);
  return std::nullopt;
}

/// Replaces the references in a tree's texts by their values.
class Resolver {
 public:
  Resolver(const DocumentTree& root, std::vector<std::string>& notes,
           const std::map<std::string, std::string>& environment)
      : root_(root), notes_(notes), environment_(environment) {}

  void resolve(DocumentTree& tree, std::vector<std::string>& path) {
    if (tree.kind == DocumentTree::TreeValueKind::kScalar) replace(tree, path);
    const bool keyed = tree.kind == DocumentTree::TreeValueKind::kMapping;
    for (std::size_t i = keyed ? 1 : 0; i < tree.items.size(); i += keyed ? 2 : 1) {
      path.push_back(keyed ? tree.items[i - 1].text : std::string());
      resolve(tree.items[i], path);
      path.pop_back();
    }
  }

 private:
  void replace(DocumentTree& tree, const std::vector<std::string>& path) {
    for (int i = 0; i < kLongestChain; ++i) {
      const std::size_t begin = tree.text.rfind("${");
      if (tree.kind != DocumentTree::TreeValueKind::kScalar || begin == std::string::npos) return;
      const std::size_t end = tree.text.find('}', begin);
      if (end == std::string::npos || ++count_ > kMostReferences) return;
      const std::string inner = tree.text.substr(begin + 2, end - begin - 2);
      std::optional<DocumentTree> value = meaning(inner, path);
      if (!value) return;
      if (begin == 0 && end + 1 == tree.text.size()) {
        value->line = tree.line;
        value->column = tree.column;
        tree = *value;
      } else if (value->kind == DocumentTree::TreeValueKind::kScalar &&
                 tree.text.size() + value->text.size() < kLongestText) {
        tree.text.replace(begin, end - begin + 1, value->text);
      } else {
        return;
      }
    }
  }

  std::optional<DocumentTree> meaning(std::string_view inner,
                                      const std::vector<std::string>& path) {
    const std::size_t colon = inner.find(':');
    if (colon == std::string_view::npos) {
      const auto set = environment_.find(std::string(inner));
      return set == environment_.end() ? at(inner, path) : text_as_yaml_scalar(set->second);
    }
    const std::string_view function = inner.substr(0, colon);
    std::string_view rest = inner.substr(colon + 1);
    if (is_variable(function)) return variable(function, rest);
    const std::size_t comma = rest.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    std::string_view usual = rest.substr(comma + 1);
    while (usual.starts_with(' ')) usual.remove_prefix(1);
    if (function == "oc.env") return variable(rest.substr(0, comma), usual);
    if (function != "oc.select") return value_of_launcher(function, rest.substr(0, comma), usual);
    auto value = at(rest.substr(0, comma), path);
    return value ? value : text_as_yaml_scalar(usual);
  }

  DocumentTree variable(std::string_view name, std::string_view usual) {
    const auto set = environment_.find(std::string(name));
    if (set != environment_.end()) return text_as_yaml_scalar(set->second);
    notes_.push_back(
        fmt::format("The environment variable {} is assumed to be {}, the default in the file.",
                    one_line_printable_text(name), one_line_printable_text(usual)));
    return text_as_yaml_scalar(usual);
  }

  /// Returns the value under a dotted name, from the root or, with leading dots, relative to the
  /// mapping that contains the reference.
  std::optional<DocumentTree> at(std::string_view name,
                                 const std::vector<std::string>& path) const {
    const DocumentTree* tree = &root_;
    if (name.starts_with('.')) {
      std::size_t up = 0;
      for (; name.starts_with('.'); ++up) name.remove_prefix(1);
      if (up > path.size()) return std::nullopt;
      for (std::size_t i = 0; tree != nullptr && i + up < path.size(); ++i) {
        tree = tree->find(path[i]);
      }
    }
    while (tree != nullptr && !name.empty()) {
      const std::size_t dot = std::min(name.find('.'), name.size());
      tree = tree->find(name.substr(0, dot));
      name.remove_prefix(std::min(dot + 1, name.size()));
    }
    // Only scalars are copied, so that references to large values cannot multiply them.
    const bool single = tree != nullptr && tree->items.empty();
    return single ? std::optional(*tree) : std::nullopt;
  }

  const DocumentTree& root_;
  std::vector<std::string>& notes_;
  const std::map<std::string, std::string>& environment_;
  int count_ = 0;
};

}  // namespace

DocumentTree text_as_yaml_scalar(std::string_view text) {
  if (is_null_word(text)) return {};
  if (const auto truth = parse_boolean_word(text)) return {*truth};
  std::string plain = without_digit_underscores(std::string(text));
  const bool number = is_number(plain);
  return DocumentTree::make_scalar(std::move(plain), !number);
}

DocumentTree copy_tree_with_file_positions(DocumentNode node) {
  DocumentTree tree;
  if (node.is_mapping()) {
    tree = DocumentTree::make_empty_mapping();
    for (const auto& [key, value] : node.mapping_members()) {
      tree.items.push_back(DocumentTree::make_scalar(key, true));
      tree.items.push_back(copy_tree_with_file_positions(value));
    }
  } else if (node.is_sequence()) {
    tree = DocumentTree::empty_flow_sequence();
    for (std::size_t i = 0; i < node.size(); ++i)
      tree.add(copy_tree_with_file_positions(node.at(i)));
  } else {
    tree = node.copy_tree();
  }
  tree.line = node.source_line();
  tree.column = 1;
  return tree;
}

void merge_mappings(DocumentTree& under, const DocumentTree& over) {
  TreeMappingBuilder members(std::move(under));
  for (const auto& [key, value] : tree_members(over)) {
    DocumentTree* below = members.find(key);
    const bool both = below != nullptr && below->kind == DocumentTree::TreeValueKind::kMapping &&
                      value.kind == DocumentTree::TreeValueKind::kMapping;
    if (both) {
      merge_mappings(*below, value);
    } else {
      members.set(key, value);
    }
  }
  under = members.finished_mapping();
}

void replace_mapping_members(DocumentTree& under, const DocumentTree& over) {
  TreeMappingBuilder members(std::move(under));
  for (const auto& [key, value] : tree_members(over)) {
    members.set(key, value);
  }
  under = members.finished_mapping();
}

DocumentTree copy_without_key(const DocumentTree& mapping, std::string_view key) {
  DocumentTree rest = mapping;
  rest.items.clear();
  for (std::size_t i = 0; i + 1 < mapping.items.size(); i += 2) {
    if (mapping.items[i].text == key) continue;
    rest.items.push_back(mapping.items[i]);
    rest.items.push_back(mapping.items[i + 1]);
  }
  return rest;
}

void drop_line_numbers(DocumentTree& tree) {
  tree.line = 0;
  for (DocumentTree& item : tree.items) drop_line_numbers(item);
}

YamlJsonDocument resolve_configuration_references(
    const YamlJsonDocument& document, std::vector<std::string>& notes,
    const std::map<std::string, std::string>& environment) {
  const DocumentTree root = copy_tree_with_file_positions(document.root());
  DocumentTree resolved = root;
  std::vector<std::string> path;
  Resolver(root, notes, environment).resolve(resolved, path);
  return YamlJsonDocument::from_tree(std::move(resolved), document.document_name());
}

}  // namespace stepwright::framework_files
