#pragma once

#include "stepwright/cost/price_table.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/step/data_messages.h"

namespace stepwright::simulate {

// What sharding adds to a pipeline position, in closed form. Seconds of a moment (each use, each
// backward, last backward, after the step) are the sum over its messages
//
//     count * T(operation, group, payload / count)
//
// where `step/data_messages.h` says which they are, `each_message`
// (`simulate/price/position_messages.h`) payload and count, and the cost model T. The update is
//
//     sum over end messages T + optimizer(held) + norm(held).
//
// States are held / d_p, d_g, d_o elements, of e_p, e_g, e_o bytes each (docs/algorithms.md).

/// Seconds of messages, alone, and a floor of it: the same bytes in messages as large as the
/// largest of them can be, since a byte of a larger message never takes longer.
struct MessageCost {
  double seconds = 0;
  double floor_s = 0;
  cost::LinkClass link = cost::LinkClass::kNone;      ///< The outermost of its messages.
  std::array<double, cost::kLinkClasses> floors_s{};  ///< The floor by link class.

  MessageCost& operator+=(const MessageCost& other);
};

/// Data-parallel messages of one pipeline position.
struct DataCost {
  MessageCost gather;       ///< Parameter gathers of one pass over its blocks.
  MessageCost regather;     ///< Gathers again in a backward, which not all blocks have.
  MessageCost refresh;      ///< Gathers that bring updated parameters back after a step.
  MessageCost reduce;       ///< Reductions in every backward.
  MessageCost last_reduce;  ///< Reductions that only the last backward of a step has.
  double pieces = 1;        ///< The most into which one of its reductions is cut.
  double update_s = 0;      ///< Small reductions, norm and optimizer.

  /// Adds messages of other parameters on the same position.
  DataCost& operator+=(const DataCost& other);
};

/// The facts by which the messages of a position are priced. All of it must outlive this.
struct PricedPosition {
  const cost::CostModel& cost;
  const plan::Job& job;
  const plan::Plan& plan;
  const Layouts& layouts;
  const StageCost& stage;
};
DataCost data_cost(const PricedPosition& at, cost::PriceTable& computations);
/// Small reductions, norm and optimizer of a position. Of the sharding it depends on where
/// gradients and optimizer states lie, with their groups.
double update_seconds(const PricedPosition& at, cost::PriceTable& computations);
/// Adds the messages of one kind of parameters alone.
void add_messages(DataCost& sum, const PricedPosition& at, const step::StateSpread& spread);

/// Bytes that the states and the gathered or leaving blocks of a position take.
struct DataMemory {
  double states_bytes = 0;
  double parameter_bytes = 0;  ///< Bytes of trained parameters, in `states_bytes`.
  double optimizer_bytes = 0;  ///< Bytes of optimizer states, in `states_bytes`.
  double gradient_bytes = 0;   ///< Bytes of gradients, in `states_bytes`.
  double transient_bytes = 0;
  double host_bytes = 0;  ///< Bytes of states in host memory.
};
DataMemory data_memory(const plan::Job& job, const plan::Plan& plan, const StageCost& stage);
/// Gradients that leave blocks whose weight gradients wait: each such block has begun to write
/// them.
double deferred_gradient_bytes(const plan::Plan& plan, const step::UnitSize& deferred);
/// The least that any sharding can need of states: everything spread over all ranks.
/// `with_gradients`: gradients are among them.
double least_states_bytes(const plan::Job& job, const plan::Plan& plan, const StageCost& stage,
                          bool with_gradients);

}  // namespace stepwright::simulate
