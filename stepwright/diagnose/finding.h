#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright::diagnose {

/// Kinds of findings, in the order of the document's schema.
enum class FindingKind : std::uint8_t {
  kMismatch,     ///< Ranks of a group make calls that differ in operation, size or number.
  kMissingRank,  ///< A rank died, or never came to a call of its group.
  kOrder,        ///< Ranks use several groups in different orders and wait for each other.
  kStall,        ///< A rank is outside of all calls, or a call that all ranks entered never ends.
  kOutOfMemory,  ///< A device or a host had no memory left.
  kCheckpoint,   ///< Slow steps at equal distances, as checkpoints and evaluations make them.
  kDrift,        ///< Steps get slower as the run goes on.
  kSetup,        ///< Ranks, devices and memory of a job did not fit together at its start.
  kNetwork,      ///< A transfer between nodes failed.
  kDevice,       ///< A device, its driver or a kernel failed.
  kStorage,      ///< A file could not be read or written.
  kLoss,         ///< A loss or a norm is no number, or leaps.
  kSlowLink,     ///< Messages take a slower way than the machine has.
  kStepTime,     ///< Steps take longer than a plan predicts.
  kLateData,     ///< Steps wait for their data.
};
inline constexpr Named<FindingKind> kFindingKindNames[] = {
    {FindingKind::kMismatch, "hang.mismatch"},
    {FindingKind::kMissingRank, "hang.missing_rank"},
    {FindingKind::kOrder, "hang.order"},
    {FindingKind::kStall, "hang.stall"},
    {FindingKind::kOutOfMemory, "oom"},
    {FindingKind::kCheckpoint, "checkpoint"},
    {FindingKind::kDrift, "drift"},
    {FindingKind::kSetup, "setup"},
    {FindingKind::kNetwork, "network"},
    {FindingKind::kDevice, "device"},
    {FindingKind::kStorage, "storage"},
    {FindingKind::kLoss, "loss"},
    {FindingKind::kSlowLink, "slow_link"},
    {FindingKind::kStepTime, "step_time"},
    {FindingKind::kLateData, "late_data"}};

/// Where a finding was seen.
struct Place {
  std::string file;
  std::int64_t line = 0;  ///< Line of a log or number of an entry, from 1; 0: of the whole file.
  std::string call;       ///< "call 7 of group 0 (default_pg)"; empty: no call.
};

/// One thing that went wrong.
struct Finding {
  FindingKind kind{};
  std::optional<double> lost_s;  ///< Seconds of a step, in the mean.
  /// Bytes that were asked for and that the device did not have.
  std::optional<double> lost_bytes;
  std::vector<std::int64_t> ranks;  ///< Ranks where it happened, sorted; empty: unknown.
  Place where;
  std::string what;                   ///< Description of the fault, in one sentence.
  std::vector<std::string> evidence;  ///< Lines of the files that show it, each with its place.
  std::vector<std::string> causes;    ///< Usual causes, the likeliest first.
  std::vector<std::string> changes;   ///< Changes to make, in words of the framework.
};

}  // namespace stepwright::diagnose
