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
/// nothing. Uses the constants that were fitted for the cluster, else those of its device, else the
/// documented defaults (`docs/models.md`).
class CollectiveCost {
 public:
  explicit CollectiveCost(const cluster::Cluster& cluster);
  CollectiveCost(const cluster::Cluster& cluster, CollectiveConstants constants);

  /// Returns the time of one message of a full buffer; for point to point, the transfer between the
  /// two neighbours that are farthest apart. A group of one takes no time. The time grows with the
  /// payload. The message uses its named algorithm if that covers the operation and suits the
  /// group, else the library's choice. Ring, tree and nvls are priced as the library's own routes
  /// (the library takes the fastest), two-level and ho-ring as both levels in turn or at once,
  /// other algorithms by the closed form of their schedule after a start of the full protocol.
  [[nodiscard]] OperatorTime message(const CollectiveMessage& message) const;

  /// True if such messages were measured on this very cluster, so that their time needs no
  /// correction learnt from runs on other clusters.
  [[nodiscard]] bool measured_here(collective::Collective collective, LinkClass link) const {
    return measured_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(link)];
  }

  /// The profile whose fitted constants are used; nullopt: documented defaults.
  [[nodiscard]] const std::optional<std::string>& fit() const { return constants_.fit; }
  [[nodiscard]] const CollectiveConstants& constants() const { return constants_; }
  /// Returns the links of the cluster at their line rates.
  [[nodiscard]] const LineRates& rates() const { return rates_; }

 private:
  [[nodiscard]] double seconds(const CollectiveMessage& message, const MessageRoutes& routes,
                               const OperationConstants& constants) const;

  CollectiveConstants constants_;
  LineRates rates_;
  std::array<std::array<bool, kLinkClasses>, kCollectives> measured_{};
};

}  // namespace stepwright::cost
