#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stepwright/logs/record.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Calls of one operation in one group, which differ only in size. Sends and receives have no
/// group, because programs send the same message in a group of two ranks or of all.
struct CallKind {
  LogOperation operation{};
  /// Global ranks of the group, ascending; empty: a send or receive, or not known.
  std::vector<std::int64_t> members;
  std::int64_t size = 0;  ///< Number of ranks in the group; 0: not known.
  auto operator<=>(const CallKind&) const = default;
};

/// Returns the operations that a log shows for an operator (a pipeline shift is a send and a
/// receive); empty for computations.
std::vector<LogOperation> logged_as(step::OperatorKind kind);

/// The largest payload of a call that sums a scalar (a norm, a loss or a count), in bytes.
inline constexpr std::int64_t kScalarBytes = 64;
/// The largest payload, in bytes, of a norm for which a program sends one number for each tensor.
inline constexpr std::int64_t kMostNormBytes = 16 * 1024;

/// Equal planned calls of one step: their number and properties.
struct PlannedSize {
  step::Scheme scheme{};
  std::int64_t count = 0;
  /// True if the payload is a mean, because a router decides the real one (`data_dependent_calls`).
  bool routed = false;
  /// True if the calls report the loss to all ranks, which frameworks may leave out.
  bool report = false;
  /// True if the plan lets all of the calls run at the same time as computation.
  bool beside = false;
};

/// A process group that the plan gives a rank.
struct PlannedGroup {
  std::string name;       ///< Name of the group's kind: "tensor".
  step::Scheme scheme{};  ///< Kind of parallelism of its messages; kNone: it has no messages.
};

/// The planned messages of one rank in a step, as logs show them: a pipeline shift is a send and a
/// receive.
struct PlannedStep {
  /// Planned calls by kind, then by payload in bytes.
  std::map<CallKind, std::map<std::int64_t, PlannedSize>> calls;
  /// Process groups of the rank, by their members.
  std::map<std::vector<std::int64_t>, PlannedGroup> groups;

  [[nodiscard]] std::int64_t count() const;
  /// Returns the number of planned calls of a kind and payload; 0: the plan has none.
  [[nodiscard]] std::int64_t count(const CallKind& kind, std::int64_t payload_bytes) const;
  /// True if calls of this kind sum a norm, a loss or a count.
  [[nodiscard]] bool sums_scalars(const CallKind& kind) const;
};
PlannedStep planned_step(const step::StepProgram& program, const plan::Grid& grid,
                         std::int64_t rank);

}  // namespace stepwright::logs
