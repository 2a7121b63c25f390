#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stepwright/logs/record.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// An operation in one group of ranks; calls of one kind differ only in size. Sends and receives
/// have no group, since programs send equal messages in groups of two ranks or of all ranks.
struct GroupCallKind {
  LoggedOperation operation{};
  /// Global ranks of the group, ascending; empty: not known, or a send or receive.
  std::vector<std::int64_t> members;
  std::int64_t size = 0;  ///< Number of ranks in the group; 0: not known.
  auto operator<=>(const GroupCallKind&) const = default;
};

/// Returns the operations that a log shows for one operator of a step program (a pipeline shift is
/// a send and a receive); empty for computations.
std::vector<LoggedOperation> log_operations_of_operator_kind(step::OperatorKind kind);

/// Largest payload, in bytes, for which a call may be the sum of a scalar (a norm, a loss or a
/// count).
inline constexpr std::int64_t kMaxScalarSumBytes = 64;
/// Largest payload, in bytes, for which a call may be a norm with one number for each tensor.
inline constexpr std::int64_t kMaxTensorNormBytes = 16 * 1024;

/// Number and properties of the planned calls of one step with equal operation, group and payload.
struct PlannedCallTotals {
  step::ParallelismScheme scheme{};
  std::int64_t count = 0;
  /// True if the payload is a mean, because a router decides the real one for each call.
  bool routed = false;
  /// True if the calls only report the loss to all ranks, which frameworks may leave out.
  bool report = false;
  /// True if the plan lets all of these calls run at the same time as computation.
  bool beside = false;
};

/// A process group of a rank in the plan.
struct PlannedProcessGroup {
  std::string name;  ///< Name of the kind of group: "tensor".
  /// Kind of parallelism of the group's messages; kNone: it has no messages.
  step::ParallelismScheme scheme{};
};

/// The planned communication calls of one rank in a step, as logs show them: a pipeline shift is a
/// send and a receive.
struct PlannedStepCalls {
  /// Planned calls by operation and group, then by payload in bytes.
  std::map<GroupCallKind, std::map<std::int64_t, PlannedCallTotals>> calls;
  /// Process groups of the rank, by their global ranks.
  std::map<std::vector<std::int64_t>, PlannedProcessGroup> groups;

  [[nodiscard]] std::int64_t count() const;
  /// Returns the number of planned calls of one operation, group and payload; 0: the plan has none.
  [[nodiscard]] std::int64_t count(const GroupCallKind& kind, std::int64_t payload_bytes) const;
  /// True if calls of this operation and group sum a norm, a loss or a count.
  [[nodiscard]] bool is_scalar_sum(const GroupCallKind& kind) const;
};
PlannedStepCalls planned_step(const step::StepProgram& program, const plan::RankGrid& grid,
                              std::int64_t rank);

}  // namespace stepwright::logs
