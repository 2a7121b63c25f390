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

/// The result of interleaving two strands operator by operator. Seconds are those of one layer
/// pair.
struct Interleaving {
  /// Blocks in order; an operator of the next layer is marked with a prime: f1'.
  std::vector<Block> blocks;
  double serial_s = 0;              ///< Seconds of one operator after the other.
  double serial_own_overlap_s = 0;  ///< Seconds if each reduction overlaps its own weight gradient.
  double interleaved_s = 0;         ///< Seconds of all blocks, one after the other.
  double event_s = 0;               ///< Seconds of the same order with events instead of barriers.
  /// Lower bound in seconds: all computation, or the messages of one link if they take longer.
  double lower_bound_s = 0;
  /// Seconds of communication that `interleaved_s` has in addition to all computation.
  double exposed_s = 0;
  std::map<std::string, double> exposed_by_collective;
  std::string starts_at;  ///< Id of the first operator of the forward list.
  /// Peak bytes in addition to those before the pair; 0 if `extra_bytes` is not set.
  double peak_extra_bytes = 0;
  double serial_extra_bytes = 0;  ///< Peak additional bytes if one operator runs after the other.
};

struct InterleaveOptions {
  /// Factors by which collectives slow computation beside them; 1: a block takes as long as the
  /// longer of the two.
  cost::Contention contention;
  /// True if the forward list may start at any of its operators, with those before it taken from
  /// the next layer: the steady state of many layers.
  bool rotate = true;
  /// Returns the peak bytes of an order of blocks in addition to those before the pair; empty:
  /// memory is not considered.
  std::function<double(const std::vector<Block>&)> extra_bytes = {};
  double memory_limit_bytes = std::numeric_limits<double>::infinity();
};

/// Returns the fastest sequence of blocks over all orders of both strands and all cuts into blocks
/// (`dynamic_program.h`). If rotation is allowed: the best over all starts; ties go to the list's
/// beginning, then to starts after a collective. With a memory limit: the best start that keeps it,
/// else one operator after the other; fails with `kInput` if even that needs more memory. Fails
/// with `kUnsupported` if a strand has more than 64 operators.
Interleaving interleave(const StrandPair& pair, const InterleaveOptions& options);

/// Writes the answer of `stepwright interleave --json` (`docs/formats.md`) for a pair and its plan.
nlohmann::ordered_json interleaving_json(const StrandPair& pair, const Interleaving& interleaving);

}  // namespace stepwright::interleave
