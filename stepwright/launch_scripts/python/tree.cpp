#include "stepwright/launch_scripts/python/tree.h"

#include <fmt/format.h>

#include <charconv>

#include "stepwright/core/error.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/trimmed.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/python/source.h"

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

constexpr std::size_t kLongestUnread = 200;
constexpr std::size_t kMostValues = 1'000'000;
constexpr std::size_t kBytesOfValue = 64;
constexpr int kDeepestValue = 80;

/// Converts values to trees and counts them, so that a value that doubles itself comes to an end.
class TreeMaker {
 public:
  explicit TreeMaker(const std::string& file) : file_(file) {}

  DocumentTree tree(const PythonObject& value, int depth = 0) {
    values_ += 1 + value.text.size() / kBytesOfValue;
    if (values_ > kMostValues) {
      fail_input(fmt::format("{}: its values grow beyond {}", file_, kMostValues));
    }
    if (depth > kDeepestValue) fail_input(fmt::format("{}: its values nest too deep", file_));
    DocumentTree made = unplaced(value, depth);
    made.line = value.line;
    made.column = value.line == 0 ? 0 : 1;
    return made;
  }

  DocumentTree items(const std::vector<PythonObject>& items, std::uint32_t line, int depth) {
    DocumentTree made = DocumentTree::empty_flow_sequence();
    made.line = line;
    made.column = 1;
    for (const PythonObject& item : items) made.add(tree(item, depth + 1));
    return made;
  }

 private:
  DocumentTree unplaced(const PythonObject& value, int depth) {
    const PythonObject known = python_record_of_attributes(value);
    switch (known.kind) {
      case ObjectKind::kNone: return {};
      case ObjectKind::kBool: return {known.truth};
      case ObjectKind::kInteger: return {known.number};
      case ObjectKind::kReal: return DocumentTree::make_scalar(known.text, false);
      case ObjectKind::kList: return items(known.body->items, known.line, depth);
      case ObjectKind::kRecord: return object(known, depth);
      case ObjectKind::kText:
        if (!known.open()) return DocumentTree::make_scalar(known.text, true);
        break;
      case ObjectKind::kUnknown: break;
    }
    return tree_of_unknown_python_value(known.said.empty() ? known.text : known.said);
  }

  DocumentTree object(const PythonObject& value, int depth) {
    const PythonObject::Body& body = *value.body;
    TreeMappingBuilder members;
    for (const auto& [name, one] : body.members) members.set(name, tree(one, depth + 1));
    DocumentTree made = members.finished_mapping();
    if (!body.items.empty()) made.set("[]", items(body.items, body.items.front().line, depth));
    const bool type = !body.made_by.empty() && body.made_by != kUnknownPythonClassName;
    if (type) made.set("()", DocumentTree::make_scalar(body.made_by, true));
    return made;
  }

  const std::string& file_;
  std::size_t values_ = 0;
};

PythonObject number_object(const std::string& digits, std::uint32_t line) {
  std::int64_t whole = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, whole);
  const bool good = error == std::errc() && stop == end;
  return good ? PythonObject::integer(whole, line) : PythonObject::real(digits, line);
}

PythonObject scalar_object(const DocumentTree& tree, std::uint32_t line) {
  if (tree.quoted) return PythonObject::string(tree.text, line);
  if (const auto truth = parse_boolean_word(tree.text)) return PythonObject::boolean(*truth);
  if (is_number(tree.text)) return number_object(tree.text, line);
  return PythonObject::string(tree.text, line);
}

}  // namespace

DocumentTree tree_of_unknown_python_value(std::string_view text) {
  DocumentTree tree;
  tree.text = std::string(trimmed(text).substr(0, kLongestUnread));
  if (tree.text.empty()) tree.text = "...";
  // Removes the rest of a character that was cut in two.
  while (find_bad_utf8(tree.text) != std::string_view::npos) tree.text.pop_back();
  return tree;
}

bool is_unread(const DocumentTree& tree) {
  return tree.kind == DocumentTree::TreeValueKind::kNull && !tree.text.empty();
}

DocumentTree yaml_tree_of_python_value(const PythonObject& value, const std::string& file) {
  return TreeMaker(file).tree(value);
}

DocumentTree yaml_tree_of_python_value(const PythonArguments& arguments, const std::string& file) {
  TreeMaker maker(file);
  TreeMappingBuilder members;
  for (const auto& [name, value] : arguments.named) members.set(name, maker.tree(value));
  DocumentTree made = members.finished_mapping();
  if (!arguments.unnamed.empty())
    made.set("[]", maker.items(arguments.unnamed, arguments.unnamed.front().line, 0));
  made.line = arguments.line;
  return made;
}

PythonObject python_value_of_tree(const DocumentTree& tree, std::uint32_t line) {
  PythonObject made;
  if (is_unread(tree)) {
    made = PythonObject::unknown(tree.text, line);
    made.said = tree.text;
  } else if (tree.kind == DocumentTree::TreeValueKind::kScalar) {
    made = scalar_object(tree, line);
  } else if (tree.kind == DocumentTree::TreeValueKind::kSequence) {
    made = PythonObject::list();
    for (const DocumentTree& item : tree.items) {
      made.body->items.push_back(python_value_of_tree(item, item.line));
    }
  } else if (tree.kind == DocumentTree::TreeValueKind::kMapping) {
    made = PythonObject::record();
    for (const auto& [key, value] : tree_members(tree)) {
      if (key == "()") {
        made.body->made_by = value.text;
      } else if (key == "[]") {
        made.body->items = python_value_of_tree(value, value.line).body->items;
      } else {
        made.body->members.emplace_back(key, python_value_of_tree(value, value.line));
      }
    }
  }
  made.line = line;
  return made;
}

}  // namespace stepwright::launch_scripts
