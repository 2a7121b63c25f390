#include "stepwright/fit/samples/kineto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using TraceJson = nlohmann::json;

/// Kernels that run beside others for a smaller share of their time count as alone.
constexpr double kBeside = 0.02;

/// Where an operator stood on the host.
struct Span {
  std::string thread;
  double start_us = 0;
  double end_us = 0;
};

double number_of(const TraceJson& object, const char* key, double otherwise = 0) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::int64_t integer_of(const TraceJson& object, const char* key, std::int64_t otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                             : otherwise;
}

/// A text as it is, a number as JSON, a list of these in brackets; what holds more is nothing.
std::string text_of(const TraceJson& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_primitive()) return value.dump();
  if (!value.is_array()) return {};
  std::string text;
  for (const TraceJson& item : value) {
    if (item.is_primitive()) text += (text.empty() ? "" : ", ") + item.dump();
  }
  return "[" + text + "]";
}

std::string text_of(const TraceJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string() : text_of(*found);
}

std::vector<std::string> texts_of(const TraceJson& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const TraceJson& item : *found) texts.push_back(text_of(item));
  return texts;
}

/// Sizes of one tensor; nothing for a list of tensors.
std::vector<std::int64_t> sizes_of(const TraceJson& list) {
  std::vector<std::int64_t> sizes;
  if (!list.is_array()) return sizes;
  for (const TraceJson& size : list) {
    if (!size.is_number_integer()) return {};
    sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

KinetoMessage message_of(const TraceJson& args) {
  const auto even = [&](const char* key) {
    const std::string sizes = text_of(args, key);
    return sizes.empty() || sizes == "[]";
  };
  return {.collective = text_of(args, "Collective name"),
          .dtype = text_of(args, "dtype"),
          .ranks = text_of(args, "Process Group Ranks"),
          .in_elements = integer_of(args, "In msg nelems", 0),
          .out_elements = integer_of(args, "Out msg nelems", 0),
          .group_size = integer_of(args, "Group size", 0),
          .even = even("In split size") && even("Out split size")};
}

/// Takes the events of a file one by one, so that the whole never stands in memory as JSON.
class Collector {
 public:
  explicit Collector(KinetoTrace& trace) : trace_(trace) {}

  void add(const TraceJson& event) {
    ++events_;
    const std::string category = text_of(event, "cat");
    const auto args = event.find("args");
    const TraceJson& given = args != event.end() && args->is_object() ? *args : nothing_;
    if (category == "cpu_op") add_operator(event, given);
    if (category == "kernel") add_kernel(event, given);
    if (category == "cuda_runtime" || category == "cuda_driver") {
      launches_.try_emplace(integer_of(given, "correlation", -1), external_id(given));
    }
  }

  void finish() {
    nest();
    for (std::size_t i = 0; i < trace_.kernels.size(); ++i) join(trace_.kernels[i], links_[i]);
    find_company();
  }

 private:
  /// How a kernel says who launched it.
  struct Link {
    std::int64_t external = -1;
    std::int64_t correlation = -1;
    std::string stream;
  };

  static std::int64_t external_id(const TraceJson& args) {
    return integer_of(args, "External id", integer_of(args, "external id", -1));
  }

  void add_operator(const TraceJson& event, const TraceJson& args) {
    KinetoOperator op{.name = text_of(event, "name"),
                      .dims = {},
                      .types = texts_of(args, "Input type"),
                      .values = texts_of(args, "Concrete Inputs"),
                      .sequence = integer_of(args, "Sequence number", -1)};
    if (const auto dims = args.find("Input Dims"); dims != args.end() && dims->is_array()) {
      for (const TraceJson& list : *dims) op.dims.push_back(sizes_of(list));
    }
    by_external_.try_emplace(external_id(args), static_cast<int>(trace_.operators.size()));
    trace_.operators.push_back(std::move(op));
    const double start_us = number_of(event, "ts");
    spans_.push_back({text_of(event, "pid") + " " + text_of(event, "tid"), start_us,
                      start_us + number_of(event, "dur")});
  }

  void add_kernel(const TraceJson& event, const TraceJson& args) {
    KinetoKernel kernel{.event = events_,
                        .name = text_of(event, "name"),
                        .start_us = number_of(event, "ts"),
                        .duration_us = number_of(event, "dur")};
    if (kernel.name.starts_with("nccl")) kernel.message = message_of(args);
    trace_.kernels.push_back(std::move(kernel));
    links_.push_back({external_id(args), integer_of(args, "correlation", -1),
                      text_of(event, "pid") + " " + text_of(event, "tid")});
  }

  void nest() {
    std::vector<int> order(spans_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int i) {
      return std::tuple(std::string_view(spans_[i].thread), spans_[i].start_us, -spans_[i].end_us);
    });
    std::vector<int> open;
    for (const int i : order) {
      const auto encloses = [&](int outer) {
        return spans_[outer].thread == spans_[i].thread && spans_[i].end_us <= spans_[outer].end_us;
      };
      while (!open.empty() && !encloses(open.back())) open.pop_back();
      trace_.operators[i].parent = open.empty() ? -1 : open.back();
      open.push_back(i);
    }
  }

  void join(KinetoKernel& kernel, const Link& link) const {
    const auto launch = launches_.find(link.correlation);
    for (const std::int64_t id : {link.external, launch == launches_.end() ? -1 : launch->second}) {
      const auto found = by_external_.find(id);
      if (id < 0 || found == by_external_.end()) continue;
      kernel.op = found->second;
      return;
    }
  }

  /// Kernels of one stream never overlap, so each stream is a sorted list of disjoint intervals.
  void find_company() {
    std::map<std::string, std::vector<const KinetoKernel*>> streams;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      streams[links_[i].stream].push_back(&trace_.kernels[i]);
    }
    for (auto& [name, kernels] : streams) {
      std::ranges::stable_sort(kernels, {}, [](const auto* kernel) { return kernel->start_us; });
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      KinetoKernel& kernel = trace_.kernels[i];
      double beside_us = 0;
      for (const auto& [name, others] : streams) {
        if (name != links_[i].stream) beside_us += overlap_us(kernel, others);
      }
      kernel.alone = beside_us <= kBeside * kernel.duration_us;
    }
  }

  static double overlap_us(const KinetoKernel& kernel,
                           const std::vector<const KinetoKernel*>& others) {
    const double end_us = kernel.start_us + kernel.duration_us;
    auto other = std::ranges::lower_bound(others, kernel.start_us, {},
                                          [](const auto* one) { return one->start_us; });
    if (other != others.begin()) --other;
    double sum_us = 0;
    for (; other != others.end() && (*other)->start_us < end_us; ++other) {
      sum_us += std::max(0.0, std::min(end_us, (*other)->start_us + (*other)->duration_us) -
                                  std::max(kernel.start_us, (*other)->start_us));
    }
    return sum_us;
  }

  KinetoTrace& trace_;
  const TraceJson nothing_ = TraceJson::object();
  std::size_t events_ = 0;
  std::vector<Span> spans_;  ///< Of the operators.
  std::vector<Link> links_;  ///< Of the kernels.
  std::map<std::int64_t, int> by_external_;
  std::map<std::int64_t, std::int64_t> launches_;  ///< External id by correlation.
};

/// The document without its events, which `collector` took.
TraceJson parse_trace(std::string_view text, const std::string& file, Collector& collector) {
  const TraceJson::parser_callback_t take = [&](int depth, TraceJson::parse_event_t event,
                                                TraceJson& parsed) {
    if (depth != 2 || event != TraceJson::parse_event_t::object_end) return true;
    if (!parsed.contains("ph")) return true;
    collector.add(parsed);
    return false;
  };
  try {
    return TraceJson::parse(text, take);
  } catch (const TraceJson::exception& error) {
    fail_input(
        fmt::format("{}: is no JSON: {}; a trace is what export_chrome_trace of "
                    "torch.profiler writes",
                    file, error.what()));
  }
}

}  // namespace

bool is_kineto_trace(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  return text[first] == '{' || text[first] == '[' || text.starts_with("\x1f\x8b");
}

KinetoTrace read_kineto_trace(std::string_view text, const std::string& file) {
  if (text.starts_with("\x1f\x8b")) {
    fail_input(fmt::format("{}: is packed; unpack it first (gunzip)", file));
  }
  KinetoTrace trace{.file = file};
  Collector collector(trace);
  const TraceJson document = parse_trace(text, file, collector);
  if (!document.is_object() || !document.contains("traceEvents")) {
    fail_input(
        fmt::format("{}: has no `traceEvents`; a trace is what export_chrome_trace of "
                    "torch.profiler writes",
                    file));
  }
  if (trace.kernels.empty()) {
    fail_input(
        fmt::format("{}: has no kernels; profile with activities=[ProfilerActivity.CPU, "
                    "ProfilerActivity.CUDA]",
                    file));
  }
  collector.finish();
  if (const auto devices = document.find("deviceProperties");
      devices != document.end() && devices->is_array() && !devices->empty()) {
    trace.device = text_of(devices->front(), "name");
  }
  return trace;
}

}  // namespace stepwright
