#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/collective/link_map.h"

namespace stepwright::collective {

/// Max-min fair rates of flows that share links: no rate can be raised without lowering one that is
/// not higher. Found by progressive filling (Bertsekas and Gallager, Data Networks, 1992, section
/// 6.5.2): the rates of all flows grow equally until a link saturates; the flows through it keep
/// their rate, and the others continue to grow.
class FairShare {
 public:
  /// Returns the bytes per second of each flow, given its path; infinite if the path is empty.
  /// Valid until the next call.
  std::span<const double> rates(const LinkMap& links, std::span<const LinkPath* const> paths);

 private:
  void count(const LinkMap& links, std::span<const LinkPath* const> paths);
  /// One round of max-min sharing: finds the links that saturate first, fixes the rate of each flow
  /// that crosses them, and returns that rate.
  double fill();

  struct Link {
    double left = 0;         ///< Bytes per second that are not assigned to a flow.
    std::int32_t flows = 0;  ///< Number of flows on the link whose rate is not fixed yet.
    bool full = false;
  };
  std::vector<Link> links_;
  std::vector<std::size_t> open_;  ///< Indices of flows whose rate is not fixed yet.
  std::vector<double> rates_;
};

}  // namespace stepwright::collective
