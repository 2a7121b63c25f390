#include "stepwright/logs/readers/kineto_trace.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "stepwright/core/error.h"
#include "stepwright/logs/files/json_fields.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

/// A kernel counts as running alone if kernels of other streams overlap less than this share of its
/// time.
constexpr double kBeside = 0.02;

std::vector<std::string> texts_of(const dom::element& object, std::string_view key) {
  std::vector<std::string> texts;
  dom::array list;
  if (object[key].get(list) != simdjson::SUCCESS) return texts;
  for (const dom::element item : list) texts.push_back(spelt(item));
  return texts;
}

/// Returns the shape of one tensor; empty for a list of tensors.
std::vector<std::int64_t> sizes_of(const dom::element& list) {
  std::vector<std::int64_t> sizes;
  dom::array items;
  if (list.get(items) != simdjson::SUCCESS) return sizes;
  for (const dom::element item : items) {
    std::int64_t size = 0;
    if (item.get(size) != simdjson::SUCCESS) return {};
    sizes.push_back(size);
  }
  return sizes;
}

/// Returns the duration of an event in microseconds; 0: it has none or a negative one.
double length_us(const dom::element& event) {
  return std::max(0.0, number_in(event, "dur").value_or(0));
}

std::int64_t whole_of(const dom::element& object, std::string_view key, std::int64_t otherwise) {
  std::int64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

/// Values by the ids with which events refer to each other; of equal ids the first value is kept.
template <class Value>
class FirstById {
 public:
  void add(std::int64_t id, Value value) { entries_.emplace_back(id, value); }
  void sort() {
    std::ranges::stable_sort(entries_, {}, [](const auto& entry) { return entry.first; });
  }
  /// Returns the first value with an id; null if there is none.
  const Value* find(std::int64_t id) const {
    const auto found =
        std::ranges::lower_bound(entries_, id, {}, [](const auto& entry) { return entry.first; });
    return found != entries_.end() && found->first == id ? &found->second : nullptr;
  }

 private:
  std::vector<std::pair<std::int64_t, Value>> entries_;
};

/// Returns the name of the first device in a list of device properties.
std::string first_device(std::string_view properties) {
  dom::parser parser;
  dom::element device;
  if (parser.parse(std::string(properties)).at(0).get(device) != simdjson::SUCCESS) return {};
  return json_field_as_written(device, "name");
}

class KinetoOperators : public KinetoTraceConsumer {
 public:
  explicit KinetoOperators(KinetoTrace& trace) : trace_(trace) {}

  void take(const KinetoEvent& from) override {
    const bool launch = from.category == "cuda_runtime" || from.category == "cuda_driver";
    const bool mark = from.category == "user_annotation";
    const bool kernel = from.category == "kernel";
    if (!launch && !mark && !kernel && from.category != "cpu_op") return;
    if (from.parsed_event_json() == nullptr) {
      fail_input(
          fmt::format("{}: byte {}: is not JSON; a trace is what export_chrome_trace of "
                      "torch.profiler writes",
                      trace_.file, from.offset + 1));
    }
    const dom::element& event = *from.parsed_event_json();
    dom::element args = event;  // an event without `args` has none of the keys below either
    if (event["args"].get(args) != simdjson::SUCCESS) args = event;
    if (launch) return launches_.add(whole_of(args, "correlation", -1), external_id(args));
    if (mark) return add_mark(event);
    kernel ? add_kernel(from, args) : add_operator(event, args);
  }

  void receive_trace_document_member(const JsonPiece& member) override {
    if (member.key == "deviceProperties") trace_.device = first_device(member.text);
  }

  void finish() override {
    by_external_.sort();
    launches_.sort();
    nest();
    for (std::size_t i = 0; i < trace_.kernels.size(); ++i) join(trace_.kernels[i], links_[i]);
    find_company();
  }

 private:
  /// The ids by which a kernel refers to the operator that launched it.
  struct Link {
    std::int64_t external = -1;
    std::int64_t correlation = -1;
    int stream = 0;
  };

  static std::int64_t external_id(const dom::element& args) {
    return whole_of(args, "External id", whole_of(args, "external id", -1));
  }

  /// Returns a number for each host thread or device stream.
  int lane_of(const dom::element& event) {
    return lanes_
        .try_emplace(
            json_field_as_written(event, "pid") + " " + json_field_as_written(event, "tid"),
            static_cast<int>(lanes_.size()))
        .first->second;
  }

  void add_operator(const dom::element& event, const dom::element& args) {
    by_external_.add(external_id(args), static_cast<int>(trace_.operators.size()));
    const double start_us = number_in(event, "ts").value_or(0);
    trace_.operators.push_back({.signature = signature_of(event, args),
                                .sequence = whole_of(args, "Sequence number", -1),
                                .thread = lane_of(event),
                                .start_us = start_us,
                                .end_us = start_us + length_us(event)});
  }

  void add_mark(const dom::element& event) {
    const double start_us = number_in(event, "ts").value_or(0);
    trace_.marks.push_back({.name = json_field_as_written(event, "name"),
                            .thread = lane_of(event),
                            .start_us = start_us,
                            .end_us = start_us + length_us(event)});
  }

  int signature_of(const dom::element& event, const dom::element& args) {
    std::string key(json_text_field(event, "name"));
    for (const std::string_view part : {"Input Dims", "Input type", "Concrete Inputs"}) {
      dom::element value;
      key += '\n';
      if (args[part].get(value) == simdjson::SUCCESS) key += simdjson::minify(value);
    }
    const auto [place, fresh] =
        signatures_.try_emplace(std::move(key), static_cast<int>(trace_.signatures.size()));
    if (!fresh) return place->second;
    KinetoOperatorSignature signature{.name = json_field_as_written(event, "name"),
                                      .dims = {},
                                      .types = texts_of(args, "Input type"),
                                      .values = texts_of(args, "Concrete Inputs")};
    dom::array dims;
    if (args["Input Dims"].get(dims) == simdjson::SUCCESS) {
      for (const dom::element list : dims) signature.dims.push_back(sizes_of(list));
    }
    trace_.signatures.push_back(std::move(signature));
    return place->second;
  }

  int name_of(const dom::element& event) {
    const auto [place, fresh] = names_.try_emplace(std::string(json_text_field(event, "name")),
                                                   static_cast<int>(trace_.names.size()));
    if (fresh) trace_.names.push_back(place->first);
    return place->second;
  }

  void add_kernel(const KinetoEvent& from, const dom::element& args) {
    const dom::element& event = *from.parsed_event_json();
    KinetoKernel kernel{.event = static_cast<std::size_t>(from.number),
                        .name = name_of(event),
                        .start_us = number_in(event, "ts").value_or(0),
                        .duration_us = length_us(event)};
    if (trace_.name_of(kernel).starts_with("nccl")) {
      kernel.message = static_cast<int>(trace_.messages.size());
      trace_.messages.push_back(read_self_described_trace_call(event, from.number));
    }
    trace_.kernels.push_back(kernel);
    links_.push_back({external_id(args), whole_of(args, "correlation", -1), lane_of(event)});
  }

  void nest() {
    std::vector<KinetoOperator>& operators = trace_.operators;
    std::vector<int> order(operators.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int i) {
      return std::tuple(operators[i].thread, operators[i].start_us, -operators[i].end_us);
    });
    std::vector<int> open;
    for (const int i : order) {
      const auto encloses = [&](int outer) {
        return operators[outer].thread == operators[i].thread &&
               operators[i].end_us <= operators[outer].end_us;
      };
      while (!open.empty() && !encloses(open.back())) open.pop_back();
      operators[i].parent = open.empty() ? -1 : open.back();
      open.push_back(i);
    }
  }

  void join(KinetoKernel& kernel, const Link& link) const {
    const std::int64_t* launch = launches_.find(link.correlation);
    for (const std::int64_t id : {link.external, launch == nullptr ? -1 : *launch}) {
      const int* op = id < 0 ? nullptr : by_external_.find(id);
      if (op == nullptr) continue;
      kernel.op = *op;
      return;
    }
  }

  /// Finds kernels that overlap others. Kernels of one stream never overlap, so each stream is a
  /// sorted list of disjoint intervals.
  void find_company() {
    std::map<int, std::vector<const KinetoKernel*>> streams;
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
  std::vector<Link> links_;  ///< Launch ids of the kernels.
  std::map<std::string, int> lanes_;
  std::unordered_map<std::string, int> signatures_;
  std::unordered_map<std::string, int> names_;
  FirstById<int> by_external_;
  FirstById<std::int64_t> launches_;  ///< External id by correlation.
};

}  // namespace

std::unique_ptr<KinetoTraceConsumer> make_kineto_operator_consumer(KinetoTrace& trace) {
  return std::make_unique<KinetoOperators>(trace);
}

}  // namespace stepwright::logs
