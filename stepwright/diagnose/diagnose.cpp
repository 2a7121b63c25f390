#include "stepwright/diagnose/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/core/file_kind.h"
#include "stepwright/core/format.h"
#include "stepwright/diagnose/clue.h"
#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/hang.h"
#include "stepwright/diagnose/job_log.h"
#include "stepwright/diagnose/out_of_memory.h"
#include "stepwright/diagnose/recorder.h"
#include "stepwright/logs/readers/format.h"
#include "stepwright/logs/readers/read_logs.h"

namespace stepwright::diagnose {
namespace {

/// True if logs of a format contain only messages with their times.
bool times_messages(logs::LogFormat format) {
  return format == logs::LogFormat::kDeepSpeedRaw || format == logs::LogFormat::kNcclProfiler ||
         format == logs::LogFormat::kNcclInspector;
}

/// Returns the format of a file that is not a job's log: one of the formats in `logs/`; nullopt:
/// text of any program.
std::optional<logs::LogFormat> known_format(logs::FileByteReader& bytes) {
  const std::string_view text = bytes.peek_first_bytes();
  if (text.starts_with('\x80')) return logs::LogFormat::kFlightRecorder;
  if (const std::string kind = non_text_file_kind(text, bytes.name()); !kind.empty()) {
    fail_input(fmt::format("{}: {}", bytes.name(), kind));
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) fail_input(fmt::format("{}: is empty", bytes.name()));
  // A Python dictionary, as print() writes it, is a line of a log.
  if (text.substr(first, 2) == "{'") return std::nullopt;
  if (text[first] != '{' && text.substr(first, 2) != "[{") return std::nullopt;
  return logs::recognise_log_format(bytes);
}

class Diagnoser {
 public:
  Diagnosis run(std::span<logs::FileByteReader> files) {
    for (logs::FileByteReader& bytes : files) {
      try {
        diagnosis_.files.push_back(read(bytes));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kInput) throw;
        unread_.emplace_back(error.what());
      }
    }
    if (diagnosis_.files.empty()) fail_unread();
    for (std::string& reason : unread_)
      diagnosis_.notes.push_back("Not read: " + std::move(reason));
    gather_findings();
    note_missing();
    diagnosis_.out_of_memory = std::move(out_of_memory_);
    return std::move(diagnosis_);
  }

 private:
  /// Orders findings so that causes come first: out of memory and clues, then ranks that ended,
  /// networks, other hangs, and last what is only slow.
  void gather_findings() {
    add_memory();
    add_all(evidence_.clues.findings(FaultLinePriority::kRoot));
    for (const FaultFinding& finding : diagnosis_.findings)
      explained_.insert(finding.ranks.begin(), finding.ranks.end());
    std::vector<FaultFinding> hangs = communication_hang_findings(evidence_);
    std::erase_if(hangs, [&](const FaultFinding& finding) { return follows(finding); });
    const auto later = std::ranges::stable_partition(hangs, [](const FaultFinding& finding) {
      return finding.kind == DiagnosedFaultKind::kMissingRank;
    });
    std::move(hangs.begin(), later.begin(), std::back_inserter(diagnosis_.findings));
    add_all(evidence_.clues.findings(FaultLinePriority::kNetwork));
    std::ranges::move(later, std::back_inserter(diagnosis_.findings));
    if (diagnosis_.findings.empty()) add_all(evidence_.clues.findings(FaultLinePriority::kFollows));
    add_all(std::move(slow_));
  }

  /// Adds devices and hosts that ran out of memory; if no log reports any, failed allocations in
  /// snapshots are used.
  void add_memory() {
    const auto on_device = [&] {
      return std::ranges::find(out_of_memory_, false, &OutOfMemoryReport::host);
    };
    if (on_device() == out_of_memory_.end())
      std::ranges::move(failed_allocations(diagnosis_.snapshots),
                        std::back_inserter(out_of_memory_));
    add_all(out_of_memory_findings(out_of_memory_));
    if (on_device() != out_of_memory_.end())
      add_snapshot_evidence(diagnosis_.snapshots, *on_device(), diagnosis_.findings.front());
  }

  void add_all(std::vector<FaultFinding> findings) {
    std::ranges::move(findings, std::back_inserter(diagnosis_.findings));
  }

  [[noreturn]] void fail_unread() const {
    std::string message = "no file could be read";
    for (const std::string& reason : unread_) message += "\n" + reason;
    throw Error(ErrorKind::kRuntime, std::move(message));
  }

  DiagnosedFile read(logs::FileByteReader& bytes) {
    if (is_memory_snapshot(bytes)) return read_snapshot(bytes);
    const auto format = known_format(bytes);
    if (!format) return read_log(bytes);
    if (*format == logs::LogFormat::kFlightRecorder) {
      const std::int64_t rank = read_flight_recorder_dump(bytes, evidence_);
      dumps_ = true;
      return {.path = bytes.name(),
              .what = "flight recorder, " +
                      count_with_noun(std::ssize(evidence_.trails.at(rank).calls), "call"),
              .ranks = {rank}};
    }
    const std::string_view word = name_of(logs::kLogFormatNames, *format);
    if (times_messages(*format)) {
      const std::int64_t calls =
          take_messages(bytes.name(), fastest_logged_message_times(logs::read_logs({&bytes, 1})));
      return {.path = bytes.name(),
              .what = fmt::format("{}, {} with times", word, count_with_noun(calls, "call"))};
    }
    diagnosis_.notes.push_back(
        fmt::format("{}: is a log of format {}, which contains what was sent and when, not why a "
                    "job ended. `stepwright characterize --log {}` reads it.",
                    bytes.name(), word, bytes.name()));
    return {.path = bytes.name(), .what = fmt::format("{} (not used here)", word)};
  }

  DiagnosedFile read_snapshot(logs::FileByteReader& bytes) {
    DiagnosedFile file{.path = bytes.name(), .what = "snapshot of memory"};
    for (SnapshotMemory& device : read_memory_snapshot(bytes)) {
      file.what += fmt::format(", device {} with {} and a peak of {}", device.device,
                               count_with_noun(device.events, "event"),
                               format_bytes(static_cast<double>(device.peak_bytes)));
      if (device.rank >= 0) file.ranks = {device.rank};
      diagnosis_.snapshots.push_back(std::move(device));
    }
    return file;
  }

  /// Stores the messages that a file timed; returns the number of their calls.
  std::int64_t take_messages(const std::string& file, std::vector<TimedMessage> messages) {
    std::int64_t calls = 0;
    for (const TimedMessage& message : messages) calls += message.calls;
    if (calls > 0) diagnosis_.messages.push_back({.file = file, .messages = std::move(messages)});
    return calls;
  }

  DiagnosedFile read_log(logs::FileByteReader& bytes) {
    JobLogFacts log = read_job_log(bytes, evidence_, out_of_memory_);
    if (log.local_ranks) {
      diagnosis_.notes.push_back(
          fmt::format("{}: lines name ranks of a node ([default3]:). They are assumed to be ranks "
                      "of the job, which is correct for one node.",
                      bytes.name()));
    }
    const SteadySteps steady = steady_steps(log.training);
    if (steady.steps > 0) {
      diagnosis_.measured.push_back(
          {.file = bytes.name(), .program = log.training.program, .steady = steady});
    }
    for (std::vector<FaultFinding> findings :
         {step_slowdown_findings(log.training),
          loss_anomaly_findings(log.training.losses, bytes.name()),
          slow_input_data_findings(log.training.data, bytes.name()),
          slow_link_findings(log.nccl, bytes.name())}) {
      std::ranges::move(findings, std::back_inserter(slow_));
    }
    const std::int64_t calls = take_messages(bytes.name(), std::move(log.messages));
    return {
        .path = bytes.name(),
        .what = log_text(log, steady) +
                (calls > 0 ? fmt::format(", {} with times", count_with_noun(calls, "call")) : ""),
        .ranks = log.ranks,
        .steps = std::ssize(log.training.steps)};
  }

  /// Describes a log: "log of a job, 812 lines, 3 of the end; 200 steps of Megatron-LM, 12.3 s in
  /// the median".
  static std::string log_text(const JobLogFacts& log, const SteadySteps& steady) {
    std::string text = fmt::format("log of a job, {}, {} of the end",
                                   count_with_noun(log.lines, "line"), log.told);
    if (steady.steps == 0) return text;
    text += fmt::format("; {} of {}", count_with_noun(steady.steps, "step"),
                        name_of(kTrainingProgramNames, log.training.program));
    if (steady.step_time_s > 0)
      text += fmt::format(", {} in the median", format_time(steady.step_time_s));
    if (steady.tokens_per_s > 0)
      text += fmt::format(", {:.0f} tokens/s of a device", steady.tokens_per_s);
    if (steady.slow_steps > 0) text += ", " + steady.slow_steps_text();
    if (steady.restarts > 0)
      text += fmt::format(", {}", count_with_noun(steady.restarts, "restart"));
    return text;
  }

  /// True if a hang is only a consequence of earlier findings: its missing ranks are already
  /// explained, or it is a stalled call without known ranks.
  [[nodiscard]] bool follows(const FaultFinding& finding) const {
    if (finding.ranks.empty()) {
      return !diagnosis_.findings.empty() && finding.kind == DiagnosedFaultKind::kStall;
    }
    return finding.kind == DiagnosedFaultKind::kMissingRank &&
           std::ranges::all_of(finding.ranks,
                               [&](std::int64_t rank) { return explained_.contains(rank); });
  }

  /// Adds notes that name the files which would tell more.
  void note_missing() {
    if (evidence_.world > std::ssize(evidence_.trails) && !evidence_.trails.empty() && dumps_) {
      diagnosis_.notes.push_back(fmt::format(
          "Calls of {} of {} ranks are known; dumps of the other ranks would show where they are.",
          evidence_.trails.size(), evidence_.world));
    }
    if (!diagnosis_.findings.empty()) return;
    diagnosis_.notes.push_back(
        dumps_ ? "All calls of the dumps ended, and no two ranks differ."
               : "No line shows that a rank hung, died or ran out of memory. Give the logs of all "
                 "ranks, and dumps of the flight recorder (TORCH_NCCL_DUMP_ON_TIMEOUT=1, "
                 "TORCH_FR_BUFFER_SIZE=2000).");
  }

  Diagnosis diagnosis_;
  JobFailureEvidence evidence_;
  std::vector<OutOfMemoryReport> out_of_memory_;
  std::vector<FaultFinding> slow_;  ///< Findings about slow training steps.
  std::vector<std::string> unread_;
  std::set<std::int64_t> explained_;  ///< Ranks named by findings from which other findings follow.
  bool dumps_ = false;
};

}  // namespace

Diagnosis diagnose_files(std::span<logs::FileByteReader> files) { return Diagnoser().run(files); }

}  // namespace stepwright::diagnose
