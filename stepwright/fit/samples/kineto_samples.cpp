#include "stepwright/fit/samples/kineto_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/fit/samples/kineto_operator.h"

namespace stepwright::fit {
namespace {

struct DriverName {
  std::string_view begins;
  std::string_view device;
};
/// The driver's names of devices, more special names first.
constexpr DriverName kDriverNames[] = {{"NVIDIA A100-SXM4-80GB", "a100-sxm-80g"},
                                       {"NVIDIA A100-SXM4-40GB", "a100-sxm-40g"},
                                       {"NVIDIA A100-SXM-80GB", "a100-sxm-80g"},
                                       {"NVIDIA A100 80GB PCIe", "a100-pcie-80g"},
                                       {"NVIDIA A800-SXM4-80GB", "a800-sxm-80g"},
                                       {"NVIDIA A40", "a40"},
                                       {"NVIDIA H100 80GB HBM3", "h100-sxm-80g"},
                                       {"NVIDIA H100 PCIe", "h100-pcie-80g"},
                                       {"NVIDIA H200", "h200-sxm"},
                                       {"NVIDIA H800", "h800-sxm-80g"},
                                       {"NVIDIA GH200 120GB", "gh200-96g"},
                                       {"NVIDIA B200", "b200-sxm"},
                                       {"NVIDIA B300", "b300-sxm"},
                                       {"NVIDIA GB200", "gb200"},
                                       {"NVIDIA GB300", "gb300"},
                                       {"Tesla V100-SXM2-16GB", "v100-sxm-16g"},
                                       {"Tesla V100-SXM2-32GB", "v100-sxm-32g"},
                                       {"Tesla V100-SXM3-32GB", "v100-sxm-32g"}};

constexpr std::string_view kNodeScope = "autograd::engine::evaluate_function";

bool is_product(const TranslatedOperator& mapped) {
  return mapped.what == cost::OperatorClass::kProduct ||
         mapped.what == cost::OperatorClass::kScores ||
         mapped.what == cost::OperatorClass::kAttendValues;
}

/// The kernels of one operator call, added up.
struct Timed {
  double seconds = 0;
  std::size_t kernels = 0;
  std::size_t event = 0;  ///< Number of the first kernel's event.
  bool alone = true;

  void add(const Timed& other) {
    event = kernels == 0 ? other.event : std::min(event, other.event);
    seconds += other.seconds;
    kernels += other.kernels;
    alone = alone && other.alone;
  }
};

/// The fields that two operators share if they are the same sample.
using SampleKey = std::tuple<std::string, cost::OperatorClass, cost::OperatorPass,
                             step::OperatorShape, DType, cluster::AttentionKernel>;

class TraceReader {
 public:
  explicit TraceReader(const logs::KinetoTrace& trace)
      : trace_(trace),
        softmaxes_(softmax_sizes(trace)),
        device_(device_of_driver_name(trace.device)) {}

  TraceOperatorSamples read() {
    for (const logs::KinetoKernel& kernel : trace_.kernels) place(kernel);
    for (const auto& [op, timed] : operators_) take(op, timed);
    for (const auto& [node, products] : nodes_) take_backward(node, products);
    keep_one_attention();
    out_.table.file = trace_.file;
    for (const auto& [key, times] : times_) add_sample(key, times);
    std::ranges::stable_sort(out_.table.samples, {}, &OperatorSample::line);
    return std::move(out_);
  }

 private:
  /// The times of one sample, and its operator.
  struct Times {
    TranslatedOperator mapped;
    std::vector<Timed> all;
  };

  void skip(const std::string& name, const std::string& reason, const Timed& timed) {
    UnusedKernels& unused = out_.unused[{name, reason}];
    unused.kernels += timed.kernels;
    unused.seconds += timed.seconds;
  }

  /// Returns the mapped operator of a kernel: the innermost one, where elementwise operators yield
  /// to others.
  [[nodiscard]] int operator_of(const logs::KinetoKernel& kernel) const {
    int elementwise = -1;
    for (int at = kernel.op; at >= 0; at = trace_.operators[at].parent) {
      const KinetoOperatorRole role = role_of(trace_.signature_of(at).name);
      if (role == KinetoOperatorRole::kMapped) return at;
      if (role == KinetoOperatorRole::kElementwise && elementwise < 0) elementwise = at;
    }
    return elementwise;
  }

  void place(const logs::KinetoKernel& kernel) {
    if (kernel.message >= 0) return;
    const Timed timed{1e-6 * kernel.duration_us, 1, kernel.event, kernel.alone};
    const int op = operator_of(kernel);
    if (op >= 0) return operators_[op].add(timed);
    skip(kernel.op < 0 ? trace_.name_of(kernel) : trace_.signature_of(kernel.op).name,
         kernel.op < 0 ? "launched by no operator" : "no operator of ours", timed);
  }

  /// Returns the backward node in which an operator runs: the nearest "...Backward"; -1 in a
  /// forward. A checkpoint's node runs the forward again.
  [[nodiscard]] int node_of(int op) const {
    for (int at = trace_.operators[op].parent; at >= 0; at = trace_.operators[at].parent) {
      const std::string& name = trace_.signature_of(at).name;
      if (name.starts_with(kNodeScope)) continue;
      if (name.find("Checkpoint") != std::string::npos) return -1;
      if (name.find("Backward") != std::string::npos && trace_.operators[at].sequence >= 0)
        return at;
    }
    return -1;
  }

  void take(int op, const Timed& timed) {
    const logs::KinetoOperatorSignature& given = trace_.signature_of(op);
    const auto result = timing_sample_of_profiled_operator(given, softmaxes_);
    if (const auto* unmapped = std::get_if<UntranslatedReason>(&result)) {
      return skip(given.name, unmapped->reason, timed);
    }
    const auto& mapped = std::get<TranslatedOperator>(result);
    const int node = node_of(op);
    if (is_product(mapped)) {
      if (node >= 0) {
        nodes_[node].push_back({mapped, timed, given.name});
        return;
      }
      remember(op, mapped);
    } else if (node >= 0 && mapped.pass == cost::OperatorPass::kForward) {
      return skip(given.name, "in the backward", timed);
    }
    measure(given.name, mapped, timed);
  }

  void measure(const std::string& name, const TranslatedOperator& mapped, const Timed& timed) {
    if (!timed.alone) return skip(name, "beside another kernel", timed);
    if (!(timed.seconds > 0)) return skip(name, "no duration", timed);
    Times& times =
        times_[{name, mapped.what, mapped.pass, mapped.op.shape, mapped.op.dtype, mapped.kernel}];
    times.mapped = mapped;
    times.all.push_back(timed);
  }

  /// Stores a forward product under the sequence numbers of all operators that enclose it.
  void remember(int op, const TranslatedOperator& mapped) {
    for (int at = op; at >= 0; at = trace_.operators[at].parent) {
      const std::int64_t sequence = trace_.operators[at].sequence;
      if (sequence >= 0) forwards_[sequence].push_back({mapped, {}, trace_.signature_of(op).name});
    }
  }

  struct Product {
    TranslatedOperator mapped;
    Timed timed;
    std::string name;
  };

  /// Returns the sizes of a product in sorted order, which its two gradients share.
  static std::array<std::int64_t, 4> sorted_sizes(const TranslatedOperator& mapped) {
    const step::OperatorShape& s = mapped.op.shape;
    std::array<std::int64_t, 4> sizes = {s.batch * s.heads, s.rows, s.columns, s.inner};
    if (mapped.what == cost::OperatorClass::kScores ||
        mapped.what == cost::OperatorClass::kAttendValues) {
      sizes = {s.batch * s.heads, s.queries, s.keys, s.head_dim};
    }
    std::ranges::sort(sizes);
    return sizes;
  }

  /// Returns the forward product of a backward node; null unless exactly one kind fits its
  /// products.
  [[nodiscard]] const Product* forward_of(int node, const std::vector<Product>& products) const {
    const auto found = forwards_.find(trace_.operators[node].sequence);
    if (found == forwards_.end()) return nullptr;
    const std::vector<Product>& forwards = found->second;
    const TranslatedOperator& first = forwards.front().mapped;
    const auto same = [&](const Product& other) {
      return other.mapped.what == first.what && other.mapped.op.shape == first.op.shape;
    };
    const auto fits = [&](const Product& gradient) {
      return sorted_sizes(gradient.mapped) == sorted_sizes(first);
    };
    const bool plain = std::ranges::all_of(forwards, same) && std::ranges::all_of(products, fits);
    return plain ? &forwards.front() : nullptr;
  }

  void take_backward(int node, const std::vector<Product>& products) {
    Timed sum;
    for (const Product& product : products) sum.add(product.timed);
    const std::string& name = trace_.signature_of(node).name;
    if (products.size() != 2) return skip(name, "not the two gradients of a product", sum);
    const Product* forward = forward_of(node, products);
    if (forward == nullptr) return skip(name, "no product of the forward fits", sum);
    TranslatedOperator mapped = forward->mapped;
    mapped.pass = cost::OperatorPass::kBackward;
    measure(forward->name, mapped, sum);
  }

  /// Keeps the attention kernel with most samples, since a profile has only one.
  void keep_one_attention() {
    std::map<cluster::AttentionKernel, std::size_t> counts;
    for (const auto& [key, times] : times_) {
      if (times.mapped.what == cost::OperatorClass::kAttention) ++counts[times.mapped.kernel];
    }
    if (counts.size() < 2) return;
    const cluster::AttentionKernel most =
        std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
    std::erase_if(times_, [&](const auto& entry) {
      const auto& [key, times] = entry;
      if (times.mapped.what != cost::OperatorClass::kAttention || times.mapped.kernel == most)
        return false;
      for (const Timed& timed : times.all) {
        skip(std::get<std::string>(key), "a second kernel of attention", timed);
      }
      return true;
    });
  }

  void add_sample(const SampleKey& key, const Times& times) {
    std::vector<double> seconds;
    for (const Timed& timed : times.all) seconds.push_back(timed.seconds);
    const auto middle = seconds.begin() + std::ssize(seconds) / 2;
    std::ranges::nth_element(seconds, middle);
    OperatorSample sample{.name = std::get<std::string>(key),
                          .what = times.mapped.what,
                          .op = times.mapped.op,
                          .hold_out = times.mapped.hold_out,
                          .device = device_,
                          .kernel = times.mapped.kernel,
                          .line = times.all.front().event};
    (times.mapped.pass == cost::OperatorPass::kForward ? sample.forward_s : sample.backward_s) =
        *middle;
    out_.table.samples.push_back(std::move(sample));
  }

  const logs::KinetoTrace& trace_;
  SoftmaxSizes softmaxes_;
  std::string device_;
  std::map<int, Timed> operators_;
  std::map<int, std::vector<Product>> nodes_;
  /// Products of forwards, by sequence number.
  std::map<std::int64_t, std::vector<Product>> forwards_;
  std::map<SampleKey, Times> times_;
  TraceOperatorSamples out_;
};

}  // namespace

TraceOperatorSamples read_trace_operators(const logs::KinetoTrace& trace) {
  if (trace.operators.empty()) {
    fail_input(
        fmt::format("{}: has kernels but no operators (cat: cpu_op); profile with "
                    "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
                    trace.file));
  }
  const auto has_sizes = [](const logs::KinetoOperatorSignature& op) { return !op.dims.empty(); };
  if (std::ranges::none_of(trace.signatures, has_sizes)) {
    fail_input(
        fmt::format("{}: no operator has its sizes (Input Dims); profile with "
                    "record_shapes=True",
                    trace.file));
  }
  return TraceReader(trace).read();
}

std::string device_of_driver_name(const std::string& name) {
  for (const DriverName& known : kDriverNames) {
    if (name.starts_with(known.begins)) return std::string(known.device);
  }
  return {};
}

}  // namespace stepwright::fit
