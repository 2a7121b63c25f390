#pragma once

#include "stepwright/cost/price_table.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/step/data_messages.h"

namespace stepwright::simulate {

// The cost that sharding adds to a pipeline position, in closed form. Seconds of the messages of a
// moment (each use, each backward, last backward, after the step) are the sum over these messages
//
//     count * T(operation, group, payload / count)
//
// where `step/data_messages.h` lists the messages, `each_message`
// (`simulate/price/position_messages.h`) gives their payload and count, and the cost model gives T.
// The update is
//
//     sum over end messages T + optimizer(held) + norm(held).
//
// Parameters, gradients and optimizer states of a rank are held / d_p, held / d_g and held / d_o
// elements of e_p, e_g and e_o bytes (docs/algorithms.md).

/// Seconds of messages that run alone (`seconds`), and a lower bound of them (`floor_s`): the same
/// bytes in messages as large as the largest of them can be, since a byte of a larger message never
/// takes longer.
struct MessageCost {
  double seconds = 0;
  double floor_s = 0;
  cost::LinkClass link = cost::LinkClass::kNone;  ///< The outermost link class of its messages.
  /// Lower bounds of the seconds, by link class.
  std::array<double, cost::kLinkClasses> floors_s{};

  MessageCost& operator+=(const MessageCost& other);
};

/// Data-parallel messages of one pipeline position.
struct DataCost {
  MessageCost gather;       ///< Parameter gathers of one pass over its blocks.
  MessageCost regather;     ///< Gathers repeated in a backward, which not all blocks have.
  MessageCost refresh;      ///< Gathers that bring updated parameters back after a step.
  MessageCost reduce;       ///< Reductions in every backward.
  MessageCost last_reduce;  ///< Reductions that only the last backward of a step has.
  double pieces = 1;        ///< Most pieces into which one of its reductions is cut.
  double update_s = 0;      ///< Seconds of small reductions, the gradient norm and the optimizer.

  /// Adds messages of other parameters on the same position.
  DataCost& operator+=(const DataCost& other);
};

/// The facts from which the messages of a position are priced. All of them must outlive this.
struct PricedPosition {
  const cost::CostModel& cost;
  const plan::Job& job;
  const plan::Plan& plan;
  const Layouts& layouts;
  const StageCost& stage;
};
DataCost data_cost(const PricedPosition& at, cost::PriceTable& computations);
/// Returns the seconds of small reductions, gradient norm and optimizer of a position. They depend
/// on the sharding of gradients and optimizer states and on their groups only.
double update_seconds(const PricedPosition& at, cost::PriceTable& computations);
/// Adds the messages of one kind of parameters only (dense or routed).
void add_messages(DataCost& sum, const PricedPosition& at, const step::StateSpread& spread);

/// Bytes that the states of a position take, and its blocks whose parameters are gathered or whose
/// gradients are being reduced.
struct DataMemory {
  double states_bytes = 0;
  double parameter_bytes = 0;  ///< Bytes of trained parameters, which are part of `states_bytes`.
  double optimizer_bytes = 0;  ///< Bytes of optimizer states, which are part of `states_bytes`.
  double gradient_bytes = 0;   ///< Bytes of gradients, which are part of `states_bytes`.
  double transient_bytes = 0;
  double host_bytes = 0;  ///< Bytes of states in host memory.
};
DataMemory data_memory(const plan::Job& job, const plan::Plan& plan, const StageCost& stage);
/// Returns the bytes of gradients of blocks whose weight gradients are deferred and whose gradients
/// are reduced in every backward: each such block has begun to write them.
double deferred_gradient_bytes(const plan::Plan& plan, const step::UnitSize& deferred);
/// Returns the least bytes of states that any sharding can need: everything spread over all ranks.
/// `with_gradients`: gradients count, too.
double least_states_bytes(const plan::Job& job, const plan::Plan& plan, const StageCost& stage,
                          bool with_gradients);

}  // namespace stepwright::simulate
