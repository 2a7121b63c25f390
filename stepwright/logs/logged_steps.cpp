#include "stepwright/logs/logged_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "stepwright/core/format.h"
#include "stepwright/logs/steps.h"

namespace stepwright::logs {
namespace {

/// A logged call in terms of the plan.
struct ResolvedCall {
  GroupCallKind kind;
  std::int64_t payload_bytes = 0;
  std::int32_t token = 0;  ///< Number that is equal for calls that can repeat each other.
};

/// True if a call belongs to the setup of a job and never to a step of a plan.
bool is_of_setup(LoggedOperation operation) {
  switch (operation) {
    case LoggedOperation::kBroadcast:
    case LoggedOperation::kReduce:
    case LoggedOperation::kGather:
    case LoggedOperation::kScatter:
    case LoggedOperation::kBarrier: return true;
    default: return false;
  }
}

class CallResolver {
 public:
  CallResolver(const CommunicationLog& log, const PlannedStepCalls& planned)
      : log_(log), planned_(planned), of_kind_(log.records.kinds(), kNone) {}

  /// Returns the index in `calls` of a record's meaning.
  std::uint32_t of(std::size_t record) {
    std::uint32_t& number = of_kind_[log_.records.call_kind_number(record)];
    if (number == kNone) {
      const ResolvedCall call = resolved(log_.records[record]);
      const auto next = static_cast<std::uint32_t>(calls_.size());
      number = numbers_.try_emplace({call.kind, call.payload_bytes}, next).first->second;
      if (number == next) {
        calls_.push_back(call);
        calls_.back().token =
            tokens_
                .try_emplace({call.kind, is_routed(call.kind) ? 0 : call.payload_bytes},
                             static_cast<std::int32_t>(tokens_.size()))
                .first->second;
      }
    }
    return number;
  }
  [[nodiscard]] const std::vector<ResolvedCall>& calls() const { return calls_; }

 private:
  [[nodiscard]] bool is_routed(const GroupCallKind& kind) const {
    const auto sizes = planned_.calls.find(kind);
    return sizes != planned_.calls.end() &&
           std::ranges::any_of(sizes->second, [](const auto& size) { return size.second.routed; });
  }

  [[nodiscard]] ResolvedCall resolved(const LoggedCall& record) const {
    ResolvedCall call{.kind = {.operation = record.operation},
                      .payload_bytes = record.payload_bytes};
    if (is_point_to_point(record.operation)) return call;
    if (record.communicator >= 0) {
      const LogCommunicator& group =
          log_.communicators[static_cast<std::size_t>(record.communicator)];
      call.kind.members = group.ranks;
      call.kind.size = group.size;
      std::ranges::sort(call.kind.members);
    }
    if (call.kind.members.empty()) choose_group(record, call);
    if (log_.sources[static_cast<std::size_t>(record.source)].scatters_as_reductions) {
      choose_scatter(call);
    }
    return call;
  }

  /// Chooses the planned group of a call whose group is not logged: one in which the rank makes
  /// exactly this call, else the first in which it makes such calls.
  void choose_group(const LoggedCall& record, ResolvedCall& call) const {
    const GroupCallKind* first = nullptr;
    for (const auto& [kind, sizes] : planned_.calls) {
      if (kind.operation != call.kind.operation) continue;
      if (call.kind.size > 0 && kind.size != call.kind.size) continue;
      if (first == nullptr) first = &kind;
      if (!sizes.contains(payload_in(record, kind))) continue;
      first = &kind;
      break;
    }
    if (first != nullptr) call.kind = *first;
    call.payload_bytes = payload_in(record, call.kind);
  }

  static std::int64_t payload_in(const LoggedCall& record, const GroupCallKind& kind) {
    if (record.payload_bytes != kUnknown) return record.payload_bytes;
    if (record.logged_bytes == kUnknown) return 0;
    return record.logged_bytes * std::max<std::int64_t>(kind.size, 1);
  }

  /// Changes an all-reduce to a reduce-scatter, if the log writes reduce-scatters that way and the
  /// plan has one.
  void choose_scatter(ResolvedCall& call) const {
    if (call.kind.operation != LoggedOperation::kAllReduce) return;
    GroupCallKind scatter = call.kind;
    scatter.operation = LoggedOperation::kReduceScatter;
    if (planned_.count(call.kind, call.payload_bytes) > 0) return;
    const bool norm =
        call.payload_bytes <= kMaxTensorNormBytes && planned_.is_scalar_sum(call.kind);
    if (norm && planned_.count(scatter, call.payload_bytes) == 0) return;
    if (planned_.calls.contains(scatter)) call.kind = scatter;
  }

  const CommunicationLog& log_;
  const PlannedStepCalls& planned_;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> of_kind_;  ///< Indices into `calls`, by kind of record.
  std::vector<ResolvedCall> calls_;
  std::map<std::pair<GroupCallKind, std::int64_t>, std::uint32_t> numbers_;
  std::map<std::pair<GroupCallKind, std::int64_t>, std::int32_t> tokens_;
};

/// A possible interpretation: part of a rank's calls as a number of steps.
struct StepGuess {
  std::size_t first = 0;
  std::size_t end = 0;
  std::int64_t steps = 1;
  std::string found;
  /// Approximate number of calls of a step that are only planned or only logged.
  double differing = 0;
};

class StepFinder {
 public:
  StepFinder(const CommunicationLog& log, std::span<const std::size_t> records,
             const PlannedStepCalls& planned)
      : log_(log), records_(records), planned_(planned), resolver_(log, planned) {
    calls_.reserve(records.size());
    for (const std::size_t i : records) calls_.push_back(resolver_.of(i));
  }

  StepGuess find(std::int64_t micro_batches) {
    std::size_t first = 0;
    std::size_t end = calls_.size();
    while (first < end && is_of_setup(call(first).kind.operation)) ++first;
    while (end > first && is_of_setup(call(end - 1).kind.operation)) --end;
    if (const StepGuess marked = marked_steps(end); marked.steps > 0) return marked;
    StepGuess best{
        .first = first, .end = end, .steps = 1, .found = "taken to be one, of all calls"};
    judge(best);
    const std::int64_t planned = std::max<std::int64_t>(planned_.count(), 1);
    const auto size = static_cast<std::int64_t>(end - first);
    consider(best, {first, end,
                    std::max<std::int64_t>(
                        1, std::llround(static_cast<double>(size) / static_cast<double>(planned))),
                    "as many as the planned calls go into the log"});
    std::vector<std::int32_t> tokens;
    tokens.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) tokens.push_back(call(i).token);
    const CallRepetition repetition = find_call_repetition(tokens);
    if (repetition.repeats < 2) return best;
    const auto period = static_cast<std::int64_t>(repetition.period);
    for (const std::int64_t periods : std::set<std::int64_t>{
             1, micro_batches,
             std::llround(static_cast<double>(planned) / static_cast<double>(period))}) {
      if (periods < 1) continue;
      const auto steps = static_cast<std::int64_t>(repetition.repeats) / periods;
      if (steps < 1) continue;
      const std::size_t stop = first + repetition.end();
      const auto length = static_cast<std::size_t>(steps * periods * period);
      consider(best,
               {stop - length, stop, steps,
                fmt::format("runs of {} that repeat", count_with_noun(periods * period, "call"))});
    }
    return best;
  }

  /// Returns the meaning of the i-th call of the rank, and its index among the distinct ones.
  [[nodiscard]] const ResolvedCall& call(std::size_t i) const {
    return resolver_.calls()[calls_[i]];
  }
  [[nodiscard]] std::size_t number(std::size_t i) const { return calls_[i]; }
  [[nodiscard]] std::size_t distinct() const { return resolver_.calls().size(); }

 private:
  StepGuess marked_steps(std::size_t end) const {
    StepGuess guess{.steps = 0};
    if (records_.empty()) return guess;
    const LogFileReadResult& source =
        log_.sources[static_cast<std::size_t>(log_.records[records_.front()].source)];
    if (source.steps > 0) {
      return {
          .end = calls_.size(), .steps = source.steps, .found = "as many as the log says it holds"};
    }
    if (source.step_starts_s.empty()) return guess;
    while (guess.first < end &&
           log_.records[records_[guess.first]].enqueued_s < source.step_starts_s.front()) {
      ++guess.first;
    }
    guess.end = end;
    // When the last step ends, the profiler writes one more mark, with no calls after it.
    const double last = end > 0 ? log_.records[records_[end - 1]].enqueued_s : kNoTime;
    guess.steps = std::ranges::count_if(source.step_starts_s,
                                        [last](double start_s) { return start_s <= last; });
    guess.found = "those that the log marks";
    return guess;
  }

  void consider(StepGuess& best, StepGuess guess) const {
    judge(guess);
    const bool same = std::abs(guess.differing - best.differing) < 1e-9;
    if (same ? guess.steps > best.steps : guess.differing < best.differing) best = guess;
  }

  /// The difference between planned and logged calls of one kind in a step.
  struct Left {
    std::map<std::int64_t, double> calls;  ///< Planned minus logged number of calls, by payload.
    /// Planned minus logged bytes of data parallelism, whatever the bucket sizes.
    double data_bytes = 0;
    double bucket_bytes = 1;  ///< Mean bytes of the planned buckets.
  };

  /// Counts the calls of a step that are only planned or only logged; calls of data parallelism are
  /// compared by bytes.
  void judge(StepGuess& guess) const {
    std::map<const GroupCallKind*, Left> left;
    for (const auto& [kind, sizes] : planned_.calls) left[&kind] = planned_left(sizes);
    guess.differing = 0;
    const double part = 1.0 / static_cast<double>(guess.steps);
    std::vector<std::int64_t> counts(distinct());
    for (std::size_t i = guess.first; i < guess.end; ++i) {
      counts[calls_[i]] += log_.records[records_[i]].count;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      const ResolvedCall& call = resolver_.calls()[i];
      const double count = part * static_cast<double>(counts[i]);
      const auto kind = planned_.calls.find(call.kind);
      if (kind == planned_.calls.end()) {
        guess.differing += count;
        continue;
      }
      Left& of_kind = left[&kind->first];
      const std::int64_t payload = is_routed(kind->second) ? 0 : call.payload_bytes;
      if (of_kind.bucket_bytes > 1 && !of_kind.calls.contains(payload)) {
        of_kind.data_bytes -= count * static_cast<double>(payload);
      } else {
        of_kind.calls[payload] -= count;
      }
    }
    for (const auto& [kind, of_kind] : left) {
      for (const auto& [payload, calls] : of_kind.calls) guess.differing += std::abs(calls);
      guess.differing += std::abs(of_kind.data_bytes) / of_kind.bucket_bytes;
    }
  }

  static bool is_routed(const std::map<std::int64_t, PlannedCallTotals>& sizes) {
    return sizes.begin()->second.routed;
  }

  static Left planned_left(const std::map<std::int64_t, PlannedCallTotals>& sizes) {
    Left left;
    double buckets = 0;
    for (const auto& [payload, size] : sizes) {
      const auto count = static_cast<double>(size.count);
      if (size.scheme == step::ParallelismScheme::kData && !size.routed) {
        left.data_bytes += count * static_cast<double>(payload);
        buckets += count;
      } else {
        left.calls[is_routed(sizes) ? 0 : payload] += count;
      }
    }
    if (buckets > 0) left.bucket_bytes = std::max(2.0, left.data_bytes / buckets);
    return left;
  }

  const CommunicationLog& log_;
  std::span<const std::size_t> records_;
  const PlannedStepCalls& planned_;
  CallResolver resolver_;
  /// Indices into the resolver's `calls`, in the order of the rank's calls.
  std::vector<std::uint32_t> calls_;
};

}  // namespace

LoggedSteps cut_into_logged_steps(const CommunicationLog& log, std::span<const std::size_t> records,
                                  std::span<const double> transfers,
                                  const PlannedStepCalls& planned, std::int64_t micro_batches) {
  StepFinder finder(log, records, planned);
  const StepGuess guess = finder.find(micro_batches);
  LoggedSteps logged{.calls = {}, .steps = guess.steps, .found = guess.found};
  std::vector<LoggedCallTotals*> sizes(finder.distinct());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const LoggedCall record = log.records[records[i]];
    if (i < guess.first || i >= guess.end) {
      logged.outside += record.count;
      continue;
    }
    const ResolvedCall& call = finder.call(i);
    LoggedCallTotals*& known = sizes[finder.number(i)];
    if (known == nullptr) known = &logged.calls[call.kind][call.payload_bytes];
    LoggedCallTotals& size = *known;
    size.count += record.count;
    if (!(record.duration_s >= 0)) continue;
    const auto count = static_cast<double>(record.count);
    size.timed += record.count;
    size.seconds += count * record.duration_s;
    size.transfer_s += count * transfers[records[i]];
    if (record.exposed_s >= 0) size.exposed_s += count * record.exposed_s;
  }
  return logged;
}

}  // namespace stepwright::logs
