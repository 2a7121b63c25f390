#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <vector>

#include "stepwright/runtime/execute/lanes.h"
#include "stepwright/runtime/measure/held_tensors.h"
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
  std::int32_t layer = -1;  ///< Of the model, as `Item::layer`.
  std::int32_t unit = -1;   ///< Of its block, as `Item::units`.
  std::int32_t chunk = 0;
  std::int32_t micro_batch = -1;  ///< -1 in an update.
  std::vector<CellPtr> reads = {};
  std::vector<CellPtr> writes = {};
  std::vector<CellPtr> gathered_reads = {};
  std::vector<CellPtr> gathered_writes = {};
};

/// The work that is done when the turn of an operator has come, on the thread of its stream.
/// `ready`: when the last thing that it waited for on other threads had ended.
using Work = std::function<void(Moment ready)>;

/// The treatment of the operators of a rank's program: run them on tensors, or hold their time.
class Performer {
 public:
  Performer() = default;
  virtual ~Performer() = default;
  Performer(const Performer&) = delete;
  Performer& operator=(const Performer&) = delete;

  /// Before the first operator of a step.
  virtual void begin_step() = 0;
  /// Called in the order of issue by the thread that walks the schedule.
  virtual Work issue(PlacedOperator placed) = 0;
  /// After the last operator of a step was issued: waits for what is still under way.
  virtual void end_step() = 0;
};

}  // namespace stepwright::runtime
