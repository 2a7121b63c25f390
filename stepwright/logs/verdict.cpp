#include "stepwright/logs/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "stepwright/core/format.h"
#include "stepwright/logs/planned_step.h"

namespace stepwright::logs {
namespace {

/// The unmatched calls of one operation in the groups of one scheme.
struct LeftOver {
  step::ParallelismScheme scheme{};
  LoggedOperation operation{};
  std::string group;
  std::int64_t group_size = 0;
  std::int64_t predicted = 0;  ///< Number of predicted calls.
  std::int64_t logged = 0;
  double predicted_bytes = 0;
  double logged_bytes = 0;
  double all_predicted_bytes = 0;  ///< Predicted bytes, including those that were matched.
  std::int64_t largest_bytes = 0;  ///< Payload of the largest unmatched call, in bytes.

  [[nodiscard]] bool more_logged() const { return logged > predicted; }
  [[nodiscard]] double apart() const { return std::abs(logged_bytes - predicted_bytes); }
};

std::vector<LeftOver> left_over(const std::vector<PlannedAndLoggedCalls>& rows) {
  std::map<std::tuple<step::ParallelismScheme, LoggedOperation, std::string, std::int64_t>,
           LeftOver>
      sums;
  for (const PlannedAndLoggedCalls& row : rows) {
    LeftOver& sum = sums[{row.scheme, row.operation, row.group, row.group_size}];
    sum.scheme = row.scheme;
    sum.operation = row.operation;
    sum.group = row.group;
    sum.group_size = row.group_size;
    const auto payload = static_cast<double>(row.payload_bytes);
    sum.predicted += row.predicted_only;
    sum.logged += row.logged_only;
    sum.predicted_bytes += payload * static_cast<double>(row.predicted_only);
    sum.logged_bytes += payload * static_cast<double>(row.logged_only);
    sum.all_predicted_bytes += payload * static_cast<double>(row.predicted);
    if (row.predicted_only + row.logged_only > 0) {
      sum.largest_bytes = std::max(sum.largest_bytes, row.payload_bytes);
    }
  }
  std::vector<LeftOver> list;
  for (const auto& [key, sum] : sums) {
    if (sum.predicted + sum.logged > 0) list.push_back(sum);
  }
  std::ranges::stable_sort(list, std::greater<>(), &LeftOver::apart);
  return list;
}

bool near(double a, double b) { return std::abs(a - b) <= 0.03 * std::max(a, b); }

/// True if a ratio of bytes is `times`, apart from padding; with other models the ratio is
/// arbitrary.
bool is_times(double ratio, double times) {
  return ratio >= 0.995 * times && ratio <= 1.02 * times;
}

bool is_gather(LoggedOperation operation) { return operation == LoggedOperation::kAllGather; }
bool is_reduction(LoggedOperation operation) {
  return operation == LoggedOperation::kAllReduce || operation == LoggedOperation::kReduceScatter;
}

/// True if another operation in the same group is unmatched on the opposite side.
bool replaced_by(const LeftOver& left, LoggedOperation other, const std::vector<LeftOver>& all) {
  return std::ranges::any_of(all, [&](const LeftOver& one) {
    return one.operation == other && one.group == left.group &&
           ((left.predicted > 0 && one.logged > 0) || (left.logged > 0 && one.predicted > 0));
  });
}

std::string data_reason(const LeftOver& left, const std::vector<LeftOver>& all) {
  const double ratio = left.predicted_bytes > 0 ? left.logged_bytes / left.predicted_bytes : 0;
  if (is_reduction(left.operation)) {
    const LoggedOperation other = left.operation == LoggedOperation::kAllReduce
                                      ? LoggedOperation::kReduceScatter
                                      : LoggedOperation::kAllReduce;
    if (replaced_by(left, other, all)) {
      return left.more_logged() == (left.operation == LoggedOperation::kAllReduce)
                 ? "gradients are reduced whole (all-reduce), the plan shards them (reduce-scatter)"
                 : "gradients are reduced to shards (reduce-scatter), the plan reduces them whole";
    }
    if (is_times(ratio, 2)) return "gradients are reduced in fp32, the plan says 16 bits";
    if (is_times(ratio, 0.5)) return "gradients are reduced in 16 bits, the plan says fp32";
    if (ratio > 1.5 && is_times(ratio, std::round(ratio))) {
      return "gradients are reduced after every micro-batch, the plan reduces them once";
    }
  }
  if (is_gather(left.operation)) {
    if (is_times(ratio, 2)) return "parameters are gathered in fp32, the plan says 16 bits";
    if (is_times(ratio, 0.5)) return "parameters are gathered in 16 bits, the plan says fp32";
    if (left.predicted == 0) {
      return "parameters are gathered again (re-gather), the plan gathers them fewer times";
    }
    if (left.logged == 0) {
      return "parameters are kept after the forward (no re-gather), the plan gathers them again";
    }
  }
  if (near(ratio, 1)) return "gradient buckets of another size, with other padding";
  return {};
}

std::string tensor_reason(const LeftOver& left, const std::vector<LeftOver>& all) {
  const bool reduction = left.operation == LoggedOperation::kAllReduce;
  const bool replaced = reduction ? replaced_by(left, LoggedOperation::kAllGather, all) ||
                                        replaced_by(left, LoggedOperation::kReduceScatter, all)
                                  : replaced_by(left, LoggedOperation::kAllReduce, all);
  if (replaced) {
    return reduction == left.more_logged()
               ? "sequence parallelism is off in the run, on in the plan"
               : "sequence parallelism is on in the run, off in the plan";
  }
  if (is_gather(left.operation) && left.predicted == 0) {
    return "inputs are gathered again for the weight gradient (re-gather), the plan keeps them "
           "(`tensor_input: keep`)";
  }
  if (is_gather(left.operation) && left.logged == 0) {
    return "inputs are kept, the plan gathers them again for the weight gradient (`tensor_input: "
           "regather`)";
  }
  return {};
}

std::string reason_of(const LeftOver& left, const std::vector<LeftOver>& all) {
  if (left.operation == LoggedOperation::kAllReduce && left.largest_bytes <= kMaxScalarSumBytes) {
    return left.logged > 0 ? "a norm, a loss or a count that the run sums and the plan does not"
                           : "a norm, a loss or a count that the plan sums and the run does not";
  }
  if (left.operation == LoggedOperation::kBroadcast) {
    return "buffers that DDP sends before each forward (broadcast_buffers), or other set-up";
  }
  if (left.group == "of no scheme")
    return "ranks that are no group of the plan, as with other parallel degrees";
  if (left.scheme == step::ParallelismScheme::kData) {
    if (std::string reason = data_reason(left, all); !reason.empty()) return reason;
  }
  if (left.scheme == step::ParallelismScheme::kTensor) {
    if (std::string reason = tensor_reason(left, all); !reason.empty()) return reason;
  }
  const double ratio = left.predicted_bytes > 0 ? left.logged_bytes / left.predicted_bytes : 0;
  if (left.predicted == left.logged && is_times(ratio, 2))
    return "elements are twice as wide, as fp32";
  if (left.predicted == left.logged && is_times(ratio, 0.5)) return "elements are half as wide";
  if (left.predicted == 0 || left.logged == 0) return {};
  return "other sizes, as of another model, batch or length";
}

/// Describes unmatched calls: "all_reduce of tensor parallelism among 2 ranks (group tensor)".
std::string subject_of(const LeftOver& left) {
  std::string scheme;
  if (left.scheme == step::ParallelismScheme::kControl) {
    scheme = " of norms, losses and counts";
  } else if (left.scheme != step::ParallelismScheme::kNone) {
    scheme = fmt::format(" of {} parallelism", name_of(step::kSchemeNames, left.scheme));
  }
  const std::string ranks =
      left.group_size > 0 ? fmt::format(" among {} ranks", left.group_size) : "";
  return fmt::format("{}{}{} (group {})", name_of(kLogOperationNames, left.operation), scheme,
                     ranks, left.group);
}

/// Says which side alone has the calls, and how many.
std::string apart_text(const LeftOver& left) {
  const std::string planned = fmt::format("{} ({})", count_with_noun(left.predicted, "call"),
                                          format_bytes(left.predicted_bytes));
  const std::string sent =
      fmt::format("{} ({})", count_with_noun(left.logged, "call"), format_bytes(left.logged_bytes));
  if (left.predicted == 0) return fmt::format("the run sends {} that the plan does not have", sent);
  if (left.logged == 0) return fmt::format("the plan has {} that the run does not send", planned);
  return fmt::format(
      "the plan has {} that the run does not send, and the run {} that the plan does "
      "not have",
      planned, sent);
}

/// Returns the key of a plan that lets such messages run without overlap.
std::string_view key_of_overlap(step::ParallelismScheme scheme, LoggedOperation operation) {
  switch (scheme) {
    case step::ParallelismScheme::kData:
      return operation == LoggedOperation::kAllGather ? "overlap.parameters=false"
                                                      : "overlap.gradients=false";
    case step::ParallelismScheme::kTensor: return "overlap.tensor_gradients=false";
    case step::ParallelismScheme::kContext: return "overlap.context=false";
    case step::ParallelismScheme::kExpert: return "overlap.expert=false";
    default: return "overlap.pipeline=false";
  }
}

}  // namespace

std::vector<std::string> explain_call_differences(const std::vector<PlannedAndLoggedCalls>& rows) {
  std::vector<std::string> lines;
  std::int64_t matched = 0;
  std::int64_t predicted = 0;
  for (const PlannedAndLoggedCalls& row : rows) {
    matched += row.logged - row.logged_only;
    predicted += row.predicted;
  }
  if (matched == 0 && predicted > 0) {
    lines.emplace_back(
        "No call of the logs is one that the plan sends: they are probably of another job.");
  }
  const std::vector<LeftOver> left = left_over(rows);
  for (const LeftOver& one : left) {
    const std::string reason = reason_of(one, left);
    lines.push_back(fmt::format("{}: {}.{}", subject_of(one), apart_text(one),
                                reason.empty() ? reason : fmt::format(" Likely: {}.", reason)));
  }
  return lines;
}

std::vector<std::string> exposed_message_notes(const std::vector<PlannedAndLoggedCalls>& rows) {
  constexpr double kExposed = 0.8;
  std::map<std::pair<step::ParallelismScheme, LoggedOperation>, std::pair<double, double>>
      seconds;  // all seconds, and exposed seconds
  for (const PlannedAndLoggedCalls& row : rows) {
    if (!row.beside || row.timed == 0) continue;
    auto& [all_s, exposed_s] = seconds[{row.scheme, row.operation}];
    all_s += row.seconds;
    exposed_s += row.exposed_s;
  }
  std::vector<std::string> lines;
  for (const auto& [kind, sums] : seconds) {
    const auto& [all_s, exposed_s] = sums;
    if (exposed_s <= kExposed * all_s) continue;
    lines.push_back(fmt::format(
        "{} of {} parallelism: the plan lets them run beside computation, and in the run {} of {} "
        "are exposed. Either they do not overlap, or ranks wait for each other; {} in the plan "
        "says "
        "that they do not overlap.",
        name_of(kLogOperationNames, kind.second), name_of(step::kSchemeNames, kind.first),
        format_time(exposed_s), format_time(all_s), key_of_overlap(kind.first, kind.second)));
  }
  return lines;
}

}  // namespace stepwright::logs
