#include "stepwright/memory/lifetimes.h"

#include <cmath>
#include <span>

namespace stepwright::memory {

std::vector<TensorLifetime> tensor_lifetimes(const step::OperatorTemplate& piece) {
  std::vector<TensorLifetime> lives(piece.tensors.size());
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const auto position = static_cast<std::int32_t>(i);
    for (step::TensorId id : piece.reads(piece.operators[i])) lives[id].last = position;
    for (step::TensorId id : piece.writes(piece.operators[i])) lives[id].last = position;
  }
  for (step::TensorId id : piece.outputs) lives[id].kept = true;
  for (step::TensorId id : piece.saved) lives[id].kept = true;
  return lives;
}

namespace {

/// Tracks the tensors of a template that are alive, and the peak so far.
class Walk {
 public:
  Walk(const step::OperatorTemplate& piece, double imbalance, MemoryPlace place)
      : piece_(piece),
        imbalance_(imbalance),
        place_(place),
        lives_(tensor_lifetimes(piece)),
        alive_(piece.tensors.size()) {}

  void make(std::span<const step::TensorId> ids) {
    for (step::TensorId id : ids) {
      if (alive_[id] != 0) continue;
      alive_[id] = 1;
      change(id, 1.0);
    }
  }
  void make_unnamed(std::span<const step::TensorId> ids) {
    for (const step::TensorId& id : ids) {
      if (lives_[id].last < 0) make({&id, 1});
    }
  }
  void free_after(std::int32_t position, std::span<const step::TensorId> ids) {
    for (step::TensorId id : ids) {
      const TensorLifetime& life = lives_[id];
      if (alive_[id] == 0 || life.kept || life.last != position) continue;
      alive_[id] = 0;
      change(id, -1.0);
    }
  }
  void note_peak(OperatorTemplateMemory& result) const {
    if (total_ <= result.peak_bytes) return;
    result.peak_bytes = total_;
    result.at_peak = kinds_;
  }

 private:
  void change(step::TensorId id, double sign) {
    const step::TemplateTensor& tensor = piece_.tensors[id];
    const double bytes = sign * max_tensor_bytes_over_ranks(tensor, imbalance_, place_);
    kinds_[static_cast<std::size_t>(tensor.kind)] += bytes;
    total_ += bytes;
  }

  const step::OperatorTemplate& piece_;
  double imbalance_;
  MemoryPlace place_;
  std::vector<TensorLifetime> lives_;
  std::vector<char> alive_;  ///< For each tensor, 1 if it is alive, else 0.
  KindBytes kinds_{};
  double total_ = 0;
};

KindBytes by_kind(const step::OperatorTemplate& piece, std::span<const step::TensorId> ids,
                  double imbalance, MemoryPlace place) {
  KindBytes kinds{};
  for (step::TensorId id : ids) {
    const step::TemplateTensor& tensor = piece.tensors[id];
    kinds[static_cast<std::size_t>(tensor.kind)] +=
        max_tensor_bytes_over_ranks(tensor, imbalance, place);
  }
  return kinds;
}

/// Returns the last operator that reads a parameter, weight gradients apart; -1: none.
std::int32_t last_use_of_parameters(const step::OperatorTemplate& piece) {
  for (std::size_t i = piece.operators.size(); i-- > 0;) {
    const step::Operator& op = piece.operators[i];
    if (op.parameter >= 0 && op.phase != step::Phase::kWeightGradient) {
      return static_cast<std::int32_t>(i);
    }
  }
  return -1;
}

}  // namespace

double total_bytes(const KindBytes& kinds) {
  double sum = 0;
  for (double bytes : kinds) sum += bytes;
  return sum;
}

double max_tensor_bytes_over_ranks(const step::TemplateTensor& tensor, double imbalance,
                                   MemoryPlace place) {
  if (tensor.on_host != (place == MemoryPlace::kHost)) return 0;
  const auto bytes = static_cast<double>(tensor.bytes());
  return tensor.routed ? std::ceil(bytes * imbalance) : bytes;
}

OperatorTemplateMemory template_memory_footprint(const step::OperatorTemplate& piece,
                                                 double imbalance, MemoryPlace place) {
  const auto bytes = [&](std::span<const step::TensorId> ids) {
    return by_kind(piece, ids, imbalance, place);
  };
  OperatorTemplateMemory result;
  result.retained = bytes(piece.saved);
  result.restored = bytes(piece.restored);
  result.input_bytes = total_bytes(bytes(piece.inputs));
  result.output_bytes = total_bytes(bytes(piece.outputs));

  Walk walk(piece, imbalance, place);
  walk.make(piece.inputs);
  walk.make(piece.restored);
  walk.make_unnamed(piece.outputs);
  walk.make_unnamed(piece.saved);
  walk.note_peak(result);
  const std::int32_t last_use = last_use_of_parameters(piece);
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    walk.make(piece.reads(op));
    walk.make(piece.writes(op));
    walk.note_peak(result);
    if (static_cast<std::int32_t>(i) <= last_use) {
      result.peak_using_parameters_bytes = result.peak_bytes;
    }
    walk.free_after(static_cast<std::int32_t>(i), piece.reads(op));
    walk.free_after(static_cast<std::int32_t>(i), piece.writes(op));
  }
  return result;
}

}  // namespace stepwright::memory
