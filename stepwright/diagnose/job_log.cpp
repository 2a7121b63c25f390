#include "stepwright/diagnose/job_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "stepwright/diagnose/launcher_lines.h"
#include "stepwright/diagnose/line_origin.h"
#include "stepwright/diagnose/memory_place.h"
#include "stepwright/diagnose/traceback.h"
#include "stepwright/diagnose/watchdog.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/line_reader.h"

namespace stepwright::diagnose {
namespace {

/// The most steps of one log that are stored.
constexpr std::size_t kMostSteps = 1'000'000;

/// True if an exception says that communication failed, which is a consequence of another rank's
/// failure.
bool follows_from_others(std::string_view error) {
  constexpr std::array<std::string_view, 16> kFollowWords = {
      "Timed out waiting",
      "Connection closed by peer",
      "Connection reset by peer",
      "DistBackendError",
      "NCCL error",
      "NCCL communicator was aborted",
      "ncclRemoteError",
      "wait timeout",
      "Socket Timeout",
      "Broken pipe",
      "DistNetworkError",
      "DistStoreError",
      "ChildFailedError",
      "SignalException",
      "Application timeout caused pair closure",
      "matching collective"};
  return std::ranges::any_of(
      kFollowWords, [&](std::string_view word) { return line_contains_text(error, word); });
}

/// True if a line begins with the name of an exception: "torch.OutOfMemoryError: ...".
bool is_exception(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(": "));
  return name.size() < line.size() && (name.ends_with("Error") || name.ends_with("Exception")) &&
         name.find_first_of(" \t[(/") == std::string_view::npos;
}

class JobLogReader {
 public:
  JobLogReader(logs::FileByteReader& bytes, JobFailureEvidence& evidence,
               std::vector<OutOfMemoryReport>& events)
      : bytes_(bytes),
        evidence_(evidence),
        events_(events),
        file_rank_(rank_in_log_path(bytes.name())) {
    if (file_rank_ >= 0) ranks_.insert(file_rank_);
  }

  JobLogFacts read() {
    logs::LineReader lines(bytes_);
    std::string_view line;
    while (lines.read_next_line(line)) {
      line_ = lines.number();
      LogLineOrigin origin = strip_log_line_prefix(line);
      if (origin.rank < 0) origin.rank = file_rank_;
      if (origin.rank >= logs::kMaxJobRanks) origin.rank = logs::kUnknown;
      if (origin.rank >= 0) {
        local_ = local_ || origin.local;
        ranks_.insert(origin.rank);
      }
      take(origin);
    }
    name_time_outs();
    for (const std::int64_t rank : ranks_) evidence_.world = std::max(evidence_.world, rank + 1);
    evidence_.seen.insert(ranks_.begin(), ranks_.end());
    training_.file = bytes_.name();
    return {.ranks = {ranks_.begin(), ranks_.end()},
            .local_ranks = local_,
            .lines = lines.number(),
            .told = told_,
            .training = std::move(training_),
            .nccl = nccl_.facts(),
            .messages = std::move(messages_).take_timed_messages()};
  }

 private:
  void take(const LogLineOrigin& origin) {
    const std::string_view text = origin.text;
    nccl_.read_nccl_log_line(text, line_);
    messages_.read_message_log_line(text, line_);
    const std::int64_t rank = origin.rank >= 0 ? origin.rank : nccl_.rank_of_nccl_process(text);
    if (evidence_.clues.add(text, bytes_.name(), line_, rank)) told();
    if (take_traceback(origin)) return;
    take_host_work(text);
    if (auto out = read_watchdog_timeout(text)) return take_time_out(origin, std::move(*out));
    if (auto progress = read_rank_progress_from_watchdog_line(text))
      return take_progress(origin, std::move(*progress));
    if (auto ranks = read_ranks_blamed_by_pytorch(text); !ranks.empty())
      return say_absent(std::move(ranks), text);
    if (line_contains_text(text, "Detected mismatch between collectives"))
      return take_mismatch(origin);
    if (line_contains_text(text, "failed to pass monitoredBarrier")) return take_barrier(text);
    if (line_contains_text(text, "clients joined")) return take_join(text);
    if (line_contains_text(text, "Received data size doesn't match expected size"))
      return take_gloo_size(origin);
    if (auto launched = launcher_.read_launcher_log_line(text)) take_launched(*launched);
    if (line_contains_text(text, "Fatal Python error: "))
      return end(origin.rank, line_start_for_quoting(text_after(text, "Fatal Python error: ")), "");
    if (take_memory(origin, {})) return;
    if (is_exception(text)) take_unknown_rank(text, {});
    take_step(origin);
  }

  /// Stores a line about work of the host; the last one before the first time-out counts.
  void take_host_work(std::string_view text) {
    if (timed_out_) return;
    if (const auto work = parse_host_work_line(text)) {
      evidence_.work_before = {
          .work = *work, .file = bytes_.name(), .line = line_, .text = beginning(text)};
    }
  }

  /// Returns the beginning of a line, up to text that a progress bar wrote over it.
  static std::string beginning(std::string_view text) {
    return line_start_for_quoting(
        text.substr(0, std::min<std::size_t>(text.find_first_of("|\r"), 100)));
  }

  /// Stores a line about a step. Only the rank that printed the first such line counts.
  void take_step(const LogLineOrigin& origin) {
    take_loss(origin);
    take_data_time(origin);
    auto step = read_step_line(origin.text);
    if (!step) return;
    if (training_.steps.empty()) {
      training_.program = step->first;
      step_rank_ = origin.rank;
    }
    if (step->first != training_.program || origin.rank != step_rank_) return;
    step->second.line = line_;
    const bool repeated =
        !training_.steps.empty() && training_.steps.back().number == step->second.number;
    if (repeated) {
      training_.steps.back() = step->second;
    } else if (training_.steps.size() < kMostSteps) {
      training_.steps.push_back(step->second);
    }
  }

  /// Stores a loss. Only the rank that printed the first loss counts.
  void take_loss(const LogLineOrigin& origin) {
    auto loss = read_loss_line(origin.text);
    if (!loss || training_.losses.size() == kMostSteps) return;
    if (training_.losses.empty()) loss_rank_ = origin.rank;
    if (origin.rank != loss_rank_) return;
    loss->line = line_;
    training_.losses.push_back(*loss);
  }

  /// Stores the time that a step waited for its data. Only the rank that printed the first one
  /// counts.
  void take_data_time(const LogLineOrigin& origin) {
    auto time = parse_data_load_time(origin.text);
    if (!time || training_.data.size() == kMostSteps) return;
    if (training_.data.empty()) data_rank_ = origin.rank;
    if (origin.rank != data_rank_) return;
    time->line = line_;
    training_.data.push_back(*time);
  }

  void told() { ++told_; }

  void end(std::int64_t rank, std::string what, std::string frame) {
    told();
    if (rank < 0) return;
    evidence_.ends.try_emplace(rank, RankFailure{.file = bytes_.name(),
                                                 .line = line_,
                                                 .what = std::move(what),
                                                 .frame = std::move(frame)});
  }

  /// Stores an out-of-memory event of a device or host; true if the line reports one.
  bool take_memory(const LogLineOrigin& origin, const PythonTracebackReader& trace) {
    auto event = read_device_out_of_memory(origin.text);
    if (!event) event = read_host_out_of_memory(origin.text);
    if (!event) return false;
    event->file = bytes_.name();
    event->line = line_;
    event->rank = origin.rank;
    event->frame = trace.innermost_user_line();
    event->places = out_of_memory_reasons(trace.traceback_frames());
    told();
    const auto known = std::ranges::find_if(events_, [&](const OutOfMemoryReport& other) {
      return other.host == event->host && other.rank == event->rank;
    });
    if (known == events_.end()) {
      events_.push_back(std::move(*event));
    } else if (known->places.empty()) {
      known->places = std::move(event->places);
    }
    return true;
  }

  /// Reads the next line of a traceback; true if the line belongs to one.
  bool take_traceback(const LogLineOrigin& origin) {
    PythonTracebackReader& trace = tracebacks_[origin.rank];
    switch (trace.read_traceback_log_line(origin.text)) {
      case PythonTracebackReader::TracebackLineKind::kNone: return false;
      case PythonTracebackReader::TracebackLineKind::kInside: return true;
      case PythonTracebackReader::TracebackLineKind::kError: return take_exception(origin, trace);
    }
    return false;
  }

  /// Reads the line that ends a traceback; true if it is an exception.
  bool take_exception(const LogLineOrigin& origin, const PythonTracebackReader& trace) {
    const std::string_view text = origin.text;
    if (take_memory(origin, trace)) {
      end(origin.rank, line_start_for_quoting(text), trace.innermost_user_line());
      return true;
    }
    if (line_contains_text(text, "Received data size doesn't match expected size")) return false;
    told();
    if (origin.rank < 0) return take_unknown_rank(text, trace);
    if (follows_from_others(text)) {
      if (line_contains_text(text, "ChildFailedError") ||
          line_contains_text(text, "SignalException"))
        return true;
      evidence_.stuck.try_emplace(
          origin.rank, StuckRankLocation{.file = bytes_.name(),
                                         .line = line_,
                                         .function = trace.innermost_torch_distributed_function(),
                                         .frame = trace.innermost_user_line(),
                                         .error = line_start_for_quoting(text)});
      return !line_contains_text(text, "clients joined") && !line_contains_text(text, "WorkNCCL(");
    }
    end(origin.rank, line_start_for_quoting(text), trace.innermost_user_line());
    return !line_contains_text(text, "monitoredBarrier") &&
           !line_contains_text(text, "Detected mismatch");
  }

  /// Stores the first exception in a log whose lines name no ranks; true if the line was used and
  /// no other reader needs it.
  bool take_unknown_rank(std::string_view text, const PythonTracebackReader& trace) {
    const bool known =
        follows_from_others(text) || match_log_line_to_fault_pattern(text) != nullptr;
    if (!known) take_nameless(line_start_for_quoting(text), trace.innermost_user_line());
    return !known;
  }

  /// Stores the first end of a process whose rank is unknown.
  void take_nameless(std::string what, std::string frame) {
    if (what.empty() || evidence_.nameless_end) return;
    evidence_.nameless_end = RankFailure{
        .file = bytes_.name(), .line = line_, .what = std::move(what), .frame = std::move(frame)};
  }

  void take_time_out(const LogLineOrigin& origin, WatchdogTimeout out) {
    told();
    timed_out_ = true;
    if (origin.rank >= 0) out.rank = origin.rank;
    if (out.rank >= logs::kMaxJobRanks) return;
    out.call.place = line_;
    if (out.rank < 0 || out.call.sequence < 0) {
      if (!evidence_.unplaced && !out.call.operation.empty()) {
        evidence_.unplaced = {.file = bytes_.name(), .line = line_, .call = std::move(out.call)};
      }
      return;
    }
    ranks_.insert(out.rank);
    const bool known = std::ranges::any_of(time_outs_, [&](const WatchdogTimeout& other) {
      return other.rank == out.rank && other.call.sequence == out.call.sequence &&
             other.call.operation == out.call.operation;
    });
    if (!known) time_outs_.push_back(std::move(out));
  }

  void take_progress(const LogLineOrigin& origin, RankCallProgress progress) {
    timed_out_ = true;
    const std::int64_t rank = origin.rank >= 0 ? origin.rank : progress.rank;
    if (rank < 0 || rank >= logs::kMaxJobRanks) return;
    ranks_.insert(rank);
    if (progress.at >= 0) groups_.try_emplace({rank, progress.at}, std::move(progress.group));
  }

  /// Adds calls that timed out as calls that did not end.
  void name_time_outs() {
    for (WatchdogTimeout& out : time_outs_) {
      const auto named = groups_.find({out.rank, out.call.sequence});
      out.call.group = evidence_.find_or_add_process_group(
          named != groups_.end() ? named->second : DiagnosedProcessGroup{.name = "0"});
      RankCallHistory& trail = evidence_.trails[out.rank];
      if (trail.file.empty()) {
        trail.rank = out.rank;
        trail.file = bytes_.name();
      } else if (trail.file != bytes_.name()) {
        continue;  // a flight recorder's dump of this rank has more details
      }
      trail.calls.push_back(std::move(out.call));
    }
    for (auto& [rank, trail] : evidence_.trails) {
      if (trail.file == bytes_.name()) {
        std::ranges::stable_sort(trail.calls, {}, &RankCommunicationCall::sequence);
      }
    }
  }

  void say_mismatch(std::vector<std::int64_t> ranks, std::string_view text) {
    told();
    std::erase_if(ranks, [](std::int64_t rank) { return rank < 0; });
    evidence_.mismatches.push_back({.file = bytes_.name(),
                                    .line = line_,
                                    .ranks = std::move(ranks),
                                    .text = line_start_for_quoting(text)});
  }

  /// Reads a mismatch reported under TORCH_DISTRIBUTED_DEBUG=DETAIL: "Detected mismatch between
  /// collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=7,
  /// ...), but Rank 2 is running ...".
  void take_mismatch(const LogLineOrigin& origin) {
    const std::string_view text =
        text_after(origin.text, "Detected mismatch between collectives on ranks.");
    say_mismatch({whole_number_at_text_start(text_after(text, "but Rank "))}, text);
  }

  void take_gloo_size(const LogLineOrigin& origin) {
    say_mismatch({origin.rank},
                 origin.text.substr(std::min(origin.text.size(), origin.text.find("op.preamble"))));
  }

  void say_absent(std::vector<std::int64_t> ranks, std::string_view text) {
    told();
    evidence_.absences.push_back({.file = bytes_.name(),
                                  .line = line_,
                                  .ranks = std::move(ranks),
                                  .text = line_start_for_quoting(text)});
  }

  /// Reads "[Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 10000 ms".
  void take_barrier(std::string_view text) {
    std::string_view list = text.substr(0, text.find(" failed to pass monitoredBarrier"));
    list.remove_prefix(std::min(list.size(), list.find_last_not_of("0123456789, ") + 1));
    say_absent(numbers_in_list(list), text);
  }

  /// Reads "Timed out after 61 seconds waiting for clients. 3/4 clients joined."
  void take_join(std::string_view text) {
    const std::string_view counts = text_after(text, "waiting for clients. ");
    const std::int64_t joined = whole_number_at_text_start(counts);
    const std::int64_t all = whole_number_at_text_start(text_after(counts, "/"));
    if (joined < 0 || all <= joined) return;
    evidence_.world = std::max(evidence_.world, std::min(all, logs::kMaxJobRanks));
    say_absent({}, text);
  }

  void take_launched(const LauncherReportedEnd& launched) {
    const std::int64_t rank = launched.rank;
    if (rank < 0) return take_nameless(launched.what, "");
    if (rank >= logs::kMaxJobRanks) return;
    ranks_.insert(rank);
    local_ = local_ || launched.local;
    if (launched.unresponsive) {
      told();
      evidence_.unresponsive.try_emplace(rank, fmt::format("{}:{}", bytes_.name(), line_));
    } else if (!launched.what.empty()) {
      end(rank, launched.what, "");
    }
  }

  logs::FileByteReader& bytes_;
  JobFailureEvidence& evidence_;
  std::vector<OutOfMemoryReport>& events_;
  std::int64_t file_rank_;
  std::int64_t line_ = 0;
  std::int64_t told_ = 0;
  bool local_ = false;
  bool timed_out_ = false;  ///< True after the first time-out.
  LauncherRankEndParser launcher_;
  NcclDebugLogReader nccl_;
  MessageTimeLogReader messages_;
  std::set<std::int64_t> ranks_;
  std::map<std::int64_t, PythonTracebackReader> tracebacks_;
  std::vector<WatchdogTimeout> time_outs_;
  TrainingLog training_;
  std::int64_t step_rank_ = logs::kUnknown;  ///< Rank whose steps are stored.
  std::int64_t loss_rank_ = logs::kUnknown;  ///< Rank whose losses are stored.
  std::int64_t data_rank_ = logs::kUnknown;  ///< Rank whose data times are stored.
  std::map<std::pair<std::int64_t, std::int64_t>, DiagnosedProcessGroup> groups_;
};

}  // namespace

JobLogFacts read_job_log(logs::FileByteReader& bytes, JobFailureEvidence& evidence,
                         std::vector<OutOfMemoryReport>& out_of_memory) {
  return JobLogReader(bytes, evidence, out_of_memory).read();
}

}  // namespace stepwright::diagnose
