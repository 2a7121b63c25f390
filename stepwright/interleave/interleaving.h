#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/interleave/block.h"
#include "stepwright/interleave/strand.h"

namespace stepwright::interleave {

/// The result of interleaving the forward of one micro-batch with the backward of another through
/// one layer, operator by operator. All seconds are those of this one layer.
struct LayerInterleaving {
  /// Blocks in execution order; ids with a prime (f1') are operators of the next layer's forward.
  std::vector<InterleavedBlock> blocks;
  /// Seconds of the layer's forward and backward if all operators run one after the other.
  double serial_s = 0;
  /// Seconds of the layer if nothing overlaps, except that each gradient reduction runs beside the
  /// weight gradient of its own product.
  double serial_own_overlap_s = 0;
  double interleaved_s = 0;  ///< Seconds of all blocks, with a barrier after each.
  /// Seconds in the order of the blocks if operators wait for events instead of barriers.
  double event_s = 0;
  /// Lower bound on the seconds: all computation, or all messages of one link if they take longer.
  double lower_bound_s = 0;
  /// Exposed communication: seconds of `interleaved_s` beyond those of all computation.
  double exposed_s = 0;
  std::map<std::string, double> exposed_by_collective;
  std::string starts_at;  ///< Id of the forward operator with which the interleaved order starts.
  /// Peak bytes beyond those that exist before the layer's forward and backward, in the interleaved
  /// order; 0: not computed.
  double peak_extra_bytes = 0;
  /// Peak bytes that the layer's forward and backward add to what exists before, if all operators
  /// run one after the other.
  double serial_extra_bytes = 0;
};

struct InterleaveOptions {
  /// Factors by which a collective slows the computation beside it; 1: it does not.
  cost::OverlapSlowdownFactors contention;
  /// True if the order may start at any forward operator, as in the middle of many equal layers:
  /// the operators before it are then those of the next layer.
  bool rotate = true;
  /// Function that returns the peak additional bytes of an order of blocks; empty: memory is not
  /// considered.
  std::function<double(const std::vector<InterleavedBlock>&)> extra_bytes = {};
  double memory_limit_bytes = std::numeric_limits<double>::infinity();
};

/// Returns the fastest way to run a forward and a backward of a layer side by side, over all orders
/// and cuts into blocks (`dynamic_program.h`) and, if `rotate`, all first operators (of equally
/// fast ones the first of the list, else one after a collective). With a memory limit: the best
/// start that keeps it, else one operator after the other. Fails with `kInput` if even that needs
/// more memory, with `kUnsupported` above 64 operators in one direction.
LayerInterleaving interleave_layer_forward_and_backward(const ForwardBackwardOperators& pair,
                                                        const InterleaveOptions& options);

/// Returns the JSON output of `stepwright interleave --json` (`docs/formats.md`).
nlohmann::ordered_json interleaving_json(const ForwardBackwardOperators& pair,
                                         const LayerInterleaving& interleaving);

}  // namespace stepwright::interleave
