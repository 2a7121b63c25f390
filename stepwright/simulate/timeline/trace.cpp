#include "stepwright/simulate/timeline/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "stepwright/core/named.h"

namespace stepwright::simulate {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;
constexpr std::string_view kLinkNames[cost::kLinkClasses] = {"none", "inside", "network"};
constexpr int kMostLinkRows = step::kStreams;

std::string quoted(std::string_view text) { return nlohmann::json(text).dump(); }

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// Returns the name that PyTorch's NCCL back end records for a collective.
std::string_view collective_name(step::OperatorKind kind) {
  switch (kind) {
    case step::OperatorKind::kAllReduce: return "allreduce";
    case step::OperatorKind::kAllGather: return "_allgather_base";
    case step::OperatorKind::kReduceScatter: return "_reduce_scatter_base";
    case step::OperatorKind::kAllToAll: return "all_to_all";
    case step::OperatorKind::kShift: return "sendrecv";
    case step::OperatorKind::kSend: return "send";
    case step::OperatorKind::kReceive: return "recv";
    case step::OperatorKind::kBroadcast: return "broadcast";
    default: return {};
  }
}

/// Returns the name that PyTorch gives to an element type (c10::toString); block-scaled types have
/// none.
std::string_view dtype_name(DType type) {
  switch (type) {
    case DType::kFp64: return "Double";
    case DType::kFp32: return "Float";
    case DType::kFp16: return "Half";
    case DType::kBf16: return "BFloat16";
    case DType::kFp8: return "Float8_e4m3fn";
    case DType::kInt64: return "Long";
    case DType::kInt32: return "Int";
    case DType::kInt8: return "Char";
    default: return name_of(kDTypeNames, type);
  }
}

/// Returns the arguments of a message, as Kineto writes them.
std::string message_arguments(const step::Operator& op, std::int64_t group_size) {
  if (!step::is_communication(op.kind)) return {};
  const std::int64_t shard = op.payload_elements / std::max<std::int64_t>(group_size, 1);
  const bool gathers = op.kind == step::OperatorKind::kAllGather;
  const bool scatters = op.kind == step::OperatorKind::kReduceScatter;
  std::string text = fmt::format(
      R"(,"Collective name":"{}","dtype":"{}","In msg nelems":{},"Out msg nelems":{},)"
      R"("Group size":{},"Process Group Description":"{}","scheme":"{}")",
      collective_name(op.kind), dtype_name(op.dtype), gathers ? shard : op.payload_elements,
      scatters ? shard : op.payload_elements, group_size, name_of(plan::kGroupNames, op.group),
      name_of(step::kSchemeNames, op.scheme));
  if (op.repeats > 1) text += fmt::format(R"(,"repeats":{})", op.repeats);
  return text;
}

class TraceWriter {
 public:
  TraceWriter(const step::StepProgram& program, const TraceOptions& options, std::ostream& out)
      : program_(program), options_(options), out_(out) {
    for (const step::OperatorTemplate& piece : program.templates) {
      std::vector<Label>& labels = labels_.emplace_back();
      for (const step::Operator& op : piece.operators) {
        const std::string_view name =
            op.name.empty() ? name_of(step::kOperatorNames, op.kind) : op.name;
        labels.push_back(
            {quoted(name),
             fmt::format(R"("phase":"{}"{})", name_of(step::kPhaseNames, op.phase),
                         message_arguments(op, program.group_sizes[static_cast<int>(op.group)]))});
      }
    }
  }

  void write(const Simulation& simulation) {
    text_ += R"({"displayTimeUnit":"ms","traceEvents":[)";
    std::int32_t stage = -1;
    for (const TimelineEvent& event : simulation.events) {
      if (event.stage != stage) begin_stage(stage = event.stage);
      write_event(event);
    }
    text_ += "\n]}\n";
    flush();
  }

 private:
  /// The name and arguments of an operator in each of its events.
  struct Label {
    std::string name;
    std::string arguments;
  };
  /// The end of the last event in each row of a link class.
  struct LinkRows {
    std::array<std::int64_t, kMostLinkRows> end{};
    int count = 0;
  };

  void begin_stage(std::int32_t stage) {
    streams_ = 0;
    link_rows_ = {};
    std::string ranks;
    if (static_cast<std::size_t>(stage) < options_.ranks.size()) {
      ranks = options_.ranks[stage];
    } else {
      const auto stages = static_cast<std::int64_t>(program_.stages.size());
      const std::int64_t each = program_.ranks / stages;
      ranks = each > 1 ? fmt::format("ranks {}-{}", stage * each, (stage + 1) * each - 1)
                       : fmt::format("rank {}", stage);
    }
    name_row("process", stage, 0, fmt::format("stage {} ({})", stage, ranks), stage);
  }

  /// Writes the name of a process or a thread, and its position among the rows.
  void name_row(std::string_view what, std::int32_t pid, int tid, std::string_view name,
                int place) {
    open();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph":"M","name":"{0}_name","pid":{1},"tid":{2},"args":{{"name":{3}}}}},)"
                   "\n"
                   R"({{"ph":"M","name":"{0}_sort_index","pid":{1},"tid":{2},)"
                   R"("args":{{"sort_index":{4}}}}})",
                   what, pid, tid, quoted(name), place);
  }

  void write_event(const TimelineEvent& event) {
    const step::Operator& op = program_.templates[event.which].operators[event.operation];
    const int stream = static_cast<int>(op.stream);
    if ((streams_ & (1U << static_cast<unsigned>(stream))) == 0) {
      streams_ |= 1U << static_cast<unsigned>(stream);
      name_row("thread", event.stage, stream, name_of(step::kStreamNames, op.stream), stream);
    }
    const Label& label = labels_[event.which][event.operation];
    write_slice(event, "kernel", stream, label.name);
    fmt::format_to(std::back_inserter(text_), R"({},"layer":{},"micro_batch":{}}}}})",
                   label.arguments, event.layer, event.micro_batch);
    if (options_.prices != nullptr) write_link(event, label);
    if (text_.size() > kFlushBytes) flush();
  }

  void write_link(const TimelineEvent& event, const Label& label) {
    const cost::LinkClass link = (*options_.prices)[event.which][event.operation].link;
    const step::Operator& op = program_.templates[event.which].operators[event.operation];
    if (link == cost::LinkClass::kNone || !step::is_communication(op.kind) ||
        event.end_s <= event.start_s) {
      return;
    }
    LinkRows& rows = link_rows_[static_cast<int>(link)];
    int row = 0;
    while (row < rows.count && rows.end[row] > nanoseconds(event.start_s)) ++row;
    const int tid = (1 + static_cast<int>(link)) * kMostLinkRows + row;
    if (row == rows.count) {
      ++rows.count;
      name_row("thread", event.stage, tid,
               fmt::format("link {} {}", kLinkNames[static_cast<int>(link)], row + 1), tid);
    }
    rows.end[row] = nanoseconds(event.end_s);
    write_slice(event, "link", tid, label.name);
    text_ += "}}";
  }

  /// Writes a slice up to the start of its arguments' contents.
  void write_slice(const TimelineEvent& event, std::string_view category, int tid,
                   std::string_view name) {
    const std::int64_t start = nanoseconds(event.start_s);
    const std::int64_t length = nanoseconds(event.end_s) - start;
    open();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{}.{:03},)"
                   R"("dur":{}.{:03},"args":{{)",
                   category, name, event.stage, tid, start / 1000, start % 1000, length / 1000,
                   length % 1000);
  }

  void open() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
  }

  void flush() {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
  }

  const step::StepProgram& program_;
  const TraceOptions& options_;
  std::ostream& out_;
  std::vector<std::vector<Label>> labels_;
  std::string text_;
  bool first_ = true;
  unsigned streams_ = 0;  ///< Set of this stage's streams whose rows have been named.
  std::array<LinkRows, cost::kLinkClasses> link_rows_;
};

}  // namespace

void write_chrome_trace(const step::StepProgram& program, const Simulation& simulation,
                        const TraceOptions& options, std::ostream& out) {
  TraceWriter(program, options, out).write(simulation);
}

}  // namespace stepwright::simulate
