#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/read_choices.h"
#include "stepwright/plan/files/write_choices.h"

namespace stepwright {
namespace {

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

/// The path in a plan file of a field whose `job.` may have been left out.
std::string full_path(const std::string& field, const std::string& name) {
  const std::string head = field.substr(0, field.find('.'));
  if (head == "job" || is_among(head, kPlanKeys)) return field;
  if (is_among(head, kJobKeys)) return "job." + field;
  std::vector<std::string_view> known;
  for (const std::string_view key : kPlanKeys) known.push_back(key);
  for (const std::string_view key : kJobKeys) known.push_back(key);
  const auto near = nearest(head, known);
  fail_input(fmt::format("{}: unknown field '{}'{} (fields begin with: {})", name, printable(head),
                         near ? fmt::format("; did you mean '{}'?", *near) : "", list_of(known)));
}

/// The value at a dotted path of mappings; null pointer when there is none.
Tree* find_path(Tree& root, std::string_view path) {
  Tree* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    at = at->find(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

/// Forgets where a value stood: the person wrote no file.
void forget_places(Tree& tree) {
  tree.line = tree.column = 0;
  for (Tree& item : tree.items) forget_places(item);
}

/// A value as it would stand in a YAML file, lists and mappings included.
Tree yaml_value(const std::string& value, const std::string& name) {
  const Document document = Document::parse("value: " + value, name);
  Tree tree = document.root().get("value").tree();
  forget_places(tree);
  return tree;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

bool is_factor(const std::string& value) {
  return value.size() > 1 && value.back() == 'x' &&
         value.find_first_not_of("0123456789.eE+-") == value.size() - 1;
}

/// There is nothing at `path` that a factor could multiply.
[[noreturn]] void fail_absent(Tree& file, const std::string& path, const std::string& name) {
  const std::size_t dot = path.rfind('.');
  const std::string key = path.substr(dot == std::string::npos ? 0 : dot + 1);
  const Tree* parent =
      dot == std::string::npos ? &file : find_path(file, std::string_view(path).substr(0, dot));
  std::vector<std::string_view> known;
  if (parent != nullptr && parent->kind == Tree::Kind::kMapping) {
    for (std::size_t i = 0; i < parent->items.size(); i += 2) {
      known.push_back(parent->items[i].text);
    }
  }
  const auto near = nearest(key, known);
  fail_input(fmt::format("{}: there is no '{}' to multiply{}{}", name, printable(path),
                         near ? fmt::format("; did you mean '{}'?", *near) : "",
                         known.empty() ? "" : fmt::format(" (present: {})", list_of(known))));
}

/// The file with one value replaced: scalars and factors as `Document::with` does, lists and
/// mappings as a whole.
Document replaced(Tree file, const std::string& path, const std::string& value,
                  const std::string& name) {
  const Tree* present = find_path(file, path);
  const bool holds_more = present != nullptr && present->kind != Tree::Kind::kScalar;
  const bool gets_more = value.starts_with('[') || value.starts_with('{');
  if (present == nullptr && is_factor(value)) fail_absent(file, path, name);
  if (!holds_more && !gets_more) return Document::from(std::move(file), name).with(path, value);
  if (present == nullptr) {
    const Document with_key = Document::from(std::move(file), name).with(path, "null");
    file = with_key.root().tree();
  }
  Tree* target = find_path(file, path);
  if (target == nullptr) fail_input(fmt::format("{}: no list or mapping can stand there", name));
  *target = yaml_value(value, name);
  return Document::from(std::move(file), name);
}

}  // namespace

PlannedJob with_field(const PlannedJob& planned, const std::string& assignment) {
  const std::string name = "--set " + printable(assignment);
  const std::size_t equals = assignment.find('=');
  const std::string field = trimmed(std::string_view(assignment).substr(0, equals));
  if (equals == std::string::npos || field.empty()) {
    fail_input(fmt::format("{}: must be FIELD=VALUE, as in micro_batch=2 or cluster.nic=2x", name));
  }
  const std::string value = trimmed(std::string_view(assignment).substr(equals + 1));
  const Document document =
      replaced(plan_file_tree(planned, true), full_path(field, name), value, name);
  PlannedJob result = read_plan(document, {});
  result.job.notes.insert(result.job.notes.begin(), planned.job.notes.begin(),
                          planned.job.notes.end());
  return result;
}

}  // namespace stepwright
