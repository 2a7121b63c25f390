#pragma once

#include <array>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::step {

/// Estimates how long an operator takes alone, from the peak rates of device and links: accurate
/// enough to tell which of two is longer when a program must choose an order before it is priced. A
/// computation takes the larger of its FLOPs at half of the peak and its bytes at three quarters of
/// the memory bandwidth; a message takes (n-1)/n of its payload over its share of the outermost
/// link that its group crosses. The rates are assumed; they affect only the order.
class RoughOperatorSeconds {
 public:
  /// Computes the link rates of each kind of group. `grid`: the plan's rank grid, which must fill
  /// the job's cluster.
  RoughOperatorSeconds(const plan::Job& job, const plan::RankGrid& grid);
  double operator()(const Operator& op) const;

 private:
  const cluster::DeviceModel* device_;
  /// Bytes per second at which one rank communicates in each kind of group (tensor, data, ...); 0:
  /// a group of one rank.
  std::array<double, plan::kGroupKinds> link_bytes_per_s_{};
  /// Share of a collective's payload that each rank sends, for each kind of group: (n - 1) / n for
  /// n ranks.
  std::array<double, plan::kGroupKinds> passed_{};
};

}  // namespace stepwright::step
