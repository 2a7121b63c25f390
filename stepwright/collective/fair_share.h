#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/collective/link_map.h"

namespace stepwright::collective {

/// Max-min fair rates of data flows that share links: no rate can be raised without lowering one
/// that is not higher. Computed by progressive filling (Bertsekas and Gallager, Data Networks,
/// 1992, section 6.5.2): all rates grow equally until a link saturates; the flows through it keep
/// their rate, and the others continue to grow.
class MaxMinFairRates {
 public:
  /// Returns the bytes per second of each flow. `paths`: links that each flow passes; a flow
  /// without links has an infinite rate. The result is valid until the next call.
  std::span<const double> flow_rates(const LinkMap& links, std::span<const LinkPath* const> paths);

 private:
  void count(const LinkMap& links, std::span<const LinkPath* const> paths);
  /// Does one round of progressive filling: finds the links that saturate first, fixes the rate of
  /// the flows through them, and returns that rate in bytes per second.
  double fix_flows_of_next_saturated_links();

  struct Link {
    double left = 0;         ///< Bytes per second of the link that no flow has got yet.
    std::int32_t flows = 0;  ///< Number of flows through the link whose rate is not fixed yet.
    bool full = false;
  };
  std::vector<Link> links_;
  /// Indices of the flows whose rate is not fixed yet; the rates of all others are final.
  std::vector<std::size_t> open_;
  std::vector<double> rates_;
};

}  // namespace stepwright::collective
