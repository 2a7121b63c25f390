#include "stepwright/runtime/measure/counted_memory.h"

#include <nlohmann/json.hpp>
#include <numeric>

namespace stepwright::runtime {
namespace {

nlohmann::ordered_json kinds_json(const CountedPeakMemory::Kinds& kinds) {
  auto result = nlohmann::ordered_json::object();
  for (const auto& [kind, name] : memory::kMemoryKindNames) {
    if (kind == memory::MemoryKind::kReserve) continue;
    result[std::string(name)] = static_cast<std::int64_t>(kinds[static_cast<std::size_t>(kind)]);
  }
  return result;
}

}  // namespace

double bytes_over_memory_kinds(const CountedPeakMemory::Kinds& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), 0.0);
}

double CountedPeakMemory::allocated_bytes() const {
  return bytes_over_memory_kinds(counted) - shared_bytes + kernel_bytes;
}

nlohmann::ordered_json counted_memory_json(const CountedPeakMemory& memory) {
  return {{"predicted", kinds_json(memory.predicted)},
          {"counted", kinds_json(memory.counted)},
          {"shared_bytes", static_cast<std::int64_t>(memory.shared_bytes)},
          {"kernel_bytes", static_cast<std::int64_t>(memory.kernel_bytes)},
          {"allocated_bytes", static_cast<std::int64_t>(memory.allocated_bytes())}};
}

nlohmann::ordered_json counted_memory_file_json(const std::vector<std::string>& ranks) {
  auto list = nlohmann::ordered_json::array();
  for (const std::string& text : ranks) list.push_back(nlohmann::ordered_json::parse(text));
  return {{"stepwright", "counted-memory/1"}, {"ranks", std::move(list)}};
}

}  // namespace stepwright::runtime
