#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright::diagnose {

/// Kinds of faults that a diagnosis finds, in the order of the JSON schema.
enum class DiagnosedFaultKind : std::uint8_t {
  /// Ranks of a group make different calls: another operation, size or number of calls.
  kMismatch,
  kMissingRank,  ///< A rank died, or never made a call in which its group waits.
  kOrder,  ///< Ranks use several groups in different orders, and so wait for each other forever.
  /// A rank makes no call while others wait for it, or a call that all ranks made never ends.
  kStall,
  kOutOfMemory,  ///< A device or a host ran out of memory.
  kCheckpoint,   ///< Slow steps recur at a constant interval, as checkpoints and evaluations do.
  kDrift,        ///< Steps become slower during the run.
  /// Ranks, devices or memory of the job did not match its configuration when it started.
  kSetup,
  kNetwork,  ///< A transfer between nodes failed.
  kDevice,   ///< A GPU, its driver or a kernel failed.
  kStorage,  ///< A file could not be read or written.
  kLoss,     ///< The loss or the gradient norm is not a number, or jumps.
  /// Messages use a slower path than the machine offers, such as sockets instead of InfiniBand.
  kSlowLink,
  kStepTime,  ///< Steps take longer than the plan predicts.
  kLateData,  ///< Steps wait for their input data.
};
inline constexpr Named<DiagnosedFaultKind> kFindingKindNames[] = {
    {DiagnosedFaultKind::kMismatch, "hang.mismatch"},
    {DiagnosedFaultKind::kMissingRank, "hang.missing_rank"},
    {DiagnosedFaultKind::kOrder, "hang.order"},
    {DiagnosedFaultKind::kStall, "hang.stall"},
    {DiagnosedFaultKind::kOutOfMemory, "oom"},
    {DiagnosedFaultKind::kCheckpoint, "checkpoint"},
    {DiagnosedFaultKind::kDrift, "drift"},
    {DiagnosedFaultKind::kSetup, "setup"},
    {DiagnosedFaultKind::kNetwork, "network"},
    {DiagnosedFaultKind::kDevice, "device"},
    {DiagnosedFaultKind::kStorage, "storage"},
    {DiagnosedFaultKind::kLoss, "loss"},
    {DiagnosedFaultKind::kSlowLink, "slow_link"},
    {DiagnosedFaultKind::kStepTime, "step_time"},
    {DiagnosedFaultKind::kLateData, "late_data"}};

/// Where a fault was seen: file, line and communication call.
struct FaultPlace {
  std::string file;
  /// Line of a log, or index of an entry in a dump, from 1, where the fault was seen; 0: the whole
  /// file.
  std::int64_t line = 0;
  /// Communication call, in words: "call 7 of group 0 (default_pg)"; empty: no call.
  std::string call;
};

/// One fault that was found in a job, with its evidence, usual causes and remedies.
struct FaultFinding {
  DiagnosedFaultKind kind{};
  /// Seconds that each step loses on average because of the fault; nullopt: unknown.
  std::optional<double> lost_s;
  /// Bytes that the program requested when the device had too little memory; nullopt: unknown.
  std::optional<double> lost_bytes;
  std::vector<std::int64_t> ranks;  ///< Ranks with the fault, sorted; empty: unknown.
  FaultPlace where;
  std::string what;  ///< Description of the fault, in one sentence, for people.
  /// Lines of text that prove the fault, each with file and line number.
  std::vector<std::string> evidence;
  std::vector<std::string> causes;   ///< Usual causes of the fault, likeliest first.
  std::vector<std::string> changes;  ///< Changes that help, in the option names of the framework.
};

}  // namespace stepwright::diagnose
