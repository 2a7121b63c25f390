#include "stepwright/step/pair.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

namespace stepwright::step {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Stream of a message in a pair: each scheme has a stream of its own, so that a message waits only
/// for its operands.
DeviceStream stream_of(const Operator& op) {
  if (!is_communication(op.kind) || op.stream != DeviceStream::kCompute) return op.stream;
  switch (op.scheme) {
    case ParallelismScheme::kTensor: return DeviceStream::kTensor;
    case ParallelismScheme::kContext: return DeviceStream::kContext;
    case ParallelismScheme::kExpert: return DeviceStream::kExpert;
    default: return op.stream;
  }
}

/// Chooses an order of issue by simulating it.
class Issuer {
 public:
  Issuer(const OperatorTemplate& forward, const OperatorTemplate& backward,
         const OperatorSeconds& seconds) {
    strands_[0] = strand_of(forward, seconds);
    strands_[1] = strand_of(backward, seconds);
  }

  PairOrder run() {
    const std::size_t all = strands_[0].seconds.size() + strands_[1].seconds.size();
    while (order_.size() < all) {
      if (!issue_message()) issue_computation();
    }
    return order_;
  }

 private:
  struct Strand {
    const OperatorTemplate* piece = nullptr;
    std::vector<double> seconds;
    /// Time in seconds at which each issued operator ends; `kNever`: not issued yet.
    std::vector<double> ends;
    /// For each operator, the seconds of computation from it to its strand's next message.
    std::vector<double> until_message;
    /// For each stream, the operators that must keep their order; the next one is last in the list.
    std::array<std::vector<std::size_t>, kStreams> queues;
    /// Weight gradients that are not issued yet, in their order.
    std::vector<std::size_t> fillers;
  };
  struct Choice {
    std::size_t strand = 0;
    std::size_t op = 0;
    double start_s = kNever;
    bool found = false;
  };

  static Strand strand_of(const OperatorTemplate& piece, const OperatorSeconds& seconds) {
    Strand strand{.piece = &piece};
    const std::size_t count = piece.operators.size();
    for (const Operator& op : piece.operators) strand.seconds.push_back(seconds(op));
    strand.ends.assign(count, kNever);
    strand.until_message.assign(count, kNever);
    double ahead = kNever;
    for (std::size_t i = count; i-- > 0;) {
      const Operator& op = piece.operators[i];
      if (stream_of(op) != DeviceStream::kCompute) {
        ahead = 0;
      } else if (!is_filler(op)) {
        ahead += strand.seconds[i];
      }
      strand.until_message[i] = ahead;
      const bool waits = stream_of(op) == DeviceStream::kCompute && is_filler(op);
      (waits ? strand.fillers : strand.queues[static_cast<std::size_t>(stream_of(op))])
          .push_back(i);
    }
    std::reverse(strand.fillers.begin(), strand.fillers.end());
    return strand;
  }

  static bool is_filler(const Operator& op) {
    return op.phase == Phase::kWeightGradient && !is_communication(op.kind);
  }

  /// Time at which an operator's dependences have ended; `kNever` if one is not issued yet.
  static double ready_s(const Strand& strand, std::size_t op) {
    double ready = 0;
    for (const std::int32_t other : strand.piece->after(strand.piece->operators[op])) {
      ready = std::max(ready, strand.ends[static_cast<std::size_t>(other)]);
    }
    return ready;
  }

  /// Issues the next message, if one is ready; returns whether it did. Messages of one stream keep
  /// their strand's order, so only the first of each stream is considered.
  bool issue_message() {
    Choice best;
    for (std::size_t s = 0; s < strands_.size(); ++s) {
      const Strand& strand = strands_[s];
      for (std::size_t stream = 0; stream < kStreams; ++stream) {
        const std::vector<std::size_t>& queue = strand.queues[stream];
        if (stream == static_cast<std::size_t>(DeviceStream::kCompute) || queue.empty()) continue;
        const double ready = ready_s(strand, queue.back());
        if (ready == kNever) continue;
        const Choice own{s, queue.back(), std::max(ready, free_s_[stream]), true};
        if (std::tie(own.start_s, own.strand, own.op) <
            std::tie(best.start_s, best.strand, best.op)) {
          best = own;
        }
      }
    }
    if (best.found) issue(best);
    return best.found;
  }

  /// Issues the computation that can start first: the next of a strand, or a weight gradient. On a
  /// tie, weight gradients come last, and the computation with the least work before its strand's
  /// next message comes first.
  void issue_computation() {
    const double now = free_s_[static_cast<std::size_t>(DeviceStream::kCompute)];
    Choice best;
    std::array<double, 2> rank{};
    const auto see = [&](std::size_t s, std::size_t i, bool filler) {
      const double ready = ready_s(strands_[s], i);
      if (ready == kNever) return;
      const double start = std::max(ready, now);
      const std::array<double, 2> own{filler ? 1.0 : 0.0, strands_[s].until_message[i]};
      const bool better = start < best.start_s || (start == best.start_s && own < rank);
      if (best.found && !better) return;
      best = {s, i, start, true};
      rank = own;
    };
    for (std::size_t s = 0; s < strands_.size(); ++s) {
      const auto& queue = strands_[s].queues[static_cast<std::size_t>(DeviceStream::kCompute)];
      if (!queue.empty()) see(s, queue.back(), false);
      for (const std::size_t i : strands_[s].fillers) see(s, i, true);
    }
    issue(best);
  }

  void issue(const Choice& choice) {
    Strand& strand = strands_[choice.strand];
    const double end = choice.start_s + strand.seconds[choice.op];
    strand.ends[choice.op] = end;
    const auto stream = static_cast<std::size_t>(stream_of(strand.piece->operators[choice.op]));
    free_s_[stream] = end;
    if (std::erase(strand.fillers, choice.op) == 0) strand.queues[stream].pop_back();
    const std::size_t before = choice.strand == 0 ? 0 : strands_[0].seconds.size();
    order_.push_back(static_cast<std::int32_t>(before + choice.op));
  }

  std::array<Strand, 2> strands_;
  std::array<double, kStreams> free_s_{};
  PairOrder order_;
};

/// Copies templates into one; the tensors and parameters of each follow those of the templates
/// before.
class Joiner {
 public:
  Joiner(const OperatorTemplate& forward, const OperatorTemplate& backward) {
    out_.name = forward.name + "+" + backward.name;
    add(forward);
    add(backward);
    out_.saved = forward.saved;
    for (const TensorId id : backward.saved) out_.saved.push_back(moved(id, 1));
    out_.saved_beside = static_cast<std::int32_t>(backward.saved.size());
    for (const TensorId id : backward.restored) out_.restored.push_back(moved(id, 1));
  }

  OperatorTemplate join(std::span<const std::int32_t> order) {
    const auto count = static_cast<std::int32_t>(pieces_[0]->operators.size());
    places_.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      places_[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    }
    for (const std::int32_t index : order) {
      const bool second = index >= count;
      append(second ? 1 : 0, static_cast<std::size_t>(second ? index - count : index));
    }
    return std::move(out_);
  }

 private:
  void add(const OperatorTemplate& piece) {
    const std::size_t strand = pieces_[0] == nullptr ? 0 : 1;
    pieces_[strand] = &piece;
    tensors_[strand] = out_.tensors.size();
    parameters_[strand] = out_.parameters.size();
    out_.tensors.insert(out_.tensors.end(), piece.tensors.begin(), piece.tensors.end());
    out_.parameters.insert(out_.parameters.end(), piece.parameters.begin(), piece.parameters.end());
    for (const TensorId id : piece.inputs) out_.inputs.push_back(moved(id, strand));
    for (const TensorId id : piece.outputs) out_.outputs.push_back(moved(id, strand));
  }

  [[nodiscard]] TensorId moved(TensorId id, std::size_t strand) const {
    return static_cast<TensorId>(static_cast<std::size_t>(id) + tensors_[strand]);
  }

  IndexRange copy(std::span<const TensorId> ids, std::size_t strand) {
    const auto first = static_cast<std::int32_t>(out_.operands.size());
    for (const TensorId id : ids) out_.operands.push_back(moved(id, strand));
    return {first, static_cast<std::int32_t>(ids.size())};
  }

  void append(std::size_t strand, std::size_t index) {
    const OperatorTemplate& piece = *pieces_[strand];
    Operator op = piece.operators[index];
    const std::size_t before = strand == 0 ? 0 : pieces_[0]->operators.size();
    const auto first = static_cast<std::int32_t>(out_.edges.size());
    for (const std::int32_t other : piece.after(op)) {
      out_.edges.push_back(places_[before + static_cast<std::size_t>(other)]);
    }
    op.after = {first, static_cast<std::int32_t>(out_.edges.size()) - first};
    op.reads = copy(piece.reads(piece.operators[index]), strand);
    op.writes = copy(piece.writes(piece.operators[index]), strand);
    if (op.parameter >= 0) {
      op.parameter =
          static_cast<ParameterId>(static_cast<std::size_t>(op.parameter) + parameters_[strand]);
    }
    op.strand = static_cast<std::uint8_t>(strand);
    op.stream = stream_of(op);
    out_.operators.push_back(op);
  }

  std::array<const OperatorTemplate*, 2> pieces_{};
  std::array<std::size_t, 2> tensors_{};
  std::array<std::size_t, 2> parameters_{};
  /// Position in the order for each operator, by its index in the forward, then in the backward.
  std::vector<std::int32_t> places_;
  OperatorTemplate out_;
};

}  // namespace

PairOrder interleaved_issue_order(const OperatorTemplate& forward, const OperatorTemplate& backward,
                                  const OperatorSeconds& seconds) {
  return Issuer(forward, backward, seconds).run();
}

OperatorTemplate merge_forward_backward_templates(const OperatorTemplate& forward,
                                                  const OperatorTemplate& backward,
                                                  std::span<const std::int32_t> order) {
  return Joiner(forward, backward).join(order);
}

}  // namespace stepwright::step
