#include "stepwright/logs/readers/deepspeed_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "stepwright/core/trimmed.h"
#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::logs {
namespace {

/// Reads the number at the beginning of a text and removes it from the text.
std::optional<double> take_number(std::string_view& text) {
  text = trimmed(text);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return value;
}

/// Reads a size such as "678.86 MB" or "0B"; units are powers of 1024.
std::optional<std::int64_t> take_size(std::string_view& text) {
  const auto value = take_number(text);
  if (!value) return std::nullopt;
  text = trimmed(text);
  constexpr std::string_view kUnits = "BKMGT";
  const std::size_t power = text.empty() ? std::string_view::npos : kUnits.find(text.front());
  if (power == std::string_view::npos) return std::nullopt;
  text.remove_prefix(power == 0 ? 1 : std::min<std::size_t>(2, text.size()));
  const double bytes = *value * std::pow(1024.0, static_cast<double>(power));
  if (!(bytes >= 0) || bytes > kMaxLoggedMessageBytes) return std::nullopt;
  return std::llround(bytes);
}

/// True if a text is a single word, which may be the name of an unknown operation.
bool is_word(std::string_view text) {
  text = trimmed(text.substr(0, text.find('|')));
  return !text.empty() && text.find(' ') == std::string_view::npos;
}

/// Returns the possible ratios of the bytes in the logger's throughput to the bytes of its size: 2
/// for an all-reduce, the number of ranks for a gather (whose logged size is a shard), and in older
/// releases also for the input of a reduce-scatter.
std::vector<double> counted_sizes(LoggedOperation operation, double world) {
  switch (operation) {
    case LoggedOperation::kAllReduce: return {2};
    case LoggedOperation::kAllGather: return {world};
    case LoggedOperation::kReduceScatter: return {1, world};
    default: return {1};
  }
}

constexpr std::string_view kNoRow = "no row of the summary";
constexpr std::string_view kNoLine = "no line of the logger";
constexpr std::string_view kNoCall = "a line of the logger that is cut, or says what no call takes";

}  // namespace

/// The names below are not in torch.distributed.
std::optional<LoggedOperation> deepspeed_operation(std::string_view name) {
  name = trimmed(name.substr(0, name.find('|')));
  if (name == "isend") return LoggedOperation::kSend;
  if (name == "irecv") return LoggedOperation::kReceive;
  if (name == "inference_all_reduce") return LoggedOperation::kAllReduce;
  if (name == "reduce_scatter_fn") return LoggedOperation::kReduceScatter;
  if (name == "all_gather_base") return LoggedOperation::kAllGather;
  return operation_of_torch_call(name);
}

LoggedCall deepspeed_call_record(LoggedOperation operation, std::int64_t bytes) {
  LoggedCall record{.operation = operation};
  const bool part =
      operation == LoggedOperation::kAllGather || operation == LoggedOperation::kGather;
  (part && bytes > 0 ? record.logged_bytes : record.payload_bytes) = bytes;
  return record;
}

bool is_plausible_latency(double milliseconds) {
  constexpr double kLongest = 1e11;  // three years
  return milliseconds >= 0 && milliseconds <= kLongest;
}

void running_totals_to_call_times(std::vector<double>& seconds) {
  if (seconds.size() < 3 || !std::ranges::is_sorted(seconds)) return;
  for (std::size_t i = seconds.size(); i-- > 1;) seconds[i] -= seconds[i - 1];
}

std::string_view DeepSpeedLogReader::read_deepspeed_log_line(std::string_view text,
                                                             std::int64_t number) {
  number_ = number;
  std::string_view fault;
  // A carriage return makes a terminal overwrite the text before it; each part is read.
  for (std::size_t end = text.find('\r'); end != std::string_view::npos; end = text.find('\r')) {
    if (const std::string_view found = part(text.substr(0, end)); !found.empty()) fault = found;
    text.remove_prefix(end + 1);
  }
  const std::string_view found = part(text);
  return found.empty() ? fault : found;
}

std::string_view DeepSpeedLogReader::part(std::string_view text) {
  if (const std::size_t at = text.find("comm op:"); at != std::string_view::npos) {
    in_table_ = false;
    const bool said = call(text.substr(at + 8));
    note_rank(text.substr(0, at));
    return said ? std::string_view() : kNoCall;
  }
  if (text.find("Comm. Op") != std::string_view::npos) {
    in_table_ = text.find("straggler") == std::string_view::npos;
    if (in_table_) summary_.clear();
    in_stragglers_ = !in_table_;
    return {};
  }
  if (trimmed(text).empty() || text.starts_with('[') || text.starts_with("____") ||
      text.starts_with("----") || text.starts_with("Breakdown with straggler")) {
    return {};
  }
  if (!in_table_ && !in_stragglers_) return kNoLine;
  return row(text) ? std::string_view() : kNoRow;
}

void DeepSpeedLogReader::note_rank(std::string_view before) {
  for (const std::string_view mark : {"[Rank ", "rank="}) {
    const std::size_t at = before.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view rest = before.substr(at + mark.size());
    const auto rank = take_number(rest);
    if (rank && *rank >= 0 && *rank < kMaxJobRanks) rank_ = static_cast<std::int64_t>(*rank);
  }
}

/// Reads a line such as "all_reduce | time (ms): 5.11 | msg size: 3.91 KB | ..."
bool DeepSpeedLogReader::call(std::string_view text) {
  const std::size_t time = text.find("time (ms):");
  const std::size_t size = text.find("msg size:");
  if (time == std::string_view::npos || size == std::string_view::npos) return false;
  const std::string name(trimmed(text.substr(0, text.find('|'))));
  const auto operation = deepspeed_operation(name);
  std::string_view spelt_time = text.substr(time + 10);
  std::string_view spelt_size = text.substr(size + 9);
  const auto milliseconds = take_number(spelt_time);
  const auto bytes = take_size(spelt_size);
  if (!operation || !milliseconds || !bytes || !is_plausible_latency(*milliseconds)) return false;
  if (spelt_size.find("comm op:") != std::string_view::npos) return false;
  LoggedCall record = deepspeed_call_record(*operation, *bytes);
  record.line = number_;
  order_[name].push_back(verbose_.size());
  times_[name].push_back(*milliseconds * 1e-3);
  verbose_.push_back(record);
  return true;
}

/// Reads a line of a table: an operation's name alone, or "3.91 KB   3   23.25 ..." below one.
bool DeepSpeedLogReader::row(std::string_view text) {
  if (!text.starts_with(' ')) {
    operation_ = deepspeed_operation(text);
    ++names_;
    return operation_.has_value() || is_word(text);
  }
  const auto bytes = take_size(text);
  const auto count = take_number(text);
  const auto total = take_number(text);
  if (!bytes || !count || !total || !(*count >= 1) || *count > 1e12) return false;
  if (!is_plausible_latency(*total)) return false;
  if (in_stragglers_ || !operation_) return in_stragglers_;
  DeepSpeedSummaryRow& row = summary_.emplace_back();
  row.record = deepspeed_call_record(*operation_, *bytes);
  row.record.line = number_;
  row.record.count = static_cast<std::int64_t>(*count);
  row.name = names_;
  take_rates(text, row);
  return true;
}

/// Reads "7.75  0.01  0.00": mean time in ms, throughput and bus bandwidth in Gbit/s; each mean
/// leaves out the tenth of the calls at either end.
void DeepSpeedLogReader::take_rates(std::string_view rates, DeepSpeedSummaryRow& row) {
  // From here on, the two digits shown after the point are precise enough.
  constexpr double kLeastShown = 1;
  const auto mean_ms = take_number(rates);
  const auto throughput_gbps = take_number(rates);
  const auto bus_gbps = take_number(rates);
  if (!mean_ms || !throughput_gbps || !bus_gbps) return;
  if (!(*mean_ms >= 0.1) || !is_plausible_latency(*mean_ms) || !(*throughput_gbps >= kLeastShown) ||
      *bus_gbps > *throughput_gbps) {
    return;
  }
  row.mean_s = *mean_ms * 1e-3;
  row.bytes_per_s = *throughput_gbps * 1e9 / 8;
  const double alone = 1 - *bus_gbps / *throughput_gbps;  // one divided by the number of ranks
  const double world = alone > 0 ? std::round(1 / alone) : 0;
  if (world >= 2 && world <= 1e6 && std::abs(world * alone - 1) < 0.05) {
    world_ = std::max(world_, static_cast<std::int64_t>(world));
  }
}

/// Returns the mean rate of a row divided by the rate of its mean time: about 1 if all calls take
/// equally long, ln(9) / 1.6 = 1.37 for running totals of many calls.
double DeepSpeedLogReader::spread_of(const DeepSpeedSummaryRow& row) const {
  const LoggedCall& record = row.record;
  const auto bytes =
      static_cast<double>(record.payload_bytes > 0 ? record.payload_bytes : record.logged_bytes);
  double nearest = 0;
  for (const double counted : counted_sizes(record.operation, static_cast<double>(world_))) {
    const double spread = row.bytes_per_s * row.mean_s / (counted * bytes);
    if (!(spread > 0) || !std::isfinite(spread)) continue;
    if (nearest == 0 || std::abs(std::log(spread)) < std::abs(std::log(nearest))) nearest = spread;
  }
  return nearest;
}

/// Gives rows the mean time of their calls. The logger's timers may never be cleared; the times of
/// a name are then running totals. The majority of a name's rows decides whether they are, because
/// a single row may contain waits, or calls from the end of a run only.
void DeepSpeedLogReader::time_rows() {
  constexpr double kMostSpread = 1.15;
  constexpr std::int64_t kEnoughCalls = 8;
  std::map<std::int64_t, std::vector<double>> spreads;
  for (const DeepSpeedSummaryRow& row : summary_) {
    const double spread = row.record.count >= kEnoughCalls ? spread_of(row) : 0;
    if (spread > 0) spreads[row.name].push_back(spread);
  }
  for (DeepSpeedSummaryRow& row : summary_) {
    std::vector<double>& all = spreads[row.name];
    if (all.empty() || row.mean_s <= 0) continue;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    if (*middle > 1 / kMostSpread && *middle < kMostSpread) row.record.duration_s = row.mean_s;
  }
}

std::vector<LoggedCall> DeepSpeedLogReader::calls() && {
  for (auto& [name, seconds] : times_) {
    running_totals_to_call_times(seconds);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      verbose_[order_[name][i]].duration_s = seconds[i];
    }
  }
  std::vector<LoggedCall> calls = std::move(verbose_);
  if (calls.empty()) {
    time_rows();
    for (const DeepSpeedSummaryRow& row : summary_) calls.push_back(row.record);
  }
  for (LoggedCall& record : calls) record.rank = rank_;
  return calls;
}

}  // namespace stepwright::logs
