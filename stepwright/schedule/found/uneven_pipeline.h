#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/schedule.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright::schedule {

/// Relative difference below which two sums count as equal, as the same seconds may be added in
/// another order.
inline constexpr double kSumRounding = 1e-9;

/// The parts of one position, in order.
using Order = std::vector<Part>;

/// Memory that a chunk keeps for a micro-batch, in any unit.
struct KeptSize {
  double forward = 1;  ///< Size kept from its forward to its backward or data gradients.
  double weight = 1;   ///< Size kept from its data gradients to its weight gradients.
};

/// A pipeline for which an order of turns is searched.
struct UnevenPipeline {
  Placement placement;
  std::int64_t micro_batches = 1;
  /// Seconds of parts, of whole backwards and of hops; there are no overlapped pairs.
  TurnSeconds seconds;
  std::vector<std::vector<KeptSize>> kept;  ///< Kept sizes, by position, then chunk.
  std::vector<double> room;  ///< For each position, the most memory that its chunks may keep.
};

/// Returns a pipeline whose positions keep at most `activations`, in units of one micro-batch's
/// activations on all chunks of a position; each is kept until its weight gradient is done.
UnevenPipeline evenly_held(const Placement& placement, std::int64_t micro_batches,
                           TurnSeconds seconds, double activations);

/// Returns the pipeline that a basis describes.
UnevenPipeline uneven_pipeline(const OrderBasis& basis, const Placement& placement,
                               std::int64_t micro_batches);

/// The place of a chunk of the model, and the least time that a micro-batch needs from there to the
/// end.
struct ChunkRoute {
  Place holder;
  /// Seconds of the hop from the previous chunk of the model; 0 on the same position.
  double hop_s = 0;
  /// Least seconds from the end of the chunk's forward to the end of the step.
  double behind_forward_s = 0;
  /// Least seconds from the end of the chunk's backward or data gradients to the end of the step.
  double behind_backward_s = 0;
};
/// Returns the routes of all chunks, in model order.
std::vector<ChunkRoute> chunk_routes(const UnevenPipeline& pipeline);

/// Tracks the memory that a position keeps as its parts are done.
class Keeping {
 public:
  Keeping(const UnevenPipeline& pipeline, std::size_t position, double kept = 0)
      : kept_(pipeline.kept[position]), room_(pipeline.room[position]), now_(kept) {}

  /// The size that a part adds to the kept memory; negative if it frees more.
  [[nodiscard]] double added(const Part& part) const;
  /// True if the position has room for `more` in addition.
  [[nodiscard]] bool has_room(double more) const;
  void run(const Part& part) { now_ += added(part); }
  [[nodiscard]] double now() const { return now_; }

 private:
  const std::vector<KeptSize>& kept_;
  double room_;
  double now_;
};

/// True if a position that already keeps `kept` has room for all parts of `order`.
bool has_room(const UnevenPipeline& pipeline, std::size_t position, std::span<const Part> order,
              double kept = 0);

}  // namespace stepwright::schedule
