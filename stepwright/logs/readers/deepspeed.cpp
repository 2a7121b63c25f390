#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/line_reader.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/readers.h"
#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMostRawBytes = std::size_t{256} << 20;
constexpr double kLargestLoggedBytes = 8.0 * 1024 * 1024 * 1024 * 1024;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// A number at the beginning of a text, which it is taken from.
std::optional<double> take_number(std::string_view& text) {
  text = trimmed(text);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return value;
}

/// "678.86 MB", "0B": units of 1024.
std::optional<std::int64_t> take_size(std::string_view& text) {
  const auto value = take_number(text);
  if (!value) return std::nullopt;
  text = trimmed(text);
  constexpr std::string_view kUnits = "BKMGT";
  const std::size_t power = text.empty() ? std::string_view::npos : kUnits.find(text.front());
  if (power == std::string_view::npos) return std::nullopt;
  text.remove_prefix(power == 0 ? 1 : std::min<std::size_t>(2, text.size()));
  const double bytes = *value * std::pow(1024.0, static_cast<double>(power));
  if (!(bytes >= 0) || bytes > kLargestLoggedBytes) return std::nullopt;
  return std::llround(bytes);
}

/// Whether calls can have taken so long: milliseconds, of all calls of a run together.
bool is_latency(double milliseconds) {
  constexpr double kLongest = 1e11;  // three years
  return milliseconds >= 0 && milliseconds <= kLongest;
}

/// Names that torch.distributed does not have.
std::optional<LogOperation> deepspeed_call(std::string_view name) {
  name = trimmed(name.substr(0, name.find('|')));
  if (name == "isend") return LogOperation::kSend;
  if (name == "irecv") return LogOperation::kReceive;
  if (name == "inference_all_reduce") return LogOperation::kAllReduce;
  if (name == "reduce_scatter_fn") return LogOperation::kReduceScatter;
  if (name == "all_gather_base") return LogOperation::kAllGather;
  return torch_call(name);
}

/// Its sizes are those of the input, so that a gather's payload needs the size of its group.
LogRecord deepspeed_record(LogOperation operation, std::int64_t bytes) {
  LogRecord record{.operation = operation};
  const bool part = operation == LogOperation::kAllGather || operation == LogOperation::kGather;
  (part && bytes > 0 ? record.logged_bytes : record.payload_bytes) = bytes;
  return record;
}

/// Times of the logger are running totals of each name where it never clears its timer: they never
/// fall. Each then is what it adds to the one before.
void difference_times(std::vector<double>& seconds) {
  if (seconds.size() < 3 || !std::ranges::is_sorted(seconds)) return;
  for (std::size_t i = seconds.size(); i-- > 1;) seconds[i] -= seconds[i - 1];
}

class DeepSpeedTextReader {
 public:
  DeepSpeedTextReader(ByteSource& bytes, Log& log)
      : bytes_(bytes), writer_(log, bytes.name(), LogFormat::kDeepSpeed) {}

  void read() {
    LineReader lines(bytes_);
    for (std::string_view text; lines.next(text);) {
      ++writer_.source().lines;
      number_ = lines.number();
      if (lines.cut()) explain_not(kCutLine);
      line(text);
    }
    finish();
  }

 private:
  void line(std::string_view text) {
    // A carriage return overwrites what stands before it; each part counts.
    for (std::size_t end = text.find('\r'); end != std::string_view::npos; end = text.find('\r')) {
      part(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    part(text);
  }

  void part(std::string_view text) {
    if (const std::size_t at = text.find("comm op:"); at != std::string_view::npos) {
      in_table_ = false;
      if (!call(text.substr(at + 8))) {
        explain_not("a line of the logger that is cut, or says what no call takes");
      }
      note_rank(text.substr(0, at));
    } else if (text.find("Comm. Op") != std::string_view::npos) {
      in_table_ = text.find("straggler") == std::string_view::npos;
      if (in_table_) summary_.clear();
      in_stragglers_ = !in_table_;
    } else if (trimmed(text).empty() || text.starts_with('[') || text.starts_with("____") ||
               text.starts_with("----") || text.starts_with("Breakdown with straggler")) {
      return;
    } else if (in_table_ || in_stragglers_) {
      if (!row(text)) explain_not("no row of the summary");
    } else {
      explain_not("no line of the logger");
    }
  }

  void explain_not(std::string reason) {
    writer_.source().cannot_explain(number_, std::move(reason));
  }

  void note_rank(std::string_view before) {
    for (const std::string_view mark : {"[Rank ", "rank="}) {
      const std::size_t at = before.find(mark);
      if (at == std::string_view::npos) continue;
      std::string_view rest = before.substr(at + mark.size());
      const auto rank = take_number(rest);
      if (rank && *rank >= 0 && *rank < kMostJobRanks) rank_ = static_cast<std::int64_t>(*rank);
    }
  }

  /// "all_reduce | time (ms): 5.11 | msg size: 3.91 KB | ..."
  bool call(std::string_view text) {
    const std::size_t time = text.find("time (ms):");
    const std::size_t size = text.find("msg size:");
    if (time == std::string_view::npos || size == std::string_view::npos) return false;
    const std::string name(trimmed(text.substr(0, text.find('|'))));
    const auto operation = deepspeed_call(name);
    std::string_view spelt_time = text.substr(time + 10);
    std::string_view spelt_size = text.substr(size + 9);
    const auto milliseconds = take_number(spelt_time);
    const auto bytes = take_size(spelt_size);
    if (!operation || !milliseconds || !bytes || !is_latency(*milliseconds)) return false;
    if (spelt_size.find("comm op:") != std::string_view::npos) return false;
    LogRecord record = deepspeed_record(*operation, *bytes);
    record.line = number_;
    order_[name].push_back(verbose_.size());
    times_[name].push_back(*milliseconds * 1e-3);
    verbose_.push_back(record);
    return true;
  }

  /// A name alone, or "3.91 KB   3   23.25 ..." below one.
  bool row(std::string_view text) {
    if (!text.starts_with(' ')) {
      operation_ = deepspeed_call(text);
      return operation_.has_value() || is_word(text);
    }
    const auto bytes = take_size(text);
    const auto count = take_number(text);
    const auto total = take_number(text);
    if (!bytes || !count || !total || !(*count >= 1) || *count > 1e12) return false;
    if (!is_latency(*total)) return false;
    if (in_stragglers_ || !operation_) return in_stragglers_;
    LogRecord record = deepspeed_record(*operation_, *bytes);
    record.line = number_;
    record.count = static_cast<std::int64_t>(*count);
    summary_.push_back(record);
    return true;
  }

  /// The name of an operation that is not known; its rows are then counted.
  static bool is_word(std::string_view text) {
    return in_words(trimmed(text.substr(0, text.find('|'))));
  }
  static bool in_words(std::string_view text) {
    return !text.empty() && text.find(' ') == std::string_view::npos;
  }

  void finish() {
    LogSource& source = writer_.source();
    source.note("The logger rounds sizes and does not log groups.");
    for (auto& [name, seconds] : times_) {
      difference_times(seconds);
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        verbose_[order_[name][i]].duration_s = seconds[i];
      }
    }
    if (!verbose_.empty() && !summary_.empty()) {
      source.note("Lines and summary describe the same calls; the lines are counted.");
    }
    for (LogRecord& record : verbose_.empty() ? summary_ : verbose_) {
      record.rank = rank_;
      writer_.add(record);
    }
  }

  ByteSource& bytes_;
  LogWriter writer_;
  std::int64_t number_ = 0;
  std::int64_t rank_ = kUnknown;
  bool in_table_ = false;
  bool in_stragglers_ = false;
  std::optional<LogOperation> operation_;  ///< Of the rows that follow.
  std::vector<LogRecord> verbose_;
  std::vector<LogRecord> summary_;
  std::map<std::string, std::vector<std::size_t>> order_;  ///< Into `verbose_`, by name.
  std::map<std::string, std::vector<double>> times_;       ///< In the same order.
};

class DeepSpeedRawReader {
 public:
  DeepSpeedRawReader(ByteSource& bytes, Log& log)
      : text_(bytes.rest(kMostRawBytes)),
        name_(bytes.name()),
        writer_(log, bytes.name(), LogFormat::kDeepSpeedRaw) {}

  void read() {
    dom::parser parser;
    dom::element root;
    if (parser.parse(text_).get(root) != simdjson::SUCCESS) {
      fail_input(fmt::format("{}: is no JSON", name_));
    }
    if (repeats_key(root)) fail_input(fmt::format("{}: a mapping has a key twice", name_));
    dom::element operations = root;
    if (root["summary"].get(operations) == simdjson::SUCCESS) read_metadata(root);
    dom::object mapping;
    if (operations.get(mapping) != simdjson::SUCCESS) {
      fail_input(fmt::format("{}: is no mapping of operations", name_));
    }
    for (const auto [name, sizes] : mapping) operation(name, sizes);
    writer_.source().note("Groups are not logged.");
  }

 private:
  void read_metadata(const dom::element& root) {
    dom::element metadata;
    if (root["metadata"].get(metadata) != simdjson::SUCCESS) return;
    writer_.source().world = ranks_in(metadata, "world_size").value_or(0);
    rank_ = ranks_in(metadata, "rank").value_or(kUnknown);
  }

  void operation(std::string_view name, const dom::element& sizes) {
    dom::object mapping;
    const auto operation = deepspeed_call(name);
    if (!operation || sizes.get(mapping) != simdjson::SUCCESS) {
      ++writer_.source().lines;
      return writer_.source().cannot_explain(writer_.source().lines,
                                             fmt::format("an unknown operation, \"{}\"", name));
    }
    const std::size_t first = writer_.records().size();
    for (const auto [size, value] : mapping) {
      ++writer_.source().lines;
      const auto bytes = to_integer(size);
      if (!bytes || *bytes < 0 || static_cast<double>(*bytes) > kLargestLoggedBytes ||
          !calls(*operation, *bytes, value)) {
        writer_.source().cannot_explain(writer_.source().lines,
                                        fmt::format("no calls of a size of {}", name));
      }
    }
    if (writer_.records().size() > first) difference_of_name(first);
  }

  /// [count, [ms], ...] of the raw form, {"count", "total_latency_ms"} of the summary.
  bool calls(LogOperation operation, std::int64_t bytes, const dom::element& value) {
    LogRecord record = deepspeed_record(operation, bytes);
    record.rank = rank_;
    record.line = writer_.source().lines;
    if (value.is_object()) {
      record.count = integer_in(value, "count").value_or(0);
      if (record.count < 1 || record.count > 1'000'000'000'000) return false;
      writer_.add(record);
      return true;
    }
    dom::array times;
    std::int64_t count = 0;
    if (value.at(0).get(count) != simdjson::SUCCESS ||
        value.at(1).get(times) != simdjson::SUCCESS ||
        count != static_cast<std::int64_t>(times.size())) {
      return false;
    }
    std::vector<double> latencies;
    for (const dom::element time : times) {
      double milliseconds = 0;
      if (time.get(milliseconds) != simdjson::SUCCESS || !is_latency(milliseconds)) return false;
      latencies.push_back(milliseconds);
    }
    for (const double milliseconds : latencies) {
      record.duration_s = milliseconds * 1e-3;
      writer_.add(record);
    }
    return true;
  }

  /// Running totals are of a name, over all its sizes: in ascending order they are in that of time.
  void difference_of_name(std::size_t first) {
    const std::span<LogRecord> records = writer_.records().subspan(first);
    if (!(records.front().duration_s >= 0)) return;
    bool rising = true;
    for (std::size_t i = 1; i < records.size(); ++i) {
      const bool same = records[i].payload_bytes == records[i - 1].payload_bytes &&
                        records[i].logged_bytes == records[i - 1].logged_bytes;
      rising = rising && (!same || records[i].duration_s >= records[i - 1].duration_s);
    }
    if (!rising) return;
    std::ranges::stable_sort(records, {}, &LogRecord::duration_s);
    std::vector<double> seconds;
    for (const LogRecord& record : records) seconds.push_back(record.duration_s);
    difference_times(seconds);
    for (std::size_t i = 0; i < records.size(); ++i) records[i].duration_s = seconds[i];
  }

  std::string text_;
  std::string name_;
  LogWriter writer_;
  std::int64_t rank_ = kUnknown;
};

}  // namespace

void read_deepspeed_text(ByteSource& bytes, Log& log) { DeepSpeedTextReader(bytes, log).read(); }

void read_deepspeed_raw(ByteSource& bytes, Log& log) { DeepSpeedRawReader(bytes, log).read(); }

}  // namespace stepwright::logs
