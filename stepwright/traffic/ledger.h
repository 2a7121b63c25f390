#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"
#include "stepwright/traffic/calls.h"

namespace stepwright::traffic {

/// Equal messages of a step. `payload_bytes` is the full buffer of one call (sharding conventions
/// of docs/glossary.md); `count` sums the calls of all ranks concerned (one collective over g ranks
/// counts g); `sent_bytes_per_rank` is what one rank sends for one call, so that
/// `count * sent_bytes_per_rank` is the bytes sent in all. A transfer between pipeline neighbours
/// is two calls, a send and a receive that sends nothing; a shift is one.
struct Message {
  step::OperatorKind operation{};
  step::Scheme scheme{};
  step::Phase phase{};  ///< kDataGradient stands for the whole backward.
  plan::GroupKind group{};
  std::int64_t group_size = 1;
  std::int64_t payload_bytes = 0;
  std::int64_t count = 0;
  double sent_bytes_per_rank = 0;
};

/// All messages of one step, over all ranks or of one rank: one row per scheme, phase, operation,
/// group and payload, in this order.
struct Ledger {
  std::vector<Message> messages;
};

/// Reads the ledger off the program: of one rank, or summed over all. What carriers send is the
/// mean over a group. Throws `Error{kInput}` for a rank that does not exist.
Ledger ledger(const step::StepProgram& program, std::optional<std::int64_t> rank,
              const plan::Grid& grid, const Carriers& carriers = {});

/// Count and bytes of messages, added up.
struct Volume {
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;
  double sent_bytes = 0;
};

/// The rows added up by scheme; schemes without messages are absent.
std::map<step::Scheme, Volume> totals(const Ledger& ledger);

/// The rows added up by payload: key k holds payloads of k to 2k - 1 bytes (powers of two; 0 holds
/// empty messages); sizes without messages are absent.
std::map<std::int64_t, Volume> histogram(const Ledger& ledger);

}  // namespace stepwright::traffic
