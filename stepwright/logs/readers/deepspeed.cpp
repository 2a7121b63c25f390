#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/json_fault.h"
#include "stepwright/core/text_check.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/line_reader.h"
#include "stepwright/logs/readers/deepspeed_lines.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/readers.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMostRawBytes = std::size_t{256} << 20;
class DeepSpeedTextReader {
 public:
  DeepSpeedTextReader(FileByteReader& bytes, CommunicationLog& log)
      : bytes_(bytes), writer_(log, bytes.name(), LogFormat::kDeepSpeed) {}

  void read() {
    LineReader lines(bytes_);
    for (std::string_view text; lines.read_next_line(text);) {
      ++writer_.source().lines;
      if (lines.is_line_truncated()) explain_not(lines.number(), kLineTooLongReason);
      explain_not(lines.number(), lines_.read_deepspeed_log_line(text, lines.number()));
    }
    writer_.source().note("The logger rounds sizes and does not log groups.");
    if (lines_.has_verbose_lines_and_summary_table()) {
      writer_.source().note("Lines and summary describe the same calls; the lines are counted.");
    }
    for (const LoggedCall& record : std::move(lines_).calls()) writer_.add(record);
  }

 private:
  void explain_not(std::int64_t number, std::string_view reason) {
    if (!reason.empty()) writer_.source().count_unexplained_line(number, std::string(reason));
  }

  FileByteReader& bytes_;
  LogCallCollector writer_;
  DeepSpeedLogReader lines_;
};

class DeepSpeedRawReader {
 public:
  DeepSpeedRawReader(FileByteReader& bytes, CommunicationLog& log)
      : text_(bytes.read_rest_of_source(kMostRawBytes)),
        name_(bytes.name()),
        writer_(log, bytes.name(), LogFormat::kDeepSpeedRaw) {}

  void read() {
    dom::parser parser;
    dom::element root;
    if (parser.parse(text_).get(root) != simdjson::SUCCESS) {
      check_utf8(text_, name_);
      fail_at_json_fault(name_, text_, "no JSON");
    }
    if (has_duplicate_key(root)) fail_input(fmt::format("{}: a mapping has a key twice", name_));
    dom::element operations = root;
    if (root["summary"].get(operations) == simdjson::SUCCESS) read_metadata(root);
    dom::object mapping;
    if (operations.get(mapping) != simdjson::SUCCESS) {
      fail_input(fmt::format("{}: is not a mapping of operations", name_));
    }
    for (const auto [name, sizes] : mapping) operation(name, sizes);
    writer_.source().note("Groups are not logged.");
  }

 private:
  void read_metadata(const dom::element& root) {
    dom::element metadata;
    if (root["metadata"].get(metadata) != simdjson::SUCCESS) return;
    writer_.source().world = json_rank_number_field(metadata, "world_size").value_or(0);
    rank_ = json_rank_number_field(metadata, "rank").value_or(kUnknown);
  }

  void operation(std::string_view name, const dom::element& sizes) {
    dom::object mapping;
    const auto operation = deepspeed_operation(name);
    if (!operation || sizes.get(mapping) != simdjson::SUCCESS) {
      ++writer_.source().lines;
      return writer_.source().count_unexplained_line(
          writer_.source().lines, fmt::format("an unknown operation, \"{}\"", name));
    }
    const std::size_t first = writer_.records_added_by_file().size();
    for (const auto [size, value] : mapping) {
      ++writer_.source().lines;
      const auto bytes = parse_whole_number(size);
      if (!bytes || *bytes < 0 || static_cast<double>(*bytes) > kMaxLoggedMessageBytes ||
          !calls(*operation, *bytes, value)) {
        writer_.source().count_unexplained_line(writer_.source().lines,
                                                fmt::format("no calls of a size of {}", name));
      }
    }
    if (writer_.records_added_by_file().size() > first) difference_of_name(first);
  }

  /// Reads the calls of one message size: [count, [ms], ...] in the raw form, {"count",
  /// "total_latency_ms"} in the summary.
  bool calls(LoggedOperation operation, std::int64_t bytes, const dom::element& value) {
    LoggedCall record = deepspeed_call_record(operation, bytes);
    record.rank = rank_;
    record.line = writer_.source().lines;
    if (value.is_object()) {
      record.count = json_integer_field(value, "count").value_or(0);
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
      if (time.get(milliseconds) != simdjson::SUCCESS || !is_plausible_latency(milliseconds))
        return false;
      latencies.push_back(milliseconds);
    }
    for (const double milliseconds : latencies) {
      record.duration_s = milliseconds * 1e-3;
      writer_.add(record);
    }
    return true;
  }

  /// Converts running totals to times. A total covers all sizes of an operation's name, so
  /// ascending totals are in order of time.
  void difference_of_name(std::size_t first) {
    const std::span<LoggedCall> records = writer_.records_added_by_file().subspan(first);
    if (!(records.front().duration_s >= 0)) return;
    bool rising = true;
    for (std::size_t i = 1; i < records.size(); ++i) {
      const bool same = records[i].payload_bytes == records[i - 1].payload_bytes &&
                        records[i].logged_bytes == records[i - 1].logged_bytes;
      rising = rising && (!same || records[i].duration_s >= records[i - 1].duration_s);
    }
    if (!rising) return;
    std::ranges::stable_sort(records, {}, &LoggedCall::duration_s);
    std::vector<double> seconds;
    for (const LoggedCall& record : records) seconds.push_back(record.duration_s);
    running_totals_to_call_times(seconds);
    for (std::size_t i = 0; i < records.size(); ++i) records[i].duration_s = seconds[i];
  }

  std::string text_;
  std::string name_;
  LogCallCollector writer_;
  std::int64_t rank_ = kUnknown;
};

}  // namespace

void read_deepspeed_text(FileByteReader& bytes, CommunicationLog& log) {
  DeepSpeedTextReader(bytes, log).read();
}

void read_deepspeed_raw(FileByteReader& bytes, CommunicationLog& log) {
  DeepSpeedRawReader(bytes, log).read();
}

}  // namespace stepwright::logs
