#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::logs {

/// One call of a process group, planned or executed: operation, kind of parallelism, phase of the
/// step, name and payload.
struct ProcessGroupCall {
  step::OperatorKind operation{};
  step::ParallelismScheme scheme{};
  step::Phase phase{};
  std::string name;
  std::int64_t payload_bytes = 0;
  auto operator<=>(const ProcessGroupCall&) const = default;
};

/// Identifies a communicator as one rank sees it; the key of the map `Calls`.
struct CommunicatorKey {
  std::int64_t rank = 0;
  plan::CommunicatorKind group{};
  std::string channel;  ///< Name of the rank's communicator (`step::operator_communicator_name`).
  auto operator<=>(const CommunicatorKey&) const = default;
};

/// Calls, planned or executed, of each rank on each of its communicators, in order.
using Calls = std::map<CommunicatorKey, std::vector<ProcessGroupCall>>;

/// Returns the communication calls that every rank makes in one step of a program.
Calls planned_calls(const step::StepProgram& program, const plan::RankGrid& grid);
/// Adds the communication calls of one rank in one step of a program to `calls`.
void add_planned_calls(Calls& calls, const step::StepProgram& program, const plan::RankGrid& grid,
                       std::int64_t rank);

/// Returns the calls of a step program whose payload depends on the data: those that carry the rows
/// which a router sends to experts, unless every rank receives exactly the mean.
std::set<ProcessGroupCall> data_dependent_calls(const step::StepProgram& program);

/// Returns a description of a call: "all_gather of parameters, forward, 4096 bytes".
std::string group_call_description(const ProcessGroupCall& call);

}  // namespace stepwright::logs
