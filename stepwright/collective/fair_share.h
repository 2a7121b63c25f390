#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/collective/link_map.h"

namespace stepwright::collective {

/// Rates of flows that share links, max-min fair: none can be raised without lowering one that is
/// no higher. By progressive filling (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2):
/// the rates of all flows grow alike until a link is full, whose flows keep what they have; the
/// others go on.
class FairShare {
 public:
  /// Bytes per second of each flow, by its path; infinite where that is empty. Valid until the next
  /// call.
  std::span<const double> rates(const LinkMap& links, std::span<const LinkPath* const> paths);

 private:
  void count(const LinkMap& links, std::span<const LinkPath* const> paths);
  /// Gives each flow of the links that are full first its share; marks them.
  double fill();

  struct Link {
    double left = 0;         ///< Bytes per second that no flow has yet.
    std::int32_t flows = 0;  ///< Flows on it that still grow.
    bool full = false;
  };
  std::vector<Link> links_;
  std::vector<std::size_t> open_;  ///< Flows that still grow.
  std::vector<double> rates_;
};

}  // namespace stepwright::collective
