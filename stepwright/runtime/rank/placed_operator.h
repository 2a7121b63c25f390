#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "stepwright/runtime/rank/held_tensors.h"
#include "stepwright/runtime/rank/lanes.h"
#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// A tensor of a placed template, and the moment at which it is available.
struct PlacedTensor {
  PlacedTensor() = default;
  ~PlacedTensor();
  PlacedTensor(const PlacedTensor&) = delete;
  PlacedTensor& operator=(const PlacedTensor&) = delete;

  /// Counts the value as held from now until the cell is destroyed; call it once.
  void count(HeldTensors& held, step::TensorKind kind);

  at::Tensor value;
  StreamTicket written;
  std::vector<StreamTicket> read;  ///< Moments at which readers on other lanes are done.

 private:
  HeldTensors* held_ = nullptr;
  at::Tensor counted_;
  step::TensorKind kind_{};
};
using CellPtr = std::shared_ptr<PlacedTensor>;

/// One operator of a placed template with its operands. Gathered parameters and the gradients to be
/// reduced are in lists of their own, so that other operands have equal indices with and without
/// sharding.
struct PlacedOperator {
  const step::Operator& op;
  const step::Template& piece;
  const step::Item& item;
  std::int32_t layer = -1;  ///< Layer of the model, as `Item::layer`.
  std::int32_t unit = -1;   ///< Number of its block, as in `Item::units`.
  std::int32_t chunk = 0;
  std::int32_t micro_batch = -1;  ///< Number of the micro-batch; -1 in an update.
  std::vector<CellPtr> reads = {};
  std::vector<CellPtr> writes = {};
  std::vector<CellPtr> gathered_reads = {};
  std::vector<CellPtr> gathered_writes = {};
};

}  // namespace stepwright::runtime
