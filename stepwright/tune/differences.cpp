#include "stepwright/tune/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/write_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/write_plan.h"

namespace stepwright::tune {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// True if the mapping `from` has a key that `to` lacks.
bool loses_keys(const Json& from, const Json& to) {
  const auto items = from.items();
  return std::any_of(items.begin(), items.end(),
                     [&](const auto& item) { return !to.contains(item.key()); });
}

/// Calls `tell(path, before, after)` for every difference, down to values that are not mappings on
/// both sides. `whole`: a mapping that loses keys counts as one difference, except the outermost.
template <class Tell>
void each_difference(const std::string& path, const Json& from, const Json& to, const Tell& tell,
                     bool whole = false) {
  if (from == to) return;
  const bool leaf =
      !from.is_object() || !to.is_object() || (whole && !path.empty() && loses_keys(from, to));
  if (leaf) return tell(path, from, to);
  const std::string above = path.empty() ? "" : path + ".";
  for (const auto& [key, value] : to.items()) {
    each_difference(above + key, from.contains(key) ? from[key] : Json(), value, tell, whole);
  }
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) tell(above + key, value, Json());
  }
}

/// True if a field only says where something comes from, or what it is called.
bool is_label(const std::string& path) {
  const std::string key = path.substr(path.rfind('.') + 1);
  return key == "name" || key == "source" || key == "fit" || key == "base";
}

}  // namespace

std::vector<std::string> differing_plan_fields(const plan::Job& job, const plan::Plan& from,
                                               const plan::Plan& to) {
  std::vector<std::string> fields;
  const auto set = [&](const std::string& path, const Json&, const Json& value) {
    // A field that the new plan lacks is reset to an empty value.
    fields.push_back(fmt::format("{}={}", path, value.is_null() ? "{}" : value_text(value)));
  };
  each_difference("", plan::plan_json({job, from}), plan::plan_json({job, to}), set, true);
  return fields;
}

std::optional<std::string> first_differing_job_field(const plan::Job& job,
                                                     const plan::Job& of_plan) {
  const Json here = plan::job_json(job, true);
  const Json there = plan::job_json(of_plan, true);
  for (const char* part : {"model", "cluster", "batch", "precision", "optimizer"}) {
    std::string label;
    std::string field;
    each_difference(part, here[part], there[part],
                    [&](const std::string& path, const Json& ours, const Json& theirs) {
                      std::string& first = is_label(path) ? label : field;
                      if (!first.empty()) return;
                      first = fmt::format("{} is {} in the plan and {} in the job", path,
                                          value_text(theirs), value_text(ours));
                    });
    if (!field.empty()) return label.empty() ? field : label;
  }
  return std::nullopt;
}

}  // namespace stepwright::tune
