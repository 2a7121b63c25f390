#include "stepwright/memory/memory_json.h"

#include <nlohmann/json.hpp>

namespace stepwright::memory {
namespace {

std::int64_t whole(double bytes) { return static_cast<std::int64_t>(bytes); }

nlohmann::ordered_json stage_json(const StageMemory& stage, std::size_t position) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
  for (const auto& [kind, name] : kMemoryKindNames) {
    kinds[std::string(name)] = whole(stage.kinds[static_cast<std::size_t>(kind)]);
  }
  return {{"stage", position}, {"peak_memory_bytes", whole(stage.peak_bytes)}, {"kinds", kinds}};
}

}  // namespace

nlohmann::ordered_json host_memory_kinds_json(const MemoryReport& report) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
  for (const auto& [kind, name] : kHostKindNames) {
    kinds[std::string(name)] = whole(report.host_kinds[static_cast<std::size_t>(kind)]);
  }
  return kinds;
}

nlohmann::ordered_json memory_json(const MemoryReport& report,
                                   std::span<const PyTorchAllocatedMemory> allocated) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    stages.push_back(stage_json(report.stages[i], i));
    if (allocated.empty()) continue;
    stages.back()["allocated_after_step_bytes"] = whole(allocated[i].after_step_bytes);
    stages.back()["allocated_peak_bytes"] = whole(allocated[i].peak_bytes);
  }
  nlohmann::ordered_json result = {
      {"peak_memory_bytes", whole(report.peak_bytes)},
      {"stages", stages},
      {"fits", report.fits()},
      {"verdict", name_of(kFitVerdictNames, report.memory_fit_verdict_of_job())},
      {"p_fits", report.p_fits},
      {"capacity_bytes", whole(report.capacity_bytes)},
      {"reserve_bytes", whole(report.reserve_bytes)}};
  if (report.host_bytes > 0) {
    result["host_memory_bytes"] = whole(report.host_bytes);
    result["host_capacity_bytes"] = whole(report.host_capacity_bytes);
    result["host_kinds"] = host_memory_kinds_json(report);
  }
  if (!report.fits()) {
    result["largest_kind"] = largest_part_of_scarce_memory(report);
    result["over_by_bytes"] = whole(report.memory_shortage_bytes());
  }
  return result;
}

}  // namespace stepwright::memory
