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
  kMissingRank,  ///< A rank died, or never arrived at a call of its group.
  kOrder,        ///< Ranks use several groups in different orders and wait for each other.
  kStall,  ///< A rank is in no call while others wait, or a call that all ranks entered never ends.
  kOutOfMemory,  ///< A device or a host ran out of memory.
  kCheckpoint,   ///< Slow steps recur at a constant interval, as checkpoints and evaluations cause.
  kDrift,        ///< Steps get slower as the run goes on.
  kSetup,        ///< Ranks, devices and memory of the job did not match when it started.
  kNetwork,      ///< A transfer between nodes failed.
  kDevice,       ///< A device, its driver or a kernel failed.
  kStorage,      ///< A file could not be read or written.
  kLoss,         ///< A loss or a norm is not a number, or jumps.
  kSlowLink,     ///< Messages use a slower path than the machine has.
  kStepTime,     ///< Steps take longer than the plan predicts.
  kLateData,     ///< Steps wait for their input data.
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

/// File, line and call at which a finding was seen.
struct Place {
  std::string file;
  std::int64_t line = 0;  ///< Line of a log or index of an entry, from 1; 0: the whole file.
  std::string call;  ///< The communication call: "call 7 of group 0 (default_pg)"; empty: no call.
};

/// One fault of a job, with its evidence, causes and remedies.
struct Finding {
  FindingKind kind{};
  std::optional<double> lost_s;  ///< Seconds that each step loses, on average; nullopt: not known.
  /// Bytes that were requested when the device had too little memory; nullopt: not known.
  std::optional<double> lost_bytes;
  std::vector<std::int64_t> ranks;  ///< Ranks at which the fault occurred, sorted; empty: unknown.
  Place where;
  std::string what;  ///< Description of the fault in one sentence.
  /// Lines of the files that show the fault, each with its file and line number.
  std::vector<std::string> evidence;
  std::vector<std::string> causes;   ///< Usual causes, the likeliest first.
  std::vector<std::string> changes;  ///< Changes to make, in the framework's own option names.
};

}  // namespace stepwright::diagnose
