#include "stepwright/cost/cost_model.h"

#include <fmt/format.h>

#include "stepwright/cost/constants.h"
#include "stepwright/cost/device_defaults.h"

namespace stepwright {

CostModel::CostModel(const Job& job)
    : defaults_(&device_defaults(job.cluster.device)),
      compute_(job),
      contention_{constants::kBesideInside.value, constants::kBesideNetwork.value},
      imbalance_(job.imbalance),
      fit_(fmt::format("computation {}, messages unfitted", compute_.fit())),
      stated_error_(constants::kStatedError.value) {
  set_links(job.cluster);
}

OperatorTime CostModel::price(const Operator& op,
                              const std::array<GroupLayout, kGroupKinds>& layouts,
                              Algorithm data_algorithm) const {
  OperatorTime time;
  if (is_communication(op.kind)) {
    const double busiest = op.routed ? imbalance_ : 1;
    const Algorithm algorithm = op.scheme == Scheme::kData ? data_algorithm : Algorithm::kRing;
    time = message(op.kind, busiest * static_cast<double>(op.payload_bytes()),
                   layouts[static_cast<std::size_t>(op.group)], algorithm);
  } else {
    time.seconds = compute_s(op);
  }
  time.seconds *= op.repeats;
  return time;
}

std::array<GroupLayout, kGroupKinds> group_layouts(const Cluster& cluster, const Grid& grid) {
  std::array<GroupLayout, kGroupKinds> layouts;
  for (int kind = 0; kind < kGroupKinds; ++kind) {
    layouts[kind] = group_layout(cluster, grid.shape(static_cast<GroupKind>(kind)));
  }
  return layouts;
}

}  // namespace stepwright
