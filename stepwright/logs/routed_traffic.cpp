#include "stepwright/logs/routed_traffic.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "stepwright/logs/steps.h"

namespace stepwright::logs {
namespace {

/// The position of an exchange: the n-th of a step in its communicator.
struct Place {
  std::int32_t communicator = -1;
  std::int64_t number = 0;
  auto operator<=>(const Place&) const = default;
};

/// A message of an exchange: its sender, and the receiving member of the group.
struct Message {
  std::int64_t rank = 0;
  Place place;
  std::size_t member = 0;
  auto operator<=>(const Message&) const = default;
};

using Matrix = std::map<Message, double>;

/// The sums of |a - b| and of (a + b), whose ratio is the difference of two matrices.
struct Distance {
  double apart = 0;
  double together = 0;
  void add(double a, double b) {
    apart += std::fabs(a - b);
    together += a + b;
  }
  [[nodiscard]] double share() const { return together > 0 ? apart / together : 0; }
};

void add_distance(const Matrix& a, const Matrix& b, Distance& distance) {
  for (const auto& [message, bytes] : a) {
    const auto other = b.find(message);
    distance.add(bytes, other == b.end() ? 0 : other->second);
  }
  for (const auto& [message, bytes] : b) {
    if (!a.contains(message)) distance.add(0, bytes);
  }
}

/// Adds up the exchanges of a step, so that there is one message for each sender and member.
Matrix whole_step(const Matrix& exchanges) {
  Matrix sum;
  for (const auto& [message, bytes] : exchanges) {
    Message of_step = message;
    of_step.place.number = 0;
    sum[of_step] += bytes;
  }
  return sum;
}

bool is_even(const std::vector<std::int64_t>& parts) {
  return std::ranges::adjacent_find(parts, std::not_equal_to<>()) == parts.end();
}

/// True if all-to-alls in this format always have equal parts: NCCL has no others, and uneven ones
/// appear as sends.
bool is_even_alone(LogFormat format) {
  return format == LogFormat::kNcclText || format == LogFormat::kNcclProfiler ||
         format == LogFormat::kNcclInspector || format == LogFormat::kNcclTests;
}

class RoutedTrafficReader {
 public:
  explicit RoutedTrafficReader(const CommunicationLog& log) : log_(log) {
    for (const LoggedAllToAllParts& exchange : log.exchanges) {
      exchanges_[{exchange.source, exchange.line, exchange.rank}] = &exchange;
    }
  }

  RouterDecidedTraffic read() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::vector<std::size_t>> ranks;
    for (std::size_t i = 0; i < log_.records.size(); ++i) {
      const LoggedCall record = log_.records[i];
      if (record.payload_bytes > 0) out_.payload_bytes += record.count * record.payload_bytes;
      if (!exchanges_.empty()) ranks[{record.source, record.rank}].push_back(i);
      if (record.operation != LoggedOperation::kAllToAll || parts_of(record) != nullptr) continue;
      if (is_even_alone(log_.sources[static_cast<std::size_t>(record.source)].format)) continue;
      out_.unsaid_bytes += record.count * std::max<std::int64_t>(record.payload_bytes, 0);
    }
    for (const auto& [key, records] : ranks) place_exchanges(records);
    for (const auto& [where, exchange] : placed_) {
      if (!is_even(exchange->sent_bytes)) routed_.insert(where.second);
    }
    take_steps();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const LoggedAllToAllParts* parts_of(const LoggedCall& record) const {
    const auto found = exchanges_.find({record.source, record.line, record.rank});
    return found == exchanges_.end() ? nullptr : found->second;
  }

  /// Returns the step of each call of a rank; -1: the call is in no step.
  [[nodiscard]] std::vector<std::int64_t> steps_of(const std::vector<std::size_t>& records) const {
    const LogFileReadResult& source =
        log_.sources[static_cast<std::size_t>(log_.records[records.front()].source)];
    std::vector<std::int64_t> steps;
    if (!source.step_starts_s.empty()) {
      for (const std::size_t i : records) {
        const auto begun =
            std::ranges::upper_bound(source.step_starts_s, log_.records[i].enqueued_s);
        steps.push_back(begun - source.step_starts_s.begin() - 1);
      }
      return steps;
    }
    std::map<std::tuple<std::int32_t, LoggedOperation, std::int64_t>, std::int32_t> numbers;
    std::vector<std::int32_t> tokens;
    for (const std::size_t i : records) {
      const LoggedCall record = log_.records[i];
      const bool any_size = record.operation == LoggedOperation::kAllToAll;
      const auto next = static_cast<std::int32_t>(numbers.size());
      tokens.push_back(numbers
                           .try_emplace({record.communicator, record.operation,
                                         any_size ? 0 : record.payload_bytes},
                                        next)
                           .first->second);
    }
    const CallRepetition repetition = find_call_repetition(tokens);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool inside = i >= repetition.first && i < repetition.end() && repetition.period > 0;
      steps.push_back(inside ? static_cast<std::int64_t>((i - repetition.first) / repetition.period)
                             : -1);
    }
    return steps;
  }

  void place_exchanges(const std::vector<std::size_t>& records) {
    const std::vector<std::int64_t> steps = steps_of(records);
    std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> numbers;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const LoggedCall record = log_.records[records[i]];
      const LoggedAllToAllParts* exchange = parts_of(record);
      if (exchange == nullptr || record.operation != LoggedOperation::kAllToAll) continue;
      const std::int64_t number = numbers[{steps[i], record.communicator}]++;
      placed_.push_back({{steps[i], {record.communicator, number}}, exchange});
    }
  }

  void take_steps() {
    std::map<std::int64_t, std::map<std::int64_t, Matrix>> steps;  // by rank, then step
    for (const auto& [where, exchange] : placed_) {
      const auto& [step, place] = where;
      if (!routed_.contains(place)) continue;
      double sum = 0;
      for (const std::int64_t bytes : exchange->sent_bytes) sum += static_cast<double>(bytes);
      out_.routed_bytes += static_cast<std::int64_t>(sum);
      if (step < 0) continue;
      Matrix& matrix = steps[exchange->rank][step];
      for (std::size_t member = 0; member < exchange->sent_bytes.size(); ++member) {
        const auto bytes = static_cast<double>(exchange->sent_bytes[member]);
        matrix[{exchange->rank, place, member}] += bytes;
        even_.add(bytes, sum / static_cast<double>(exchange->sent_bytes.size()));
      }
    }
    for (const auto& [rank, matrices] : steps) compare_steps(matrices);
    out_.uneven = even_.share();
    out_.moved = moved_.share();
    out_.moved_of_exchange = moved_of_exchange_.share();
  }

  /// Compares consecutive steps of one rank.
  void compare_steps(const std::map<std::int64_t, Matrix>& matrices) {
    out_.steps = std::max(out_.steps, std::ssize(matrices));
    const Matrix* last = nullptr;
    std::int64_t last_step = 0;
    for (const auto& [step, matrix] : matrices) {
      if (last != nullptr && step == last_step + 1) {
        add_distance(*last, matrix, moved_of_exchange_);
        add_distance(whole_step(*last), whole_step(matrix), moved_);
      }
      last = &matrix;
      last_step = step;
      for (const auto& [message, bytes] : matrix) {
        const auto& ranks =
            log_.communicators[static_cast<std::size_t>(message.place.communicator)].ranks;
        if (message.member >= ranks.size()) continue;
        out_.sent[{message.rank, ranks[message.member]}] +=
            bytes / static_cast<double>(matrices.size());
      }
    }
  }

  const CommunicationLog& log_;
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, const LoggedAllToAllParts*>
      exchanges_;
  std::vector<std::pair<std::pair<std::int64_t, Place>, const LoggedAllToAllParts*>> placed_;
  std::set<Place> routed_;
  Distance even_;
  Distance moved_;
  Distance moved_of_exchange_;
  RouterDecidedTraffic out_;
};

}  // namespace

RouterDecidedTraffic router_decided_traffic_of_log(const CommunicationLog& log) {
  return RoutedTrafficReader(log).read();
}

}  // namespace stepwright::logs
