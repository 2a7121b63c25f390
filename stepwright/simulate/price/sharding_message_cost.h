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

/// Seconds of messages that run alone (`seconds`), and a lower bound of them (`floor_s`) that
/// assumes the largest possible messages, since the time per byte never grows with the size of a
/// message.
struct MessageSecondsWithBound {
  double seconds = 0;
  double floor_s = 0;
  /// The outermost link class (inside a node, network) that any of the messages uses.
  cost::LinkClass link = cost::LinkClass::kNone;
  /// For each link class (inside a node, network): lower bound of the seconds of the messages on
  /// it.
  std::array<double, cost::kLinkClasses> floors_s{};

  MessageSecondsWithBound& operator+=(const MessageSecondsWithBound& other);
};

/// Seconds of the data-parallel messages of one pipeline rank, by moment of the step.
struct ShardingMessageCost {
  /// Seconds of the parameter gathers of one forward over the blocks of the pipeline rank.
  MessageSecondsWithBound gather;
  /// Parameter gathers that a backward repeats; not all blocks need them.
  MessageSecondsWithBound regather;
  /// Seconds of the gathers that bring updated parameters back to the ranks after a step.
  MessageSecondsWithBound refresh;
  /// Seconds of the gradient reductions that every backward makes.
  MessageSecondsWithBound reduce;
  /// Gradient reductions that only the last backward of a step makes.
  MessageSecondsWithBound last_reduce;
  double pieces = 1;  ///< Largest number of pieces into which one gradient reduction is cut.
  /// Seconds at the end of a step: small reductions, the gradient norm and the optimizer.
  double update_s = 0;

  /// Adds the costs of messages for other parameters of the same pipeline rank.
  ShardingMessageCost& operator+=(const ShardingMessageCost& other);
};

/// References to all that the seconds of a pipeline rank's data-parallel messages depend on. They
/// must outlive this object.
struct PositionPricingInput {
  const cost::CostModel& cost;
  const plan::Job& job;
  const plan::Plan& plan;
  const Layouts& layouts;
  const PipelinePositionCost& stage;
};
ShardingMessageCost data_cost(const PositionPricingInput& at,
                              cost::OperatorTimeCache& computations);
/// Returns the seconds at the end of a step for small reductions, gradient norm and optimizer of a
/// pipeline rank. They depend only on the sharding of gradients and optimizer states and on their
/// groups.
double step_end_seconds(const PositionPricingInput& at, cost::OperatorTimeCache& computations);
/// Adds to `sum` the seconds of the data-parallel messages of either the dense or the routed
/// (expert) parameters of a pipeline rank.
void add_sharding_message_cost(ShardingMessageCost& sum, const PositionPricingInput& at,
                               const step::ShardingGroups& spread);

/// Bytes of model states that one rank of a pipeline stage holds after sharding. `transient_bytes`:
/// gathered parameters and gradients under reduction of the blocks in use.
struct ShardedStateMemory {
  double states_bytes = 0;
  double parameter_bytes = 0;  ///< Bytes of trained parameters; part of `states_bytes`.
  double optimizer_bytes = 0;  ///< Bytes of optimizer states; part of `states_bytes`.
  double gradient_bytes = 0;   ///< Bytes of gradients; part of `states_bytes`.
  double transient_bytes = 0;
  double host_bytes = 0;  ///< Bytes of model states that the rank keeps in host memory.
};
ShardedStateMemory data_memory(const plan::Job& job, const plan::Plan& plan,
                               const PipelinePositionCost& stage);
/// Returns the gradient bytes of blocks whose weight gradients wait while every backward reduces
/// its gradients: each such block already holds a gradient buffer. `deferred`: parameters of these
/// blocks.
double deferred_gradient_bytes(const plan::Plan& plan,
                               const step::ModelBlockParameterCounts& deferred);
/// Returns the least bytes of states per rank with any sharding: everything spread over all ranks.
/// `with_gradients`: true if gradients count.
double min_model_state_bytes(const plan::Job& job, const plan::Plan& plan,
                             const PipelinePositionCost& stage, bool with_gradients);

}  // namespace stepwright::simulate
