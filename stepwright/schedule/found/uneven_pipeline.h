#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/schedule.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright {

/// The parts of one position, in order.
using Order = std::vector<Part>;

/// What a chunk keeps of a micro-batch, in any unit.
struct KeptSize {
  double forward = 1;  ///< From its forward to its backward or data gradients.
  double weight = 1;   ///< From its data gradients to its weight gradients.
};

/// A pipeline for which an order of turns is looked for.
struct UnevenPipeline {
  Placement placement;
  std::int64_t micro_batches = 1;
  TurnSeconds seconds;  ///< Of its parts and whole backwards, and hops; without pairs.
  std::vector<std::vector<KeptSize>> kept;  ///< By position, then chunk.
  std::vector<double> room;                 ///< By position: its chunks keep at most.
};

/// A pipeline whose positions hold at most so many activations, in those of one micro-batch through
/// all chunks of a position, each until its weight gradient is done.
UnevenPipeline evenly_held(const Placement& placement, std::int64_t micro_batches,
                           TurnSeconds seconds, double activations);

/// What an order with this basis is found for.
UnevenPipeline uneven_pipeline(const OrderBasis& basis, const Placement& placement,
                               std::int64_t micro_batches);

/// Follows what a position keeps as its parts are done.
class Keeping {
 public:
  Keeping(const UnevenPipeline& pipeline, std::size_t position)
      : kept_(pipeline.kept[position]), room_(pipeline.room[position]) {}

  /// What a part adds to what is kept; less than nothing where it frees more.
  [[nodiscard]] double added(const Part& part) const;
  /// Whether `more` may be kept too.
  [[nodiscard]] bool has_room(double more) const;
  void run(const Part& part) { now_ += added(part); }

 private:
  const std::vector<KeptSize>& kept_;
  double room_;
  double now_ = 0;
};

/// Whether a position has room for an order.
bool has_room(const UnevenPipeline& pipeline, std::size_t position, std::span<const Part> order);

}  // namespace stepwright
