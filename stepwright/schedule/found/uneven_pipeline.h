#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/schedule.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright::schedule {

/// Sums of the same seconds in another order differ by less than this part of them.
inline constexpr double kSumRounding = 1e-9;

/// The parts of one position, in order.
using Order = std::vector<Part>;

/// The size that a chunk keeps of a micro-batch, in any unit.
struct KeptSize {
  double forward = 1;  ///< Size kept from its forward to its backward or data gradients.
  double weight = 1;   ///< Size kept from its data gradients to its weight gradients.
};

/// A pipeline for which an order of turns is looked for.
struct UnevenPipeline {
  Placement placement;
  std::int64_t micro_batches = 1;
  TurnSeconds seconds;  ///< Seconds of parts, whole backwards and hops; without pairs.
  std::vector<std::vector<KeptSize>> kept;  ///< Kept sizes, by position, then chunk.
  std::vector<double> room;                 ///< Most that the chunks of each position may keep.
};

/// A pipeline whose positions hold at most so many activations, in those of one micro-batch through
/// all chunks of a position, each until its weight gradient is done.
UnevenPipeline evenly_held(const Placement& placement, std::int64_t micro_batches,
                           TurnSeconds seconds, double activations);

/// The pipeline for which an order with this basis is found.
UnevenPipeline uneven_pipeline(const OrderBasis& basis, const Placement& placement,
                               std::int64_t micro_batches);

/// Where a chunk of the model lies, and what a micro-batch takes from there at least.
struct ChunkRoute {
  Place holder;
  double hop_s = 0;             ///< Seconds of the hop from the chunk before it.
  double behind_forward_s = 0;  ///< Least seconds from the end of its forward to the end of all.
  /// Least seconds from the end of its backward or data gradients to the end of all.
  double behind_backward_s = 0;
};
/// The route of every chunk, in model order.
std::vector<ChunkRoute> chunk_routes(const UnevenPipeline& pipeline);

/// Follows what a position keeps as its parts are done.
class Keeping {
 public:
  Keeping(const UnevenPipeline& pipeline, std::size_t position, double kept = 0)
      : kept_(pipeline.kept[position]), room_(pipeline.room[position]), now_(kept) {}

  /// The size that a part adds to what is kept; less than nothing where it frees more.
  [[nodiscard]] double added(const Part& part) const;
  /// Whether `more` may be kept too.
  [[nodiscard]] bool has_room(double more) const;
  void run(const Part& part) { now_ += added(part); }
  [[nodiscard]] double now() const { return now_; }

 private:
  const std::vector<KeptSize>& kept_;
  double room_;
  double now_;
};

/// Whether a position that keeps so much has room for what comes then.
bool has_room(const UnevenPipeline& pipeline, std::size_t position, std::span<const Part> order,
              double kept = 0);

}  // namespace stepwright::schedule
