#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "stepwright/runtime/rank/held_tensors.h"
#include "stepwright/runtime/rank/lanes.h"
#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// A tensor of a placed template, and when it is there.
struct Cell {
  Cell() = default;
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  /// Counts the value from now until the cell goes; once.
  void count(HeldTensors& held, step::TensorKind kind);

  at::Tensor value;
  Ticket written;
  std::vector<Ticket> read;  ///< Readers on other lanes.

 private:
  HeldTensors* held_ = nullptr;
  at::Tensor counted_;
  step::TensorKind kind_{};
};
using CellPtr = std::shared_ptr<Cell>;

/// One operator of a placed template with its operands. Gathered parameters and leaving gradients
/// stand apart, so that operands have the same places with and without sharding.
struct PlacedOperator {
  const step::Operator& op;
  const step::Template& piece;
  const step::Item& item;
  std::int32_t layer = -1;  ///< Layer of the model, as `Item::layer`.
  std::int32_t unit = -1;   ///< Number of its block, as in `Item::units`.
  std::int32_t chunk = 0;
  std::int32_t micro_batch = -1;  ///< -1 in an update.
  std::vector<CellPtr> reads = {};
  std::vector<CellPtr> writes = {};
  std::vector<CellPtr> gathered_reads = {};
  std::vector<CellPtr> gathered_writes = {};
};

}  // namespace stepwright::runtime
