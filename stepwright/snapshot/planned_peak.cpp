#include "stepwright/snapshot/planned_peak.h"

#include <map>
#include <string_view>
#include <tuple>

#include "stepwright/snapshot/peak_walk.h"

namespace stepwright::snapshot {
namespace {

using memory::PredictedAllocation;

/// Gives equal blocks one number, so that a walk over millions of blocks stores each kind once.
class BlockKinds {
 public:
  std::uint64_t number(const PredictedAllocation& block) {
    const auto key = std::tuple(block.kind, block.bytes, block.unit, block.part, block.tensor);
    const auto [found, fresh] = numbers_.emplace(key, blocks_.size());
    if (fresh) blocks_.push_back(block);
    return found->second;
  }
  [[nodiscard]] const PredictedAllocation& block(std::uint64_t number) const {
    return blocks_[number];
  }

 private:
  std::map<std::tuple<memory::MemoryKind, std::int64_t, std::int32_t, std::string_view,
                      std::string_view>,
           std::uint64_t>
      numbers_;
  std::vector<PredictedAllocation> blocks_;
};

}  // namespace

PlannedStagePeak planned_peak(const plan::Job& job, const step::StepProgram& program,
                              const step::PipelineStageProgram& stage) {
  BlockKinds kinds;
  MemoryPeakFinder walk;
  std::int64_t event = 0;
  const auto key = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  memory::visit_predicted_allocations(
      job, program, stage,
      {.allocate =
           [&](std::int64_t number, const PredictedAllocation& block) {
             walk.allocate(key(number),
                           {.bytes = block.bytes, .event = event++, .what = kinds.number(block)});
           },
       .free = [&](std::int64_t number) { walk.free(key(number), {.event = event++}); },
       .begin_step = [] {}});
  PlannedStagePeak peak{.bytes = walk.peak_bytes()};
  for (const MemoryBlock& block : walk.blocks_at_peak())
    peak.blocks.push_back(kinds.block(block.what));
  return peak;
}

}  // namespace stepwright::snapshot
