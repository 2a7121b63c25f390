#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/trimmed.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/choices/write_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/fields_to_set.h"
#include "stepwright/plan/files/write_plan.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::plan {
namespace {

/// Returns the element of a list whose index, from 0, is `text`; null if there is none.
DocumentTree* find_element(DocumentTree& list, std::string_view text) {
  const IntegerParseResult index = read_integer(text);
  const bool good = index.status == IntegerParseResult::IntegerParseStatus::kGood &&
                    index.value >= 0 && index.value < std::ssize(list.items);
  return good ? &list.items[static_cast<std::size_t>(index.value)] : nullptr;
}

/// Returns the value at a dotted path; null if there is none.
DocumentTree* find_path(DocumentTree& root, std::string_view path) {
  DocumentTree* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view step = path.substr(0, end);
    at = at->kind == DocumentTree::TreeValueKind::kSequence ? find_element(*at, step)
                                                            : at->find(step);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

/// Removes the line numbers of a tree, as the user wrote no file.
void forget_places(DocumentTree& tree) {
  tree.line = tree.column = 0;
  for (DocumentTree& item : tree.items) forget_places(item);
}

/// Parses a value as in a YAML file, including lists and mappings.
DocumentTree yaml_value(const std::string& value, const std::string& name) {
  const YamlJsonDocument document = YamlJsonDocument::parse("value: " + value, name);
  DocumentTree tree = document.root().get("value").copy_tree();
  forget_places(tree);
  return tree;
}

bool is_factor(const std::string& value) {
  return value.size() > 1 && value.back() == 'x' &&
         value.find_first_not_of("0123456789.eE+-") == value.size() - 1;
}

/// Fails because `path` has no value that a factor could multiply.
[[noreturn]] void fail_absent(DocumentTree& file, const std::string& path,
                              const std::string& name) {
  const std::size_t dot = path.rfind('.');
  const std::string key = path.substr(dot == std::string::npos ? 0 : dot + 1);
  const DocumentTree* parent =
      dot == std::string::npos ? &file : find_path(file, std::string_view(path).substr(0, dot));
  std::vector<std::string_view> known;
  if (parent != nullptr && parent->kind == DocumentTree::TreeValueKind::kMapping) {
    for (const auto& [present, value] : tree_members(*parent)) known.push_back(present);
  }
  fail_input(
      fmt::format("{}: there is no '{}' to multiply{}{}", name, one_line_printable_text(path),
                  spelling_hint(key, known),
                  known.empty() ? "" : fmt::format(" (present: {})", join_with_commas(known))));
}

/// Returns the file with one value replaced: scalars and factors as `YamlJsonDocument::with` does,
/// lists and mappings as a whole.
YamlJsonDocument replaced(DocumentTree file, const std::string& path, const std::string& value,
                          const std::string& name) {
  const DocumentTree* present = find_path(file, path);
  const bool holds_more =
      present != nullptr && present->kind != DocumentTree::TreeValueKind::kScalar;
  const bool gets_more = value.starts_with('[') || value.starts_with('{');
  if (present == nullptr && is_factor(value)) fail_absent(file, path, name);
  if (!holds_more && !gets_more)
    return YamlJsonDocument::from_tree(std::move(file), name)
        .copy_with_replaced_scalar(path, value);
  if (present == nullptr) {
    const YamlJsonDocument with_key =
        YamlJsonDocument::from_tree(std::move(file), name).copy_with_replaced_scalar(path, "null");
    file = with_key.root().copy_tree();
  }
  DocumentTree* target = find_path(file, path);
  if (target == nullptr) fail_input(fmt::format("{}: no list or mapping can stand there", name));
  *target = yaml_value(value, name);
  return YamlJsonDocument::from_tree(std::move(file), name);
}

/// Parts of an argument `FIELD=VALUE`.
struct Assignment {
  std::string name;  ///< Field as the user wrote it, for messages.
  std::string path;  ///< Path of the field in the plan file.
  std::string value;
};

Assignment read_assignment(const std::string& text, const Job& job,
                           std::string_view option = "--set") {
  Assignment made{
      .name = fmt::format("{} {}", option, one_line_printable_text(text)), .path = "", .value = ""};
  const std::size_t equals = text.find('=');
  const std::string field(trimmed(std::string_view(text).substr(0, equals)));
  if (equals == std::string::npos || field.empty()) {
    fail_input(
        fmt::format("{}: must be FIELD=VALUE, as in micro_batch=2 or cluster.nic=2x", made.name));
  }
  made.path = full_path_of_settable_field(field, job, made.name);
  made.value = trimmed(std::string_view(text).substr(equals + 1));
  return made;
}

/// Sets another cluster profile with the same number of nodes; the present cluster's other keys are
/// removed, as they would override the profile.
YamlJsonDocument of_profile(DocumentTree file, const Assignment& set) {
  DocumentTree& cluster = *find_path(file, "job.cluster");
  const DocumentTree nodes = *cluster.find("nodes");
  cluster = DocumentTree::empty_flow_mapping();
  cluster.set("profile", set.value).set("nodes", nodes);
  return YamlJsonDocument::from_tree(std::move(file), set.name);
}

/// Sets the cluster's number of devices, which replaces its number of nodes.
YamlJsonDocument of_devices(DocumentTree file, const Assignment& set) {
  DocumentTree& cluster = *find_path(file, "job.cluster");
  DocumentTree without = DocumentTree::make_empty_mapping();
  for (const auto& [key, value] : tree_members(cluster)) {
    if (key != "nodes") without.set(key, value);
  }
  cluster = std::move(without);
  return replaced(std::move(file), set.path, set.value, set.name);
}

/// Removes the kernels that equal the defaults of the plan's framework and device, so that they
/// follow another framework or device.
void forget_default_kernels(DocumentTree& file, PlannedJob planned) {
  planned.job.kernels = default_kernels(planned.job.framework, planned.job.cluster.device);
  DocumentTree usual_file = plan_file_tree(planned, true);
  DocumentTree& usual = *find_path(usual_file, "job.kernels");
  DocumentTree& kernels = *find_path(file, "job.kernels");
  DocumentTree stated = DocumentTree::make_empty_mapping();
  for (const auto& [key, value] : tree_members(kernels)) {
    const DocumentTree* default_value = usual.find(key);
    if (default_value == nullptr || *default_value != value) {
      stated.set(key, value);
    }
  }
  kernels = std::move(stated);
}

PlannedJob applied(const PlannedJob& planned, const Assignment& set) {
  DocumentTree file = plan_file_tree(planned, true);
  if (decides_default_kernels(set.path)) forget_default_kernels(file, planned);
  const bool word =
      !set.value.empty() && !set.value.starts_with('[') && !set.value.starts_with('{');
  const YamlJsonDocument document = set.path == "job.cluster.profile" && word
                                        ? of_profile(std::move(file), set)
                                    : set.path == "job.cluster.devices" && !is_factor(set.value)
                                        ? of_devices(std::move(file), set)
                                        : replaced(std::move(file), set.path, set.value, set.name);
  PlannedJob result = read_plan(document, {});
  // An unchanged schedule keeps its turns that are already known.
  if (result.plan.schedule == planned.plan.schedule) result.plan.schedule = planned.plan.schedule;
  std::vector<std::string> notes = planned.job.notes;
  for (std::string& note : result.job.notes) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
  result.job.notes = std::move(notes);
  return result;
}

}  // namespace

PlannedJob plan_with_field(const PlannedJob& planned, const std::string& assignment,
                           std::string_view option) {
  return applied(planned, read_assignment(assignment, planned.job, option));
}

PlannedJob plan_with_fields(PlannedJob planned, std::span<const std::string> assignments) {
  std::vector<Assignment> done;
  for (const std::string& text : assignments) {
    const Assignment next = read_assignment(text, planned.job);
    const auto undone = std::ranges::find_if(done, [&](const Assignment& before) {
      return !is_factor(next.value) && overrides_earlier_setting(next.path, before.path);
    });
    if (undone != done.end()) {
      fail_input(
          fmt::format("{}: replaces what {} has set before it; give it first, or only one of them",
                      next.name, undone->name));
    }
    planned = applied(planned, next);
    done.push_back(next);
  }
  return planned;
}

}  // namespace stepwright::plan
