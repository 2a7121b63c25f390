#include "stepwright/logs/readers/kineto_calls.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/readers/c10d_operator.h"
#include "stepwright/logs/readers/exposed_time.h"
#include "stepwright/logs/readers/kineto_kernels.h"
#include "stepwright/logs/readers/kineto_message.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

class KinetoCalls : public KinetoTraceConsumer {
 public:
  KinetoCalls(const std::string& file, CommunicationLog& log)
      : writer_(log, file, LogFormat::kKineto) {}

  void take(const KinetoEvent& event) override {
    ++events_;
    if (event.text.find('\0') != event.text.npos) return cannot_parse(event.offset);
    if (event.category == "kernel") return kernel(event);
    const std::string_view name = find_json_member_without_parsing(event.text, "\"name\"");
    if (event.category == "cpu_op") {
      if (name == "record_param_comms") return describe(event, described_);
      if (name.starts_with("c10d::")) return operator_of_group(event);
      host_operator(event, name);
    } else if (event.category == "user_annotation") {
      if (name.starts_with("ProfilerStep#")) return step(event);
      if (name.starts_with("gloo:")) return annotation(event);
    }
  }

  void receive_trace_document_member(const JsonPiece& member) override {
    if (member.key == "distributedInfo") distributed(member);
  }

  void finish() override {
    LogFileReadResult& source = writer_.source();
    source.lines = events_;
    if (rank_ == kUnknown) {
      rank_ = rank_in_file_name(source.file);
      if (rank_ != kUnknown) source.note("The rank is taken from the name of the file.");
    }
    std::ranges::sort(source.step_starts_s);
    std::erase_if(described_,
                  [](const TraceCommunicationCall& message) { return message.name.empty(); });
    if (!described_.empty()) {
      timed_ = call_time_spans_from_kernels(described_, kernels_);
      for (const TraceCommunicationCall& message : described_) add(message);
      remove_kernels_of_grouped_calls(described_, timed_, kernels_);
    } else if (no_kernel_describes_call(kernels_)) {
      resolve_types();
      for (TraceCommunicationCall& message : operators_) add_operator(message);
      time_operators();
    }
    for (const TraceCommunicationCall& kernel : kernels_) add_alone(kernel);
    std::ranges::sort(writer_.records_added_by_file(), {}, &LoggedCall::line);
    find_exposed();
  }

 private:
  /// Returns the event as JSON; null if it is none, which counts as one more unexplained event.
  const dom::element* parse(const KinetoEvent& event) {
    if (event.parsed_event_json() == nullptr) cannot_parse(event.offset);
    return event.parsed_event_json();
  }

  void cannot_parse(std::size_t offset) {
    writer_.source().count_unexplained_line(
        events_, fmt::format("the event at byte {} is not JSON", offset + 1));
  }

  void kernel(const KinetoEvent& event) {
    host_.clear();
    if (find_json_member_without_parsing(event.text, "\"name\"").starts_with("nccl"))
      return describe(event, kernels_);
    add_span(event, computing_);
  }

  /// Counts operators of the host as computation, for jobs without a device.
  void host_operator(const KinetoEvent& event, std::string_view name) {
    if (!computing_.empty() || !kernels_.empty()) return;
    const bool waits = name.find("wait") != std::string_view::npos;
    if (!waits && !name.starts_with("aten::") && !name.starts_with("fsdp::")) return;
    const std::string_view thread = find_json_member_without_parsing(event.text, "\"tid\"");
    auto found = host_.find(thread);
    if (found == host_.end()) found = host_.emplace(thread, HostThread{}).first;
    add_span(event, waits ? found->second.waits : found->second.work);
  }

  static void add_span(const KinetoEvent& event, std::vector<TimeSpan>& spans) {
    double begin = 0;
    double length = 0;
    if (number_glimpsed(event.text, "\"ts\"", begin) &&
        number_glimpsed(event.text, "\"dur\"", length)) {
      spans.push_back({begin * kKinetoTimeUnitSeconds, (begin + length) * kKinetoTimeUnitSeconds});
    }
  }

  static bool number_glimpsed(std::string_view text, std::string_view key, double& value) {
    const std::string_view spelt = find_json_member_without_parsing(text, key);
    const auto result = std::from_chars(spelt.data(), spelt.data() + spelt.size(), value);
    return result.ec == std::errc();
  }

  void describe(const KinetoEvent& event, std::vector<TraceCommunicationCall>& list) {
    if (const auto* json = parse(event))
      list.push_back(read_self_described_trace_call(*json, events_));
  }

  /// Reads a call of a process group that is described only by its arguments.
  void operator_of_group(const KinetoEvent& event) {
    const auto* json = parse(event);
    auto message = json == nullptr ? std::nullopt : read_c10d_operator_call(*json, events_);
    if (!message) return;
    sized_ = sized_ || message->in_elements > 0 || message->out_elements > 0;
    operators_.push_back(std::move(*message));
  }

  /// Reads an annotation of Gloo, which has the element type of lists that operators leave out.
  void annotation(const KinetoEvent& event) {
    const auto* json = parse(event);
    dom::element dims;
    std::string_view type;
    if (json == nullptr) return;
    if ((*json)["args"]["Input Dims"].at(0).get(dims) != simdjson::SUCCESS) return;
    if ((*json)["args"]["Input type"].at(0).get(type) != simdjson::SUCCESS) return;
    annotated_[elements_of_shape(dims)].push_back(
        {torch_type_bytes(type), trace_event_time_span(*json)});
  }

  void step(const KinetoEvent& event) {
    thread_ = find_json_member_without_parsing(event.text, "\"tid\"");
    const auto* json = parse(event);
    if (json != nullptr)
      writer_.source().step_starts_s.push_back(trace_event_time_span(*json).begin_s);
  }

  void distributed(const JsonPiece& member) {
    dom::parser parser;
    dom::element info;
    if (parser.parse(member.text.data(), member.text.size(), false).get(info) !=
        simdjson::SUCCESS) {
      return cannot_parse(member.offset);
    }
    rank_ = json_rank_number_field(info, "rank").value_or(kUnknown);
    writer_.source().world = json_rank_number_field(info, "world_size").value_or(0);
    writer_.source().version = std::string(json_text_field(info, "nccl_version"));
    if (!writer_.source().version.empty()) writer_.source().version.insert(0, "NCCL ");
    group_count_ = json_integer_field(info, "pg_count").value_or(0);
    dom::array groups;
    if (info["pg_config"].get(groups) != simdjson::SUCCESS) return;
    std::int64_t listed = 0;
    for (const dom::element group : groups) {
      const std::string name(json_text_field(group, "pg_name"));
      const std::int64_t size = json_rank_number_field(group, "pg_size").value_or(0);
      auto ranks = listed_ranks(group, "ranks");
      if (ranks.empty() && size == writer_.source().world) {
        listed += size;
        if (listed <= kMaxCommunicatorRanksToFillIn) ranks = all_ranks(size);
      }
      if (std::ssize(ranks) != size) ranks.clear();
      groups_[name] = {.name = name, .size = size, .ranks = std::move(ranks)};
    }
  }

  static std::vector<std::int64_t> all_ranks(std::int64_t size) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t rank = 0; rank < std::min(size, kMaxCommunicatorRanksToFillIn); ++rank)
      ranks.push_back(rank);
    return ranks;
  }

  /// Gives times to calls in traces of PyTorch before 2.3, which describe messages only by
  /// operators' arguments: the n-th kernel of a kind belongs to the n-th call.
  void time_operators() {
    std::map<std::string_view, std::deque<std::size_t>> calls;
    const std::span<LoggedCall> records = writer_.records_added_by_file();
    for (std::size_t i = 0; i < records.size(); ++i) {
      calls[nccl_kernel_word(records[i].operation)].push_back(i);
    }
    std::ranges::stable_sort(kernels_, {}, [](const auto& kernel) { return kernel.span.begin_s; });
    std::erase_if(kernels_, [&](const TraceCommunicationCall& kernel) {
      for (auto& [word, waiting] : calls) {
        if (waiting.empty() || kernel.kernel.find(word) == std::string::npos) continue;
        LoggedCall& record = records[waiting.front()];
        waiting.pop_front();
        record.start_s = kernel.span.begin_s;
        record.duration_s = kernel.span.end_s - kernel.span.begin_s;
        return true;
      }
      return false;
    });
  }

  void add(const TraceCommunicationCall& message) {
    const auto index = static_cast<std::size_t>(&message - described_.data());
    if (is_not_torch_call(message.name)) return;
    LoggedCall* record = add_message(message);
    if (record == nullptr) return;
    record->enqueued_s = record->start_s = message.span.begin_s;
    if (timed_[index].begin_s == timed_[index].begin_s) {
      record->start_s = timed_[index].begin_s;
      record->duration_s = timed_[index].end_s - timed_[index].begin_s;
    }
  }

  /// Adds a call for a kernel whose operator is not in the trace.
  void add_alone(const TraceCommunicationCall& kernel) {
    if (kernel.name.empty()) {
      writer_.source().count_unexplained_line(kernel.event,
                                              "a kernel of NCCL that says nothing of its message");
      return;
    }
    if (is_not_torch_call(kernel.name)) return;
    LoggedCall* record = add_message(kernel);
    if (record == nullptr) return;
    record->start_s = kernel.span.begin_s;
    record->duration_s = kernel.span.end_s - kernel.span.begin_s;
  }

  LoggedCall* add_message(const TraceCommunicationCall& message) {
    const auto call = operation_of_torch_call(message.name);
    if (!call) {
      writer_.source().count_unexplained_line(
          message.event, fmt::format("an unknown operation, \"{}\"", message.name));
      return nullptr;
    }
    const std::int64_t payload = local_call_payload_bytes(
        *call, message.in_elements, message.out_elements, message.element_bytes);
    if (payload == kUnknown) {
      writer_.source().count_unexplained_line(message.event,
                                              "a message of no size or an unknown type");
      return nullptr;
    }
    LoggedCall record{.line = message.event,
                      .rank = rank_,
                      .payload_bytes = payload,
                      .communicator = group_of(message),
                      .operation = *call,
                      .element_bytes = static_cast<std::uint8_t>(message.element_bytes)};
    if (is_point_to_point(*call)) record.peer = global_peer(record.communicator, message.peer);
    if (*call == LoggedOperation::kAllToAll && message.parts) {
      writer_.add_all_to_all_parts(record, *message.parts);
    }
    return &writer_.add(record);
  }

  std::int64_t global_peer(std::int32_t communicator, std::int64_t peer) {
    if (communicator < 0) return kUnknown;
    const std::vector<std::int64_t>& ranks = writer_.communicator(communicator).ranks;
    return peer >= 0 && peer < std::ssize(ranks) ? ranks[static_cast<std::size_t>(peer)] : kUnknown;
  }

  std::int32_t group_of(const TraceCommunicationCall& message) {
    if (const auto known = groups_.find(message.group); known != groups_.end()) {
      return writer_.communicator(known->first, known->second.size, known->second.ranks);
    }
    if (message.group_size < 1) return -1;
    auto ranks = integers_of(message.ranks).value_or(std::vector<std::int64_t>{});
    if (std::ssize(ranks) != message.group_size) ranks.clear();
    const std::int32_t known =
        writer_.communicator(message.group + message.ranks, message.group_size, ranks);
    LogCommunicator& group = writer_.communicator(known);
    if (group.ranks.empty() && message.ranks == "[]" && group.size == writer_.source().world) {
      group.ranks = all_ranks(group.size);
    }
    return known;
  }

  /// Sets the types that operators leave out: the n-th operator with some number of elements
  /// matches the n-th annotation with that number.
  void resolve_types() {
    for (auto& [elements, calls] : annotated_) {
      std::ranges::stable_sort(calls, {}, [](const auto& call) { return call.span.begin_s; });
    }
    std::ranges::stable_sort(operators_, {}, [](const auto& call) { return call.span.begin_s; });
    std::map<std::int64_t, std::size_t> next;
    for (TraceCommunicationCall& message : operators_) {
      const std::int64_t elements = message.in_elements;
      const auto found = annotated_.find(elements);
      if (found == annotated_.end()) continue;
      const std::size_t number = next[elements]++;
      const auto& [bytes, span] = found->second[std::min(number, found->second.size() - 1)];
      if (message.element_bytes == 0) message.element_bytes = bytes;
      if (number < found->second.size()) message.run = span;
    }
    if (!operators_.empty() && kernels_.empty()) {
      writer_.source().note(
          sized_
              ? "Calls are of Gloo: times are those of the host, and groups are known only where "
                "sizes tell or the job has one group."
              : "Operators have no sizes; profile with record_shapes=True to have them.");
    }
  }

  void add_operator(TraceCommunicationCall& message) {
    const auto call = operation_of_torch_call(message.name);
    if (!call) {
      if (!is_not_torch_call(message.name)) {
        writer_.source().count_unexplained_line(
            message.event, fmt::format("an unknown operation, \"{}\"", message.name));
      }
      return;
    }
    if (groups_.size() == 1 && group_count_ == 1) {
      message.group = groups_.begin()->first;
      message.group_size = groups_.begin()->second.size;
    } else if (*call == LoggedOperation::kAllGather || *call == LoggedOperation::kReduceScatter) {
      const auto [small, large] = std::minmax(message.in_elements, message.out_elements);
      if (small > 0 && large % small == 0) message.group_size = large / small;
      give_only_group_of_size(message);
    }
    const bool part = *call == LoggedOperation::kAllGather && message.out_elements == 0;
    const std::int64_t part_bytes = buffer_bytes(message.in_elements, message.element_bytes);
    if (part) message.out_elements = message.in_elements * message.group_size;
    LoggedCall* record = add_message(message);
    if (record == nullptr) return;
    record->enqueued_s = record->start_s = message.span.begin_s;
    if (message.run.end_s > message.run.begin_s) {
      record->start_s = message.run.begin_s;
      record->duration_s = message.run.end_s - message.run.begin_s;
    }
    if (part && message.group_size == 0) {
      record->payload_bytes = kUnknown;
      record->logged_bytes = part_bytes;
    }
  }

  void give_only_group_of_size(TraceCommunicationCall& message) const {
    std::string found;
    int fitting = 0;
    for (const auto& [name, group] : groups_) {
      if (group.size != message.group_size) continue;
      ++fitting;
      found = name;
    }
    if (fitting == 1) message.group = found;
  }

  /// Finds the computation that runs at the same time as messages: kernels of the device, else the
  /// operators of the host thread that runs the steps, except those that wait.
  void find_exposed() {
    if (!computing_.empty())
      return set_exposed_call_seconds(writer_.records_added_by_file(),
                                      merge_time_spans(std::move(computing_)));
    const auto work = host_.find(thread_);
    if (work == host_.end()) return;
    set_exposed_call_seconds(writer_.records_added_by_file(),
                             subtract_time_spans(merge_time_spans(std::move(work->second.work)),
                                                 merge_time_spans(std::move(work->second.waits))));
  }

  /// The operators of one host thread.
  struct HostThread {
    std::vector<TimeSpan> work;
    std::vector<TimeSpan> waits;
  };

  struct AnnotatedCall {
    std::int64_t element_bytes;
    TimeSpan span;
  };

  LogCallCollector writer_;
  std::int64_t events_ = 0;
  std::int64_t rank_ = kUnknown;
  std::int64_t group_count_ = 0;
  bool sized_ = false;
  std::map<std::string, LogCommunicator> groups_;
  std::vector<TraceCommunicationCall>
      described_;                ///< Messages that `record_param_comms` describes.
  std::vector<TimeSpan> timed_;  ///< Spans of the kernels of `described_`.
  std::vector<TraceCommunicationCall> kernels_;
  std::vector<TraceCommunicationCall> operators_;  ///< Messages of operators `c10d::*`.
  /// Annotated calls, by number of elements.
  std::map<std::int64_t, std::vector<AnnotatedCall>> annotated_;
  std::vector<TimeSpan> computing_;
  /// By thread; used for jobs without a device.
  std::map<std::string, HostThread, std::less<>> host_;
  std::string thread_;  ///< Thread that runs the steps.
};

}  // namespace

std::unique_ptr<KinetoTraceConsumer> make_kineto_call_consumer(const std::string& file,
                                                               CommunicationLog& log) {
  return std::make_unique<KinetoCalls>(file, log);
}

}  // namespace stepwright::logs
