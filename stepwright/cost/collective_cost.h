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

/// Prices collective and point-to-point messages on one cluster. Uses constants fitted on the
/// cluster, else on its device, else the documented defaults (`docs/models.md`). Immutable and safe
/// to share between threads; pricing allocates no memory.
class MessageCostModel {
 public:
  explicit MessageCostModel(const cluster::Cluster& cluster);
  MessageCostModel(const cluster::Cluster& cluster, MachineCollectiveConstants constants);

  /// Returns the seconds of one message and the link class that limits it; for point to point,
  /// between the two neighbours that are farthest apart. A group of one rank takes no time. A named
  /// algorithm is used if it supports the operation and the group, else the library's choice. Ring,
  /// tree and NVLS follow the library's own routes (kLibrary: the fastest); two-level and ho-ring
  /// take both network levels, one after the other or at once; other algorithms take their
  /// schedule's closed form.
  [[nodiscard]] OperatorTime priced_message_time(const CollectiveMessage& message) const;

  /// True if messages of this collective over this link class were measured on this very cluster,
  /// so that their time needs no correction fitted to runs on other clusters.
  [[nodiscard]] bool is_measured_on_this_cluster(collective::CollectiveOperation collective,
                                                 LinkClass link) const {
    return measured_[static_cast<std::size_t>(collective)][static_cast<std::size_t>(link)];
  }

  /// Name of the profile whose fitted message constants are used; nullopt: documented defaults.
  [[nodiscard]] const std::optional<std::string>& profile_name() const { return constants_.fit; }
  [[nodiscard]] const MachineCollectiveConstants& constants() const { return constants_; }
  /// Returns the cluster's links with their latencies and their line rates (data-sheet bandwidths).
  [[nodiscard]] const ClusterLineRates& link_line_rates() const { return rates_; }

 private:
  [[nodiscard]] double seconds(const CollectiveMessage& message, const MessageRouteTimes& routes,
                               const CollectiveOperationConstants& constants) const;

  MachineCollectiveConstants constants_;
  ClusterLineRates rates_;
  std::array<std::array<bool, kLinkClasses>, kCollectives> measured_{};
};

}  // namespace stepwright::cost
