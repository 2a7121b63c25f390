#include "stepwright/runtime/measure/memory_counter.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/runtime/launch/watch.h"

namespace stepwright {
namespace {

/// Bytes of the states that this rank holds all the time, each buffer once.
CountedMemory::Kinds count_states(const RankState& rank) {
  CountedMemory::Kinds kinds{};
  const auto add = [&](MemoryKind kind, const at::Tensor& state) {
    if (!state.defined()) return;
    kinds[static_cast<std::size_t>(kind)] += static_cast<double>(state.nbytes());
  };
  for (const StoredParameter* parameter : rank.store.held()) {
    add(MemoryKind::kParameters, parameter->value);
    add(MemoryKind::kGradients, parameter->gradient);
    if (parameter->master.defined() && !parameter->master.is_alias_of(parameter->value)) {
      add(MemoryKind::kOptimizer, parameter->master);
    }
    add(MemoryKind::kOptimizer, parameter->first_moment);
    add(MemoryKind::kOptimizer, parameter->second_moment);
    if (parameter->sums) add(MemoryKind::kOptimizer, parameter->sums->held);
    for (const auto& moment : {parameter->first_bytes, parameter->second_bytes}) {
      if (!moment) continue;
      add(MemoryKind::kOptimizer, moment->bytes);
      add(MemoryKind::kOptimizer, moment->scales);
    }
  }
  return kinds;
}

}  // namespace

std::int64_t begin_memory_count() {
  reset_allocated_peak();
  return allocated_bytes().now;
}

CountedMemory count_memory(const RankState& rank, const HeldBytes& held, std::int64_t before) {
  CountedMemory memory{.counted = count_states(rank)};
  constexpr MemoryKind kKinds[] = {MemoryKind::kActivations, MemoryKind::kLogits,
                                   MemoryKind::kGathered, MemoryKind::kCommunication};
  static_assert(std::size(kKinds) == kTensorKinds);
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    memory.counted[static_cast<std::size_t>(kKinds[i])] = held.kinds[i];
  }
  memory.shared_bytes = total_bytes(held.kinds) - held.buffers;
  memory.kernel_bytes = static_cast<double>(allocated_bytes().peak - before) - held.buffers;
  return memory;
}

void write_memory(const Groups::World& world, const CountedMemory& memory,
                  const std::string& path) {
  const std::vector<std::string> all =
      exchange(world, "memory", counted_memory_json(memory).dump());
  if (world.rank != 0) return;
  std::ofstream out(path);
  out << counted_memory_file(all).dump(1) << '\n';
  if (!out.flush()) throw Error(ErrorKind::kRuntime, path + ": cannot be written");
}

}  // namespace stepwright
