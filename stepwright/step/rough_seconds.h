#pragma once

#include <array>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// About how long an operator takes alone, from the peaks of device and links: enough to say which
/// of two is longer where a program must choose an order, before anything has a price. A
/// computation takes the larger of its FLOPs at half of the peak and its bytes at three quarters of
/// the memory bandwidth; a message (n-1)/n of its payload over the share of the outermost link that
/// its group crosses. Rates are assumed: they move orders alone.
class RoughSeconds {
 public:
  /// `grid` fills the job's cluster.
  RoughSeconds(const plan::Job& job, const plan::Grid& grid);
  double operator()(const Operator& op) const;

 private:
  const cluster::Device* device_;
  /// Bandwidth of one rank; 0: a group of one.
  std::array<double, plan::kGroupKinds> link_bytes_per_s_{};
  std::array<double, plan::kGroupKinds> passed_{};  ///< (n - 1) / n.
};

}  // namespace stepwright::step
