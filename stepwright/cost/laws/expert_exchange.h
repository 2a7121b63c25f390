#pragma once

#include <cstdint>

namespace stepwright::cost {

/// One dispatch of token rows to expert ranks, or one combine of their results (`combines`), by
/// DeepEP's kernels inside a node. A row is sent to each rank once, however many of its experts are
/// there.
struct DeepEpExchange {
  bool combines = false;
  /// Number of token rows that one rank has before the dispatch to experts.
  double tokens = 0;
  /// Hidden width: number of elements of a token's row.
  double width = 0;
  double bytes = 2;  ///< Bytes of an element during the exchange (2: bf16).
  std::int64_t ranks = 8;
  /// Mean number of distinct ranks that hold the experts of one row, its own rank included.
  double met_ranks = 1;
  /// Streaming multiprocessors of the GPU that the kernel occupies (DeepEP's `num_sms`).
  std::int64_t multiprocessors = 20;
};

/// Returns the seconds of an expert exchange; `link_bytes_per_s`: one direction of a device's
/// links.
///
///     start + (copy^q + link^q)^(1/q)
///     copy = tokens * (width * bytes * (met * sent + read) + met * row) / multiprocessors
///     link = tokens * width * bytes * met * (ranks - 1) / ranks / (share * link_bytes_per_s)
///
/// met: `met_ranks`; other names are fitted constants. Fitted to 2,738 times on H100 and H200
/// (`data/collectives/expert_exchange.csv`): mean error 3.8 % of dispatches and 4.0 % of combines,
/// 5.5 and 4.7 % for row widths that the fit has not seen.
double deepep_exchange_s(const DeepEpExchange& exchange, double link_bytes_per_s);

}  // namespace stepwright::cost
