#pragma once

#include "stepwright/simulate/block_costs.h"

namespace stepwright {

/// Seconds of messages, alone, and a floor of it: the same bytes in one message.
struct MessageCost {
  double seconds = 0;
  double floor_s = 0;
  LinkClass link = LinkClass::kNone;  ///< The outermost of its messages.
};

/// Data-parallel messages of one pipeline position.
struct DataCost {
  MessageCost gather;       ///< Parameter gathers of one pass over its blocks.
  MessageCost refresh;      ///< Gathers that bring updated parameters back after a step.
  MessageCost reduce;       ///< Reductions in every backward.
  MessageCost last_reduce;  ///< What the last backward of a step adds.
  double buckets = 1;       ///< Into which its reductions are cut.
  double update_s = 0;      ///< Small reductions, norm and optimizer.
};

/// Prices the messages that sharding adds, from sizes instead of templates: the number of messages
/// and their mean size stand for the exact buckets.
DataCost data_cost(const CostModel& cost, const Job& job, const Plan& plan, const Layouts& layouts,
                   const StageCost& stage);
/// The same without the update. Seconds are the sums of those of the dense parameters alone and of
/// the routed ones alone.
DataCost message_cost(const CostModel& cost, const Job& job, const Plan& plan,
                      const Layouts& layouts, const StageCost& stage);

/// Bytes that the states and the gathered or leaving blocks of a position take.
struct DataMemory {
  double states_bytes = 0;
  double parameter_bytes = 0;  ///< Of the states.
  double optimizer_bytes = 0;  ///< Of the states.
  double transient_bytes = 0;
};
DataMemory data_memory(const Job& job, const Plan& plan, const StageCost& stage);
/// The least that any sharding can need of states.
double least_states_bytes(const Job& job, const Plan& plan, const StageCost& stage);

}  // namespace stepwright
