#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/cost/collective_routes.h"
#include "stepwright/cost/laws/collective_constants.h"
#include "stepwright/cost/laws/operator_time.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// Prices messages on one cluster. Immutable, safe to share between threads; pricing allocates
/// nothing. With the constants that were fitted for the cluster, else for its device, else with the
/// documented default (`docs/models.md`).
class CollectiveCost {
 public:
  explicit CollectiveCost(const cluster::Cluster& cluster);
  CollectiveCost(const cluster::Cluster& cluster, CollectiveConstants constants);

  /// One message of a full buffer; point to point: the transfer between the two neighbours that are
  /// farthest apart. A group of one takes no time. Grows with the payload. By the named algorithm
  /// where it covers the operation and suits the group, else by the library: its ways alone (ring,
  /// tree, nvls; the least of them for the library), both levels in turn or at once (two-level,
  /// ho-ring), others by the closed form of their schedule, a start of the full protocol before it.
  [[nodiscard]] OperatorTime message(const CollectiveMessage& message) const;

  /// Whether such messages were measured on this very cluster, so that their time needs no
  /// correction that runs on other clusters taught.
  [[nodiscard]] bool measured_here(collective::Collective collective, LinkClass link) const {
    return measured_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(link)];
  }

  /// The profile that was fitted; nullopt: documented defaults.
  [[nodiscard]] const std::optional<std::string>& fit() const { return constants_.fit; }
  [[nodiscard]] const CollectiveConstants& constants() const { return constants_; }
  /// The links at their line rates.
  [[nodiscard]] const LineRates& rates() const { return rates_; }

 private:
  [[nodiscard]] double seconds(const CollectiveMessage& message, const Routes& routes,
                               const OperationConstants& constants) const;

  CollectiveConstants constants_;
  LineRates rates_;
  std::array<std::array<bool, kLinkClasses>, kCollectives> measured_{};
};

}  // namespace stepwright::cost
