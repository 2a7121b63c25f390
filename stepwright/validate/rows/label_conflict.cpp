#include "stepwright/validate/rows/label_conflict.h"

#include <map>
#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/write_choices.h"
#include "stepwright/plan/files/write_plan.h"

namespace stepwright::validate {
namespace {

/// Removes the memory size from a device's name: "A100-SXM" for "A100-SXM-80GB" or "A100-SXM 80g";
/// other names stay.
std::string_view without_capacity(std::string_view gpu) {
  std::string_view name = gpu;
  const auto drop_last = [&name](std::string_view letters) {
    const bool found = !name.empty() && letters.find(name.back()) != std::string_view::npos;
    if (found) name.remove_suffix(1);
    return found;
  };
  drop_last("bB");
  if (!drop_last("gG")) return gpu;
  drop_last(" ");
  constexpr std::string_view kDigits = "0123456789";
  if (!drop_last(kDigits)) return gpu;
  while (drop_last(kDigits)) continue;
  while (drop_last("-_ ")) continue;
  return name;
}

/// True for kinds of recomputation that form an order, in which each needs less memory than the
/// previous one.
bool is_ordered(plan::RecomputeKind kind) {
  return kind == plan::RecomputeKind::kNone || kind == plan::RecomputeKind::kSelective ||
         kind == plan::RecomputeKind::kFull;
}

bool needs_as_much(const MemoryFitLabel& one, const MemoryFitLabel& other) {
  return one.micro_batch >= other.micro_batch && one.recompute <= other.recompute &&
         one.capacity_bytes <= other.capacity_bytes;
}

}  // namespace

MemoryFitLabel memory_fit_label(const std::string& id, const plan::PlannedJob& planned,
                                std::string_view gpu) {
  const auto& [job, plan] = planned;
  nlohmann::ordered_json file = plan::plan_file_json(planned, false);
  file["job"]["cluster"] = {job.cluster.devices(), without_capacity(gpu)};
  file.erase("micro_batch");
  if (is_ordered(plan.recompute.kind)) file.erase("recompute");
  return {.id = id,
          .configuration = file.dump(),
          .micro_batch = plan.micro_batch,
          .recompute = plan.recompute.kind};
}

std::vector<std::pair<std::size_t, std::size_t>> memory_fit_label_conflicts(
    std::span<const MemoryFitLabel> labels) {
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    alike[labels[i].configuration].push_back(i);
  }
  std::vector<std::pair<std::size_t, std::size_t>> conflicts;
  for (const auto& [text, rows] : alike) {
    for (const std::size_t oom : rows) {
      for (const std::size_t fits : rows) {
        if (labels[oom].fits || !labels[fits].fits) continue;
        if (needs_as_much(labels[fits], labels[oom])) conflicts.emplace_back(oom, fits);
      }
    }
  }
  return conflicts;
}

}  // namespace stepwright::validate
