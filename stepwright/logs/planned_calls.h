#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::logs {

/// One planned or executed call of a process group.
struct GroupCall {
  step::OperatorKind operation{};
  step::Scheme scheme{};
  step::Phase phase{};
  std::string name;
  std::int64_t payload_bytes = 0;
  auto operator<=>(const GroupCall&) const = default;
};

/// A communicator as one rank sees it: the key of `Calls`.
struct CommunicatorKey {
  std::int64_t rank = 0;
  plan::GroupKind group{};
  std::string channel;  ///< Channel of the communicator, named by `channel_of`.
  auto operator<=>(const CommunicatorKey&) const = default;
};

/// The calls of each rank on each of its communicators, in order.
using Calls = std::map<CommunicatorKey, std::vector<GroupCall>>;

/// Returns the calls that every rank of a program makes in one step.
Calls planned_calls(const step::StepProgram& program, const plan::Grid& grid);
/// Adds the planned calls of one rank to `calls`.
void add_planned_calls(Calls& calls, const step::StepProgram& program, const plan::Grid& grid,
                       std::int64_t rank);

/// Returns the calls of the program whose payload depends on the data: those that carry routed
/// rows, unless every rank receives exactly the mean.
std::set<GroupCall> data_dependent_calls(const step::StepProgram& program);

/// Describes a call: "all_gather of parameters, forward, 4096 bytes".
std::string text_of(const GroupCall& call);

}  // namespace stepwright::logs
