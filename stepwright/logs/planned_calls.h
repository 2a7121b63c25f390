#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::logs {

/// One call of a process group.
struct GroupCall {
  step::OperatorKind operation{};
  step::Scheme scheme{};
  step::Phase phase{};
  std::string name;
  std::int64_t payload_bytes = 0;
  auto operator<=>(const GroupCall&) const = default;
};

/// A communicator as one rank sees it.
struct CommunicatorKey {
  std::int64_t rank = 0;
  plan::GroupKind group{};
  std::string channel;  ///< The channel, from `channel_of`.
  auto operator<=>(const CommunicatorKey&) const = default;
};

/// The calls of ranks on their communicators, in order.
using Calls = std::map<CommunicatorKey, std::vector<GroupCall>>;

/// The calls that every rank of a program makes in one step.
Calls planned_calls(const step::StepProgram& program, const plan::Grid& grid);
/// Adds the planned calls of one rank.
void add_planned_calls(Calls& calls, const step::StepProgram& program, const plan::Grid& grid,
                       std::int64_t rank);

/// The calls among them whose payload is data: routed ones, unless every rank gets exactly the
/// mean.
std::set<GroupCall> data_calls(const step::StepProgram& program);

/// "all_gather of parameters, forward, 4096 bytes".
std::string text_of(const GroupCall& call);

}  // namespace stepwright::logs
