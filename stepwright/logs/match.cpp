#include "stepwright/logs/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "stepwright/core/format.h"
#include "stepwright/logs/logged_steps.h"
#include "stepwright/logs/planned_step.h"
#include "stepwright/logs/transfer_times.h"
#include "stepwright/logs/verdict.h"

namespace stepwright::logs {
namespace {

// FSDP2 pads each parameter's first dimension to a multiple of the ranks; other frameworks pad each
// bucket.
constexpr double kMostPadding = 0.02;
constexpr std::int64_t kWidestElement = 8;

using RowKey =
    std::tuple<step::ParallelismScheme, LoggedOperation, std::string, std::int64_t, std::int64_t>;

/// Returns by how many bytes padding for so many ranks may enlarge a message.
std::int64_t slack_of(std::int64_t payload_bytes, std::int64_t ranks) {
  return std::max((ranks - 1) * kWidestElement,
                  static_cast<std::int64_t>(kMostPadding * static_cast<double>(payload_bytes)));
}

/// The calls of one kind of one rank, planned over all steps and logged.
class KindMatch {
 public:
  KindMatch(const GroupCallKind& kind, const PlannedStepCalls& planned, const LoggedSteps& logged)
      : kind_(kind) {
    if (const auto sizes = planned.calls.find(kind); sizes != planned.calls.end()) {
      for (const auto& [payload, size] : sizes->second) {
        Sizes& row = sizes_[payload];
        row.scheme = size.scheme;
        row.routed = size.routed;
        row.beside = size.beside;
        row.report = size.report;
        row.predicted = row.predicted_left = size.count * logged.steps;
      }
    }
    if (const auto sizes = logged.calls.find(kind); sizes != logged.calls.end()) {
      for (const auto& [payload, size] : sizes->second) {
        Sizes& row = sizes_[payload];
        row.logged = size;
        row.logged_left = size.count;
      }
    }
    give_schemes(planned);
    match_equal();
    match_routed();
    match_padded();
    match_scalars();
  }

  /// Matches messages of data parallelism by their sum of bytes, because buckets may have any size.
  void match_buckets(LogPlanComparison& result) {
    std::int64_t planned_bytes = 0, logged_bytes = 0, planned_calls = 0, logged_calls = 0;
    for (const auto& [payload, row] : sizes_) {
      if (row.scheme != step::ParallelismScheme::kData) continue;
      planned_bytes += payload * row.predicted_left;
      logged_bytes += payload * row.logged_left;
      planned_calls += row.predicted_left;
      logged_calls += row.logged_left;
    }
    if (planned_bytes == 0 || logged_bytes < planned_bytes ||
        logged_bytes - planned_bytes > slack_of(planned_bytes, kind_.size)) {
      return;
    }
    for (auto& [payload, row] : sizes_) {
      if (row.scheme == step::ParallelismScheme::kData) row.predicted_left = row.logged_left = 0;
    }
    add_remark(result, fmt::format("{} of data parallelism: the same bytes in {} instead of {}, as "
                                   "gradient buckets are of another size.",
                                   name_of(kLogOperationNames, kind_.operation),
                                   count_with_noun(logged_calls, "call"), planned_calls));
  }

  /// Leaves out broadcasts that do not occur in every step: they are not buffers. After its first
  /// step, DDP broadcasts the order and the sizes of its buckets.
  void leave_out_set_up(std::int64_t steps, LogPlanComparison& result) {
    if (kind_.operation != LoggedOperation::kBroadcast) return;
    std::int64_t calls = 0;
    for (const auto& [payload, row] : sizes_) calls += row.logged_left;
    if (calls == 0 || calls >= steps) return;
    for (const auto& [payload, row] : sizes_) {
      add_remark(result, fmt::format("A broadcast of {}, {} in {} of a rank, is not compared: DDP "
                                     "broadcasts the order of its buckets after the first step.",
                                     format_bytes(static_cast<double>(payload)),
                                     count_with_noun(row.logged_left, "call"),
                                     count_with_noun(steps, "step")));
    }
    result.outside += calls;
    sizes_.clear();
  }

  /// Leaves out reports of the loss to all ranks, which frameworks need not send.
  void leave_out_reports(LogPlanComparison& result) {
    for (auto& [payload, row] : sizes_) {
      if (!row.report || row.predicted_left == 0) continue;
      row.predicted -= row.predicted_left;
      row.predicted_left = 0;
      add_remark(result,
                 "The plan sums the loss over ranks, the run does not; this call is not compared.");
    }
  }

  void add_to(std::map<RowKey, PlannedAndLoggedCalls>& rows, const PlannedStepCalls& planned,
              LogPlanComparison& result) const {
    for (const auto& [payload, row] : sizes_) {
      const std::string group = group_name(planned);
      PlannedAndLoggedCalls& sum = rows[{row.scheme, kind_.operation, group, kind_.size, payload}];
      sum.scheme = row.scheme;
      sum.operation = kind_.operation;
      sum.group = group;
      sum.group_size = kind_.size;
      sum.payload_bytes = payload;
      sum.beside = sum.beside || row.beside;
      sum.predicted += row.predicted;
      sum.predicted_only += row.predicted_left;
      sum.logged += row.logged.count;
      sum.logged_only += row.logged_left;
      sum.timed += row.logged.timed;
      sum.seconds += row.logged.seconds;
      sum.transfer_s += row.logged.transfer_s;
      sum.exposed_s += row.logged.exposed_s;
      result.matched += row.logged.count - row.logged_left;
      result.predicted_only += row.predicted_left;
      result.logged_only += row.logged_left;
      result.byte_difference += payload * (row.logged.count - row.predicted);
    }
  }

  static void add_remark(LogPlanComparison& result, std::string text) {
    if (std::ranges::find(result.remarks, text) == result.remarks.end()) {
      result.remarks.push_back(std::move(text));
    }
  }

 private:
  struct Sizes {
    step::ParallelismScheme scheme = step::ParallelismScheme::kNone;
    bool routed = false;
    bool beside = false;
    bool report = false;
    std::int64_t predicted = 0;
    std::int64_t predicted_left = 0;
    LoggedCallTotals logged;
    std::int64_t logged_left = 0;
  };

  /// Gives a kind of parallelism to logged calls that the plan lacks: that of the planned messages
  /// in their group.
  void give_schemes(const PlannedStepCalls& planned) {
    step::ParallelismScheme scheme = step::ParallelismScheme::kNone;
    if (is_point_to_point(kind_.operation)) scheme = step::ParallelismScheme::kPipeline;
    if (const auto group = planned.groups.find(kind_.members); group != planned.groups.end()) {
      scheme = group->second.scheme;
    }
    bool beside = false;
    for (const auto& [payload, row] : sizes_) {
      if (row.predicted == 0 || row.scheme == step::ParallelismScheme::kControl) continue;
      scheme = row.scheme;
      beside = beside || row.beside;
    }
    for (auto& [payload, row] : sizes_) {
      if (row.predicted > 0) continue;
      row.scheme = scheme;
      row.beside = beside;
    }
  }

  void match_equal() {
    for (auto& [payload, row] : sizes_) {
      const std::int64_t both = std::min(row.predicted_left, row.logged_left);
      row.predicted_left -= both;
      row.logged_left -= both;
    }
  }

  /// Matches calls whose payload depends on the data: any logged payload matches.
  void match_routed() {
    for (auto& [planned_payload, planned] : sizes_) {
      if (!planned.routed) continue;
      for (auto& [payload, row] : sizes_) match_pair(planned, row);
    }
  }

  void match_padded() {
    for (auto& [planned_payload, planned] : sizes_) {
      const std::int64_t most = planned_payload + slack_of(planned_payload, kind_.size);
      if (planned.scheme != step::ParallelismScheme::kData) continue;
      for (auto& [payload, row] : sizes_) {
        if (payload > planned_payload && payload <= most) match_pair(planned, row);
      }
    }
  }

  /// Matches norms, losses and counts: sums of one or two numbers of any width; for norms also one
  /// number for each tensor.
  void match_scalars() {
    match_small(kMaxScalarSumBytes);
    match_small(kMaxTensorNormBytes);
  }

  void match_small(std::int64_t most_bytes) {
    if (kind_.operation != LoggedOperation::kAllReduce) return;
    for (auto& [planned_payload, planned] : sizes_) {
      if (planned_payload > kMaxScalarSumBytes ||
          planned.scheme != step::ParallelismScheme::kControl)
        continue;
      for (auto& [payload, row] : sizes_) {
        if (payload > 0 && payload <= most_bytes) match_pair(planned, row);
      }
    }
  }

  static void match_pair(Sizes& planned, Sizes& row) {
    const std::int64_t both = std::min(planned.predicted_left, row.logged_left);
    planned.predicted_left -= both;
    row.logged_left -= both;
  }

  [[nodiscard]] std::string group_name(const PlannedStepCalls& planned) const {
    if (is_point_to_point(kind_.operation)) return "neighbours";
    if (const auto group = planned.groups.find(kind_.members); group != planned.groups.end()) {
      return group->second.name;
    }
    return kind_.members.empty() ? "unknown" : "of no scheme";
  }

  GroupCallKind kind_;
  std::map<std::int64_t, Sizes> sizes_;
};

class LogMatcher {
 public:
  LogMatcher(const step::StepProgram& program, const plan::RankGrid& grid,
             const CommunicationLog& log)
      : program_(program), grid_(grid), log_(log), transfers_(logged_transfer_seconds(log)) {}

  LogPlanComparison compare() {
    gather_ranks();
    if (!check_world()) return std::move(result_);
    for (const auto& [rank, records] : of_rank_) compare_rank(rank, records);
    for (const auto& [key, row] : rows_) result_.rows.push_back(row);
    result_.ranks = std::ssize(of_rank_);
    say_what_is_held();
    for (std::string& remark : exposed_message_notes(result_.rows)) {
      result_.remarks.push_back(std::move(remark));
    }
    for (std::string& difference : explain_call_differences(result_.rows)) {
      result_.differences.push_back(std::move(difference));
    }
    return std::move(result_);
  }

 private:
  /// Gathers the records of each rank: from one log if several describe the rank, and from the last
  /// run if there are several.
  void gather_ranks() {
    std::map<std::int64_t, std::set<std::int32_t>> sources;
    std::map<std::int64_t, std::int32_t> runs;
    const std::vector<EqualLoggedCalls> distinct_calls = log_.records.distinct_calls();
    for (const EqualLoggedCalls& calls : distinct_calls) {
      const std::int64_t rank = rank_of(calls.first);
      sources[rank].insert(calls.first.source);
      runs[rank] = std::max(runs[rank], calls.first.run);
    }
    // Null: calls of this kind are not compared.
    std::vector<std::vector<std::size_t>*> lists(log_.records.kinds());
    std::map<std::int64_t, std::int64_t> sizes;
    for (const EqualLoggedCalls& calls : distinct_calls) {
      const std::int64_t rank = rank_of(calls.first);
      if (calls.first.source == *sources[rank].begin() && calls.first.run == runs[rank]) {
        lists[calls.kind] = &of_rank_[rank];
        sizes[rank] += calls.records;
      } else {
        result_.outside += calls.calls;
      }
    }
    for (const auto& [rank, size] : sizes) of_rank_[rank].reserve(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < log_.records.size(); ++i) {
      if (auto* list = lists[log_.records.call_kind_number(i)]; list != nullptr) list->push_back(i);
    }
    for (const auto& [rank, run] : runs) {
      if (run == 0) continue;
      result_.differences.push_back(
          fmt::format("Rank {} was started {} times in these logs; only the last run is compared.",
                      rank, run + 1));
    }
    for (const auto& [rank, logs] : sources) name_double(rank, logs);
  }

  void name_double(std::int64_t rank, const std::set<std::int32_t>& logs) {
    if (logs.size() < 2) return;
    const LogFileReadResult& first = log_.sources[static_cast<std::size_t>(*logs.begin())];
    const LogFileReadResult& second = log_.sources[static_cast<std::size_t>(*logs.rbegin())];
    const std::string text =
        fmt::format("Rank {} is in logs {} and {}; only the first is compared.", rank,
                    *logs.begin() + 1, *logs.rbegin() + 1);
    if (first.format == second.format) {
      result_.differences.push_back(text +
                                    " The files may be of several runs, or of one rank twice.");
    } else {
      KindMatch::add_remark(result_, text);
    }
  }

  std::int64_t rank_of(const LoggedCall& record) {
    if (record.rank != kUnknown) return record.rank;
    KindMatch::add_remark(result_,
                          fmt::format("Log {} does not state its rank; it is compared with rank 0.",
                                      record.source + 1));
    return 0;
  }

  /// True if the log has as many ranks as the plan; otherwise reports that it has not.
  bool check_world() {
    std::int64_t world = 0;
    for (const LogFileReadResult& source : log_.sources) world = std::max(world, source.world);
    std::int64_t highest = -1;
    if (!of_rank_.empty()) highest = of_rank_.rbegin()->first;
    if ((world == 0 || world == program_.ranks) && highest < program_.ranks) return true;
    result_.logged_only = log_.calls();
    result_.differences.push_back(
        fmt::format("The logs are of {} ranks, the plan is of {}: they are of different jobs, and "
                    "nothing is compared.",
                    std::max(world, highest + 1), program_.ranks));
    return false;
  }

  void compare_rank(std::int64_t rank, const std::vector<std::size_t>& records) {
    PlannedStepCalls planned = planned_step(program_, grid_, rank);
    const LogFileReadResult& source =
        log_.sources[static_cast<std::size_t>(log_.records[records.front()].source)];
    if (source.lacks_messages && std::erase_if(planned.calls, [](const auto& kind) {
                                   return is_point_to_point(kind.first.operation);
                                 }) > 0) {
      KindMatch::add_remark(result_,
                            "This kind of log never holds sends and receives; they are left out.");
    }
    const LoggedSteps logged =
        cut_into_logged_steps(log_, records, transfers_, planned, program_.micro_batches);
    result_.steps = std::max(result_.steps, logged.steps);
    fewest_steps_ = std::min(fewest_steps_, logged.steps);
    result_.outside += logged.outside;
    KindMatch::add_remark(result_, fmt::format("Steps are {}.", logged.found));
    std::set<GroupCallKind> kinds;
    for (const auto& [kind, sizes] : planned.calls) kinds.insert(kind);
    for (const auto& [kind, sizes] : logged.calls) kinds.insert(kind);
    for (const GroupCallKind& kind : kinds) {
      KindMatch match(kind, planned, logged);
      match.match_buckets(result_);
      match.leave_out_reports(result_);
      match.leave_out_set_up(logged.steps, result_);
      match.add_to(rows_, planned, result_);
    }
  }

  /// Reports when steps of different ranks seem to run at different times. Clocks may differ, so
  /// this is a remark and no difference.
  void remark_on_clocks() {
    std::map<std::int64_t, std::pair<double, double>> spans;  // by rank
    for (const auto& [rank, records] : of_rank_) {
      for (const std::size_t i : records) {
        const double at_s = log_.records[i].enqueued_s;
        if (!(at_s == at_s)) continue;
        auto& [first_s, last_s] = spans.try_emplace(rank, at_s, at_s).first->second;
        first_s = std::min(first_s, at_s);
        last_s = std::max(last_s, at_s);
      }
    }
    const auto begin = [](const auto& span) { return span.second.first; };
    const auto end = [](const auto& span) { return span.second.second; };
    const auto last = std::ranges::max_element(spans, {}, begin);
    const auto first = std::ranges::min_element(spans, {}, end);
    if (spans.empty() || first->second.second >= last->second.first) return;
    KindMatch::add_remark(
        result_,
        fmt::format("The calls of rank {} end before those of rank {} begin: the logs are of "
                    "different runs, or the clocks differ.",
                    first->first, last->first));
  }

  void say_what_is_held() {
    if (of_rank_.empty()) {
      result_.differences.emplace_back("The logs hold no call, so that nothing is compared.");
    }
    if (log_.records.has_call_times()) remark_on_clocks();
    if (result_.ranks < program_.ranks) {
      result_.remarks.push_back(fmt::format(
          "The logs hold {} of {} ranks; only these are compared.", result_.ranks, program_.ranks));
    }
    if (fewest_steps_ < result_.steps) {
      result_.remarks.push_back(fmt::format(
          "The logs of some ranks hold {}, those of others {}; each is compared over its own.",
          count_with_noun(fewest_steps_, "step"), result_.steps));
    }
    if (result_.outside > 0) {
      result_.remarks.push_back(
          count_with_noun(result_.outside, "call") +
          " outside of whole steps (at the start, at the end, of an incomplete step) are not "
          "compared.");
    }
    if (log_.unexplained() > 0) {
      result_.differences.push_back(
          fmt::format("{} of the logs could not be understood, so calls may be missing.",
                      count_with_noun(log_.unexplained(), "line")));
    }
  }

  const step::StepProgram& program_;
  const plan::RankGrid& grid_;
  const CommunicationLog& log_;
  std::vector<double> transfers_;
  LogPlanComparison result_;
  std::int64_t fewest_steps_ = std::numeric_limits<std::int64_t>::max();
  std::map<std::int64_t, std::vector<std::size_t>> of_rank_;
  std::map<RowKey, PlannedAndLoggedCalls> rows_;
};

}  // namespace

LogPlanComparison compare_log_with_plan(const step::StepProgram& program,
                                        const plan::RankGrid& grid, const CommunicationLog& log) {
  return LogMatcher(program, grid, log).compare();
}

}  // namespace stepwright::logs
