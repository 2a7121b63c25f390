#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"
#include "stepwright/traffic/calls.h"

namespace stepwright::traffic {

/// Equal messages of a step, as one row of its traffic. `payload_bytes`: full buffer of one call;
/// `count`: calls of all ranks (a collective over g ranks counts g); `sent_bytes_per_rank`: sent by
/// one rank in one call. A pipeline transfer counts as a send, and as a receive that sends 0 bytes.
struct TrafficLedgerRow {
  step::OperatorKind operation{};
  step::ParallelismScheme scheme{};
  step::Phase phase{};  ///< Phase of the step; `kDataGradient` stands for the whole backward pass.
  plan::CommunicatorKind group{};
  std::int64_t group_size = 1;
  std::int64_t payload_bytes = 0;
  std::int64_t count = 0;
  double sent_bytes_per_rank = 0;
};

/// All messages of one step, of all ranks or of one rank, with equal ones in one row; sorted by
/// scheme, phase, operation, group and payload.
struct TrafficLedger {
  std::vector<TrafficLedgerRow> messages;
};

/// Counts the messages of a step program, of one rank or of all ranks together (nullopt). Sent
/// bytes are means over a group's ranks. Fails with `kInput` for a rank that does not exist.
TrafficLedger count_traffic_of_step(const step::StepProgram& program,
                                    std::optional<std::int64_t> rank, const plan::RankGrid& grid,
                                    const MessageAlgorithmChoice& carriers = {});

/// Total count and bytes of several messages.
struct MessageVolume {
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;
  double sent_bytes = 0;
};

/// Returns the total count and bytes of messages for each scheme (kind of parallelism); schemes
/// without messages are absent.
std::map<step::ParallelismScheme, MessageVolume> traffic_totals_by_scheme(
    const TrafficLedger& ledger);

/// Returns the total count and bytes of messages by size: key k (a power of two) stands for
/// payloads of k to 2k - 1 bytes; key 0: empty messages. Sizes without messages are absent.
std::map<std::int64_t, MessageVolume> message_size_histogram(const TrafficLedger& ledger);

}  // namespace stepwright::traffic
