#include "stepwright/runtime/measure/memory_counter.h"

#include <nlohmann/json.hpp>

#include "stepwright/core/output_file.h"
#include "stepwright/runtime/messages/rendezvous.h"

namespace stepwright::runtime {
namespace {

/// Returns the bytes of the states that this rank always holds, each buffer counted once.
CountedPeakMemory::Kinds count_states(const RankState& rank) {
  CountedPeakMemory::Kinds kinds{};
  const auto add = [&](memory::MemoryKind kind, const at::Tensor& state) {
    if (!state.defined()) return;
    kinds[static_cast<std::size_t>(kind)] += static_cast<double>(state.nbytes());
  };
  for (const StoredParameter* parameter : rank.store.parameters_on_this_rank()) {
    add(memory::MemoryKind::kParameters, parameter->value);
    add(memory::MemoryKind::kGradients, parameter->gradient);
    if (parameter->master.defined() && !parameter->master.is_alias_of(parameter->value)) {
      add(memory::MemoryKind::kOptimizer, parameter->master);
    }
    add(memory::MemoryKind::kOptimizer, parameter->first_moment);
    add(memory::MemoryKind::kOptimizer, parameter->second_moment);
    if (parameter->sums) add(memory::MemoryKind::kOptimizer, parameter->sums->held);
    for (const auto& moment : {parameter->first_bytes, parameter->second_bytes}) {
      if (!moment) continue;
      add(memory::MemoryKind::kOptimizer, moment->bytes);
      add(memory::MemoryKind::kOptimizer, moment->scales);
    }
  }
  return kinds;
}

}  // namespace

std::int64_t begin_step_memory_count() {
  reset_cpu_allocation_peak();
  return allocated_bytes().now;
}

CountedPeakMemory count_peak_memory(const RankState& rank, const LiveTensorBytes& held,
                                    std::int64_t before) {
  CountedPeakMemory memory{.counted = count_states(rank)};
  constexpr memory::MemoryKind kKinds[] = {
      memory::MemoryKind::kActivations, memory::MemoryKind::kLogits, memory::MemoryKind::kGathered,
      memory::MemoryKind::kCommunication};
  static_assert(std::size(kKinds) == step::kTensorKinds);
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    memory.counted[static_cast<std::size_t>(kKinds[i])] = held.kinds[i];
  }
  memory.shared_bytes = memory::total_bytes(held.kinds) - held.buffers;
  memory.kernel_bytes = static_cast<double>(allocated_bytes().peak - before) - held.buffers;
  return memory;
}

void write_counted_memory(const RankCommunicators::RankWorld& world,
                          const CountedPeakMemory& memory, const std::string& path) {
  const std::vector<std::string> all =
      exchange_rank_texts(world, "memory", counted_memory_json(memory).dump());
  if (world.rank != 0) return;
  write_file(path, counted_memory_file_json(all).dump(1) + '\n');
}

}  // namespace stepwright::runtime
