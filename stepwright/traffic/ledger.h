#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"
#include "stepwright/traffic/calls.h"

namespace stepwright::traffic {

/// Equal messages of a step. `payload_bytes` is the full buffer of one call (conventions of
/// docs/glossary.md). `count` sums the calls of all ranks (one collective over g ranks counts g).
/// `sent_bytes_per_rank` is what one rank sends for one call, so that `count * sent_bytes_per_rank`
/// is the number of bytes sent in total. A transfer between pipeline neighbours is two calls, a
/// send and a receive that sends nothing; a shift is one call.
struct Message {
  step::OperatorKind operation{};
  step::Scheme scheme{};
  step::Phase phase{};  ///< Phase of the step; kDataGradient means the whole backward pass.
  plan::GroupKind group{};
  std::int64_t group_size = 1;
  std::int64_t payload_bytes = 0;
  std::int64_t count = 0;
  double sent_bytes_per_rank = 0;
};

/// All messages of one step, of all ranks or of one: a row for each scheme, phase, operation, group
/// and payload, in this order.
struct TrafficLedger {
  std::vector<Message> messages;
};

/// Counts the messages of a program, of one rank or summed over all (nullopt). Bytes sent by an
/// algorithm are the mean over its group. Throws `Error{kInput}` for a rank that does not exist.
TrafficLedger ledger(const step::StepProgram& program, std::optional<std::int64_t> rank,
                     const plan::Grid& grid, const MessageCarriers& carriers = {});

/// The sum of several messages: their count and bytes.
struct MessageVolume {
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;
  double sent_bytes = 0;
};

/// Sums the rows by scheme; schemes without messages are absent.
std::map<step::Scheme, MessageVolume> totals(const TrafficLedger& ledger);

/// Sums the rows by payload: key k has the payloads of k to 2k - 1 bytes (powers of two; 0: empty
/// messages). Sizes without messages are absent.
std::map<std::int64_t, MessageVolume> histogram(const TrafficLedger& ledger);

}  // namespace stepwright::traffic
