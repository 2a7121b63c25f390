#include "stepwright/collective/direct.h"

#include "stepwright/collective/rank_writer.h"

namespace stepwright {

Tiered direct_tiers(const ScheduleSpec& spec) {
  return {.tiers = Tiers({ranks_of(spec), 1}), .chunks = spec.chunks};
}

RankSchedule direct_exchange(const ScheduleSpec& spec, std::int32_t rank) {
  const Tiers tiers(spec.tiers);
  const std::int32_t chunks = spec.chunks;
  RankWriter writer(1);
  writer.copy(input(rank * chunks), output(rank * chunks), chunks);
  for (std::int32_t offset = 1; offset < tiers.ranks(); ++offset) {
    std::int32_t to = rank;
    std::int32_t from = rank;
    for (int level = 0; level < tiers.levels(); ++level) {
      const std::int32_t by = tiers.at(offset, level);
      to = tiers.moved(to, level, by);
      from = tiers.moved(from, level, -by);
    }
    for (std::int32_t c = 0; c < chunks; ++c) {
      writer.send(0, to, input(to * chunks + c));
      writer.receive(0, from, output(from * chunks + c));
    }
  }
  return writer.take();
}

}  // namespace stepwright
