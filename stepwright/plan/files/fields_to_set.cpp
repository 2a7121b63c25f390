#include "stepwright/plan/files/fields_to_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/files.h"

namespace stepwright::plan {
namespace {

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

bool is_at_or_below(std::string_view path, std::string_view above) {
  return path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '.');
}

/// A field that a file may have but that changes no result, and the advice for it.
struct Idle {
  std::string_view path;
  std::string_view reason;
};
constexpr Idle kIdle[] = {
    {"job.stepwright", "the job is read in the words of its plan"},
    {"job.search",
     "search limits what tune may choose, and a plan contains the choices: set fields of the plan"},
    {"job.run", "no step depends on it: `stepwright run` has an option for each of its keys"},
    {"job.cluster.source", "it states where numbers come from and changes none"},
    {"job.cluster.fit", "it states where constants come from and changes none"},
    {"job.cluster.device.source", "it states where numbers come from and changes none"},
    {"job.model.base",
     "the model is written out in full, so its base has no effect: set model=NAME to use another "
     "model"}};

/// True if a path is the source of a network level inside or outside the node:
/// `job.cluster.levels.0.source`.
bool is_source_of_level(std::string_view path) {
  return path.ends_with(".source") && (is_at_or_below(path, "job.cluster.levels") ||
                                       is_at_or_below(path, "job.cluster.network"));
}

/// Returns why no result of a plan depends on a field; empty if one does.
std::string reason_idle(std::string_view path, const Job& job) {
  const auto* idle = std::ranges::find_if(
      kIdle, [&](const Idle& each) { return is_at_or_below(path, each.path); });
  if (idle != std::end(kIdle)) return std::string(idle->reason);
  if (is_source_of_level(path)) return "it states where numbers come from and changes none";
  const bool of_memory = path == "job.objective.memory_limit" ||
                         path == "job.objective.memory_reserve" ||
                         path == "job.objective.memory_confidence";
  if (is_at_or_below(path, "job.objective") && !of_memory) {
    return "it states what tune searches for; only memory_limit, memory_reserve and "
           "memory_confidence of an objective matter to a plan";
  }
  const std::string_view inner = path.starts_with("job.") ? path.substr(4) : "";
  const std::string_view key = inner.substr(0, inner.find('.'));
  if (is_among(key, kAllPlanFileKeys)) {
    return fmt::format("it fixes what tune may choose; the field of the plan is {}",
                       one_line_printable_text(inner));
  }
  static constexpr std::string_view kOfExperts[] = {"routing", "dispatcher", "imbalance",
                                                    "capacity_factor", "pad_to_capacity"};
  if (is_among(key, kOfExperts) && !job.model.experts) {
    return fmt::format("{} has no experts", one_line_printable_text(job.model_name));
  }
  return "";
}

/// Names that other tools use, and the fields here.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"tp", "parallel.tensor"},
    {"pp", "parallel.pipeline"},
    {"cp", "parallel.context"},
    {"ep", "parallel.expert"},
    {"etp", "parallel.expert_tensor"},
    {"dp", "parallel.data"},
    {"mbs", "micro_batch"},
    {"micro_batch_size", "micro_batch"},
    {"gbs", "batch.sequences"},
    {"global_batch", "batch.sequences"},
    {"global_batch_size", "batch.sequences"},
    {"seq_len", "batch.length"},
    {"seq_length", "batch.length"},
    {"sequence_length", "batch.length"},
    {"gpus", "cluster.devices"},
    {"devices", "cluster.devices"},
    {"nodes", "cluster.nodes"},
    {"profile", "cluster.profile"},
    {"nic", "cluster.nic"},
    {"attention", "kernels.attention"},
    {"chunks", "schedule.chunks"},
    {"hidden", "model.hidden"}};

/// Returns the fields that a user may mean by a word: those that end with it, and those that have
/// this name in other tools.
std::vector<std::string> fields_meant(std::string_view word, const Job& job) {
  std::vector<std::string> meant;
  for (const auto& [other, field] : kOtherNames) {
    if (other == word) return {std::string(field)};
  }
  const nlohmann::ordered_json plan = plan_json({job, {}});
  for (const auto* of : {&plan, &plan.at("job")}) {
    for (const auto& [key, value] : of->items()) {
      if (value.is_object() && key != "job" && value.contains(word)) {
        meant.push_back(fmt::format("{}.{}", key, word));
      }
    }
  }
  return meant;
}

std::string full_path(std::string_view field, const Job& job, const std::string& name) {
  const std::string_view head = field.substr(0, field.find('.'));
  if (head == "job" || is_among(head, kAllPlanFileKeys)) return std::string(field);
  if (is_among(head, kJobFileOnlyKeys)) return "job." + std::string(field);
  if (const std::vector<std::string> meant = fields_meant(field, job); !meant.empty()) {
    fail_input(fmt::format("{}: unknown field '{}'; did you mean '{}'?", name,
                           one_line_printable_text(field), fmt::join(meant, "' or '")));
  }
  std::vector<std::string_view> known;
  for (const std::string_view key : kAllPlanFileKeys) known.push_back(key);
  for (const std::string_view key : kJobFileOnlyKeys) known.push_back(key);
  fail_input(fmt::format("{}: unknown field '{}'{} (fields begin with: {})", name,
                         one_line_printable_text(head), spelling_hint(head, known),
                         join_with_commas(known)));
}

/// Returns the path of a field's value after the file is written out again.
std::string_view place_of_value(std::string_view path) {
  if (path == "job.cluster.devices") return "job.cluster.nodes";
  if (path == "job.dropout") return "job.model.dropout";
  return path;
}

/// Returns the path that an assignment replaces: the path itself, or the whole cluster for a
/// profile.
std::string_view replaced_by(std::string_view path) {
  return path == "job.cluster.profile" ? "job.cluster" : place_of_value(path);
}

}  // namespace

std::string full_path_of_settable_field(std::string_view field, const Job& job,
                                        const std::string& name) {
  std::string path = full_path(field, job, name);
  const std::string reason = reason_idle(path, job);
  if (!reason.empty()) fail_input(fmt::format("{}: has no effect: {}", name, reason));
  return path;
}

bool overrides_earlier_setting(std::string_view path, std::string_view earlier) {
  if (path == "job.cluster.profile" && earlier == "job.cluster.nodes")
    return false;  // a new profile keeps the number of nodes
  // Kernels that equal the defaults would be lost.
  if (decides_default_kernels(path) && is_at_or_below(earlier, "job.kernels")) return true;
  return is_at_or_below(place_of_value(earlier), replaced_by(path));
}

bool decides_default_kernels(std::string_view path) {
  return path == "job.cluster" || path == "job.cluster.profile" ||
         is_at_or_below(path, "job.cluster.device") || is_at_or_below(path, "job.framework");
}

}  // namespace stepwright::plan
