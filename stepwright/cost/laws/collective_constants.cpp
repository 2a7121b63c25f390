#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {
namespace {

constexpr CollectiveProtocolConstants kLow = {
    .start_us = 7, .hop = 0.42, .network_hop = 1.4, .rate = 0.04, .selection = 1};
constexpr CollectiveProtocolConstants kLow128 = {
    .start_us = 8.5, .hop = 0.46, .network_hop = 1.8, .rate = 0.42, .selection = 1};
constexpr CollectiveProtocolConstants kFull = {
    .start_us = 18, .hop = 1.2, .network_hop = 2.4, .rate = 1, .selection = 0.75};

constexpr CollectiveOperationConstants ring(double inside_share) {
  return {.protocols = {kLow, kLow128, kFull},
          .fill = 1.2,
          .inside_share = inside_share,
          .few_ranks = 0.28,
          .network_share = 0.75,
          .tree_share = 0.6};
}

/// Returns the constants of a direct exchange, whose peers are served in parallel.
constexpr CollectiveOperationConstants exchange(double inside_share) {
  CollectiveOperationConstants constants = ring(inside_share);
  for (CollectiveProtocolConstants& protocol : constants.protocols) {
    protocol.hop /= 5;
    protocol.network_hop /= 5;
  }
  return constants;
}

constexpr CollectiveOperationConstants transfer(double inside_share) {
  CollectiveOperationConstants constants = ring(inside_share);
  constants.few_ranks = 0;
  return constants;
}

}  // namespace

const MachineCollectiveConstants& default_collective_constants() {
  static const MachineCollectiveConstants kConstants = {
      .operations = {ring(0.80), ring(0.75), ring(0.73), exchange(0.70), transfer(0.80)}};
  return kConstants;
}

}  // namespace stepwright::cost
