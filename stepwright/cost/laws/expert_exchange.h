#pragma once

#include <cstdint>

namespace stepwright::cost {

/// A dispatch of rows to the ranks of their experts, or a combine of results (`combines`), by
/// kernels of DeepEP inside one node: a row is sent to each rank once, whatever number of its
/// experts are on that rank.
struct ExpertExchange {
  bool combines = false;
  double tokens = 0;  ///< Rows of one rank before the exchange, one for each token.
  double width = 0;   ///< Elements of a row.
  double bytes = 2;   ///< Bytes of an element as it is sent.
  std::int64_t ranks = 8;
  double met_ranks = 1;  ///< Mean number of ranks that a row is sent to, its own included.
  std::int64_t multiprocessors = 20;  ///< Multiprocessors that the kernel uses (`num_sms`).
};

/// Returns the seconds of an exchange over links of `link_bytes_per_s` (one direction of a device's
/// links):
///
///     start + (copy^q + link^q)^(1/q)
///     copy = tokens * (width * bytes * (met * sent + read) + met * row) / multiprocessors
///     link = tokens * width * bytes * met * (ranks - 1) / ranks / (share * link_bytes_per_s)
///
/// fitted to 2,738 times on H100 and H200 (`data/collectives/expert_exchange.csv`): off by 3.8 % of
/// dispatches and 4.0 % of combines in the mean, by 5.5 and 4.7 % of widths that a fit has not
/// seen.
double expert_exchange_s(const ExpertExchange& exchange, double link_bytes_per_s);

}  // namespace stepwright::cost
