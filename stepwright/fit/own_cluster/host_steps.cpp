#include "stepwright/fit/own_cluster/host_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "stepwright/core/error.h"

namespace stepwright::fit {
namespace {

constexpr double kMicrosecond = 1e-6;
/// A step longer than a day means that the clock of the trace jumped.
constexpr double kLongestStep_us = 86'400e6;
/// A thread that does nothing for longer than this while a message is in progress waits for it.
constexpr double kShortestWait_us = 300;

constexpr std::string_view kStepMark = "ProfilerStep#";
constexpr std::string_view kUpdateMark = "Optimizer.step#";
constexpr std::string_view kNodeOfBackward = "autograd::engine::evaluate_function";

/// Names of DTensor's operators around those that it runs, in forward and backward.
constexpr auto kDispatchNames = std::to_array<std::string_view>(
    {"PythonSubclass", "_FromTorchTensor", "_ToTorchTensor", "Redistribute", "NestedRedistribute"});

bool dispatches(std::string_view name) {
  if (name.starts_with(kNodeOfBackward)) {
    name.remove_prefix(std::min(name.size(), kNodeOfBackward.size() + 2));  // ": "
  }
  return std::ranges::any_of(kDispatchNames, [&](auto part) { return name.starts_with(part); });
}

/// Intervals in order of time; they may overlap.
class Intervals {
 public:
  void add(double start_us, double end_us) { all_.emplace_back(start_us, end_us); }
  void sort() {
    std::ranges::sort(all_);
    std::vector<std::pair<double, double>> joined;
    for (const auto& [start, end] : all_) {
      if (!joined.empty() && start <= joined.back().second) {
        joined.back().second = std::max(joined.back().second, end);
      } else {
        joined.emplace_back(start, end);
      }
    }
    all_ = std::move(joined);
  }
  /// Returns how much of a stretch of time lies in the intervals.
  [[nodiscard]] double overlap_us(double start_us, double end_us) const {
    auto at =
        std::ranges::upper_bound(all_, start_us, {}, [](const auto& one) { return one.second; });
    double sum = 0;
    for (; at != all_.end() && at->first < end_us; ++at) {
      sum += std::min(end_us, at->second) - std::max(start_us, at->first);
    }
    return sum;
  }

 private:
  std::vector<std::pair<double, double>> all_;
};

/// The meaning of an operator of the traced thread.
struct Meaning {
  std::optional<step::OperatorKind> kind;
  bool certain = false;
  bool backward = false;
  step::Phase phase = step::Phase::kForward;
};

class HostReader {
 public:
  HostReader(const logs::KinetoTrace& trace, const TensorWidths& widths)
      : trace_(trace), widths_(widths) {
    find_marks();
    find_operators();
    find_meanings();
  }

  RankHostTrace read() {
    std::size_t next = 0;
    for (const logs::KinetoUserAnnotation& step : steps_) {
      while (next < order_.size() && op(order_[next]).start_us < step.start_us) ++next;
      take_step(step, next);
    }
    for (const int product : products_) take_product(product);
    return std::move(out_);
  }

 private:
  [[nodiscard]] const logs::KinetoOperator& op(int index) const {
    return trace_.operators[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] Meaning& meaning(int index) { return meanings_[static_cast<std::size_t>(index)]; }

  void find_marks() {
    for (const logs::KinetoUserAnnotation& mark : trace_.marks) {
      if (mark.name.starts_with(kStepMark) && mark.end_us > mark.start_us) add_step(mark);
      if (mark.name.starts_with(kUpdateMark)) updates_.add(mark.start_us, mark.end_us);
      if (mark.name.starts_with("gloo:")) messages_.add(mark.start_us, mark.end_us);
    }
    if (steps_.empty()) {
      fail_input(fmt::format(
          "{}: marks no step; call step() of torch.profiler.profile after each step", trace_.file));
    }
    std::ranges::sort(steps_, {}, &logs::KinetoUserAnnotation::start_us);
    updates_.sort();
    messages_.sort();
  }

  void add_step(const logs::KinetoUserAnnotation& mark) {
    const double length_us = mark.end_us - mark.start_us;
    if (length_us > kLongestStep_us) {
      fail_input(
          fmt::format("{}: {}: dur: {:g} us; a step takes less than a day: the clock of the "
                      "trace jumped",
                      trace_.file, mark.name, length_us));
    }
    steps_.push_back(mark);
  }

  /// Finds the operators of the thread that runs the steps; an operator comes before those that it
  /// encloses.
  void find_operators() {
    const int thread = steps_.front().thread;
    for (int i = 0; i < static_cast<int>(trace_.operators.size()); ++i) {
      if (op(i).thread == thread) order_.push_back(i);
    }
    check_durations();
    std::ranges::stable_sort(order_, {},
                             [this](int i) { return std::tuple(op(i).start_us, -op(i).end_us); });
    // The profiler ends its last step before anything happens in it.
    std::erase_if(steps_, [this](const logs::KinetoUserAnnotation& step) {
      return order_.empty() ||
             step.end_us > op(order_.back()).start_us + step.end_us - step.start_us;
    });
  }

  void check_durations() const {
    const auto lasts = [this](int i) { return op(i).end_us > op(i).start_us; };
    if (order_.empty() || std::ranges::any_of(order_, lasts)) return;
    fail_input(fmt::format("{}: dur: no operator lasts longer than 0 us; the durations are missing",
                           trace_.file));
  }

  void find_meanings() {
    meanings_.resize(trace_.operators.size());
    known_.reserve(trace_.signatures.size());
    for (const logs::KinetoOperatorSignature& one : trace_.signatures) {
      known_.push_back(recognise_pytorch_operator_kind(one, widths_));
    }
    for (const int i : order_) find_meaning(i);
    std::vector<bool> holds_product(trace_.operators.size(), false);
    for (auto i = order_.rbegin(); i != order_.rend(); ++i) {
      const auto index = static_cast<std::size_t>(*i);
      const bool product = host_matrix_product_sizes(trace_.signature_of(*i)).has_value();
      if (product && !holds_product[index]) products_.push_back(*i);
      const int parent = op(*i).parent;
      if (parent >= 0 && (product || holds_product[index])) {
        holds_product[static_cast<std::size_t>(parent)] = true;
      }
    }
    std::ranges::reverse(products_);
    for (const int i : products_) set_phase_of_product(i);
  }

  void find_meaning(int index) {
    const logs::KinetoOperator& one = op(index);
    const std::string_view name = trace_.signature_of(index).name;
    Meaning& mine = meaning(index);
    if (one.parent >= 0) mine = meaning(one.parent);
    const bool node = name.starts_with(kNodeOfBackward);
    const bool again = mine.backward && one.sequence >= 0 && !node &&
                       name.find("Backward") == std::string_view::npos &&
                       name.find("AccumulateGrad") == std::string_view::npos;
    if (node) mine = {.backward = true};
    if (again) mine.backward = false;
    const std::optional<HostOperatorKind>& own = known_[static_cast<std::size_t>(one.signature)];
    if (own && (own->certain || !mine.kind)) {
      mine.kind = own->kind;
      mine.certain = own->certain;
    } else if (node || (mine.backward && !mine.kind)) {
      const auto forward = forwards_.find(one.sequence);
      if (one.sequence >= 0 && forward != forwards_.end()) mine.kind = forward->second;
    }
    if (updates_.overlap_us(one.start_us, one.end_us) > 0) {
      mine = {.kind = step::OperatorKind::kOptimizer, .certain = true};
    }
    mine.phase = phase_of(mine);
    if (!mine.backward && one.sequence >= 0 && mine.kind) forwards_[one.sequence] = *mine.kind;
  }

  static step::Phase phase_of(const Meaning& meaning) {
    if (!meaning.kind) return step::Phase::kForward;
    switch (*meaning.kind) {
      case step::OperatorKind::kOptimizer:
      case step::OperatorKind::kNormSquare: return step::Phase::kOptimizer;
      case step::OperatorKind::kAccumulate: return step::Phase::kWeightGradient;
      default: return meaning.backward ? step::Phase::kDataGradient : step::Phase::kForward;
    }
  }

  /// Sets the phases of the two products of a backward: the one over the forward's rows is the
  /// weight gradient.
  void set_phase_of_product(int index) {
    const step::OperatorShape shape = *host_matrix_product_sizes(trace_.signature_of(index));
    Meaning& mine = meaning(index);
    if (!mine.backward) {
      rows_.insert(shape.rows);
    } else if (rows_.contains(shape.inner) && !rows_.contains(shape.rows)) {
      mine.phase = step::Phase::kWeightGradient;
    }
  }

  void take_step(const logs::KinetoUserAnnotation& step, std::size_t next) {
    out_.steps.push_back({.start_s = kMicrosecond * step.start_us,
                          .seconds = kMicrosecond * (step.end_us - step.start_us)});
    double at = step.start_us;
    std::vector<int> open;
    const auto close_until = [&](double until) {
      while (!open.empty() && op(open.back()).end_us <= until) {
        take_piece(at, op(open.back()).end_us, open.back(), open.back());
        at = std::max(at, op(open.back()).end_us);
        open.pop_back();
      }
    };
    for (; next < order_.size() && op(order_[next]).start_us < step.end_us; ++next) {
      const int one = order_[next];
      close_until(op(one).start_us);
      take_piece(at, op(one).start_us, open.empty() ? -1 : open.back(), one);
      at = std::max(at, op(one).start_us);
      open.push_back(one);
    }
    close_until(step.end_us);
    take_piece(at, step.end_us, -1, -1);
  }

  /// True for DTensor dispatch. Updates and norms also run over split parameters; dispatch inside
  /// them counts as theirs.
  [[nodiscard]] bool is_dispatch(int index) const {
    if (index < 0 || !dispatches(trace_.signature_of(index).name)) return false;
    return meanings_[static_cast<std::size_t>(index)].phase != step::Phase::kOptimizer;
  }

  /// Books a stretch of time in which operator `owner` itself ran (-1: none did) to the owner's
  /// kind, or if it has none to the kind of the operator `next`. Waits for messages and dispatch
  /// are booked apart.
  void take_piece(double start_us, double end_us, int owner, int next) {
    if (end_us <= start_us) return;
    HostThreadStep& step = out_.steps.back();
    double seconds = kMicrosecond * (end_us - start_us);
    const std::string_view name =
        owner < 0 ? std::string_view() : std::string_view(trace_.signature_of(owner).name);
    const bool waits = name.find("wait") != std::string_view::npos;
    const bool works = !waits && (name.starts_with("aten::") || name.starts_with("fsdp::"));
    if (!works) {
      const double beside_us = messages_.overlap_us(start_us, end_us);
      if (beside_us > kShortestWait_us || waits) {
        const double waited = waits ? seconds : kMicrosecond * beside_us;
        step.waiting += waited;
        seconds -= waited;
      }
    }
    if (is_dispatch(owner) || ((owner < 0 || !meaning(owner).kind) && is_dispatch(next))) {
      step.dispatch += seconds;
      return;
    }
    const int of = owner >= 0 && meaning(owner).kind ? owner : next;
    if (of < 0 || !meaning(of).kind) {
      step.unknown += seconds;
      return;
    }
    HostComputationSeconds& sum = step.kinds[{*meaning(of).kind, meaning(of).phase}];
    (works ? sum.busy : sum.host) += seconds;
  }

  void take_product(int index) {
    const logs::KinetoOperator& one = op(index);
    const bool counted = std::ranges::any_of(steps_, [&](const logs::KinetoUserAnnotation& step) {
      return one.start_us >= step.start_us && one.start_us < step.end_us;
    });
    if (!counted) return;
    const double length_us = one.end_us - one.start_us;
    out_.products.push_back(
        {.phase = meaning(index).phase,
         .shape = *host_matrix_product_sizes(trace_.signature_of(index)),
         .seconds = kMicrosecond * length_us,
         .beside = 2 * messages_.overlap_us(one.start_us, one.end_us) > length_us});
  }

  const logs::KinetoTrace& trace_;
  const TensorWidths& widths_;
  std::vector<logs::KinetoUserAnnotation> steps_;
  Intervals updates_;
  Intervals messages_;
  std::vector<int> order_;
  std::vector<int> products_;
  std::vector<Meaning> meanings_;
  /// Computation of each signature, once it is known.
  std::vector<std::optional<HostOperatorKind>> known_;
  /// Kinds of forward operators, by sequence number.
  std::unordered_map<std::int64_t, step::OperatorKind> forwards_;
  /// Rows of products of the forward.
  std::set<std::int64_t> rows_;
  RankHostTrace out_;
};

}  // namespace

RankHostTrace read_host_trace_steps(const logs::KinetoTrace& trace, const TensorWidths& widths) {
  return HostReader(trace, widths).read();
}

}  // namespace stepwright::fit
