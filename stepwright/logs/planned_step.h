#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stepwright/logs/record.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Calls that could stand for each other but for their size: an operation of a group. Sends and
/// receives have no group: programs send the same message in a group of two or of all.
struct CallKind {
  LogOperation operation{};
  std::vector<std::int64_t> members;  ///< Ascending; empty: a message, or not known.
  std::int64_t size = 0;              ///< Ranks of the group; 0: not known.
  auto operator<=>(const CallKind&) const = default;
};

/// The calls that a log has for an operator: a shift is a send and a receive. None for
/// computations.
std::vector<LogOperation> logged_as(step::OperatorKind kind);

/// Most bytes of a norm, a loss or a count.
inline constexpr std::int64_t kScalarBytes = 64;
/// Most bytes of a norm of which programs send a number for each tensor.
inline constexpr std::int64_t kMostNormBytes = 16 * 1024;

/// Equal calls of a step.
struct PlannedSize {
  step::Scheme scheme{};
  std::int64_t count = 0;
  bool routed = false;  ///< The payload is a mean (`data_calls`).
  bool report = false;  ///< Says the loss to all ranks, which runs may leave out.
  bool beside = false;  ///< The plan lets all of them run beside computation.
};

/// A group of a rank in the plan.
struct PlannedGroup {
  std::string name;       ///< Name of its kind.
  step::Scheme scheme{};  ///< Scheme of its messages; kNone: it has none.
};

/// The messages of one rank in a step, in the words of logs: a shift is a send and a receive.
struct PlannedStep {
  /// Calls of each kind, by payload.
  std::map<CallKind, std::map<std::int64_t, PlannedSize>> calls;
  std::map<std::vector<std::int64_t>, PlannedGroup> groups;  ///< Groups, by their members.

  [[nodiscard]] std::int64_t count() const;
  /// Calls of a kind and payload; 0 without.
  [[nodiscard]] std::int64_t count(const CallKind& kind, std::int64_t payload_bytes) const;
  /// Whether a norm, a loss or a count is summed in calls of that kind.
  [[nodiscard]] bool sums_scalars(const CallKind& kind) const;
};
PlannedStep planned_step(const step::StepProgram& program, const plan::Grid& grid,
                         std::int64_t rank);

}  // namespace stepwright::logs
