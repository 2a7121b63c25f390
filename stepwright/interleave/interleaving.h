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

/// Two strands interleaved operator by operator. Seconds of one layer pair.
struct Interleaving {
  /// Blocks in order; an operator of the next layer has a prime: f1'.
  std::vector<Block> blocks;
  double serial_s = 0;              ///< One operator after the other.
  double serial_own_overlap_s = 0;  ///< Each reduction beside its own weight gradient.
  double interleaved_s = 0;         ///< Sum over the blocks.
  double event_s = 0;               ///< Seconds of the same order with events in place of barriers.
  double lower_bound_s = 0;         ///< The larger of all computation and of any link's messages.
  double exposed_s = 0;             ///< Seconds of `interleaved_s` beyond all computation.
  std::map<std::string, double> exposed_by_collective;
  std::string starts_at;          ///< First operator of the forward list.
  double peak_extra_bytes = 0;    ///< Bytes beyond what is there before the pair, where asked for.
  double serial_extra_bytes = 0;  ///< Extra bytes of running one operator after the other.
};

struct InterleaveOptions {
  /// Factors on computation beside a collective; 1: a block takes as long as the longer of both.
  cost::Contention contention;
  /// Whether the forward list may start at any of its operators, those before it being the next
  /// layer's: the steady state of many layers.
  bool rotate = true;
  /// Bytes that an order of blocks takes beyond what is there before; none: nobody asks.
  std::function<double(const std::vector<Block>&)> extra_bytes = {};
  double memory_limit_bytes = std::numeric_limits<double>::infinity();
};

/// The fastest sequence of blocks over all orders of both strands and all cuts into blocks
/// (`dynamic_program.h`). Where rotation is allowed the best of all starts, ties to the begin, then
/// to those behind a collective. With a memory limit the best of those starts that keep it, else
/// one operator after the other; fails with `kInput` when that needs more. Fails with
/// `kUnsupported` when a strand has more than 64 operators.
Interleaving interleave(const StrandPair& pair, const InterleaveOptions& options);

/// The answer of `stepwright interleave --json` (`docs/formats.md`) for a pair and its plan.
nlohmann::ordered_json interleaving_json(const StrandPair& pair, const Interleaving& interleaving);

}  // namespace stepwright::interleave
