#pragma once

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

/// Mean numbers of rows (token vectors) that one rank exchanges with experts on other ranks and
/// that its own experts compute.
struct RoutedRowCounts {
  /// Copies of this rank's rows, one for each expert chosen for a row: the rows of the residual
  /// stream times top k.
  std::int64_t copies = 0;
  /// Number of rows (token vectors) that this rank sends to the ranks of their experts; it receives
  /// equally many.
  std::int64_t sent = 0;
  /// Number of rows (token vectors) that the experts on this rank compute.
  std::int64_t computed = 0;
};
RoutedRowCounts routed_rows(const StepBuildSettings& s);

/// True if rows are sent to experts on other ranks. Gate weights are then sent too and applied at
/// the experts; otherwise they are applied where the copies of a row are summed.
bool sends_tokens_to_other_ranks(const StepBuildSettings& s);

/// True if every rank gets exactly the mean number of rows when routing is balanced: consecutive
/// tokens of a rank spread evenly over the experts.
bool routes_equal_rows_to_ranks(const StepBuildSettings& s);

/// Tensors of an exchange with experts: token rows, and the gate weight (or its gradient) of each
/// copy of a row; -1: absent.
struct ExpertExchangeTensors {
  TensorId rows = -1;
  TensorId weights = -1;
};

/// Labels of an exchange of rows with experts: the phase (`e.forward` or kDataGradient), the layer
/// part, and the gate weights that are applied to the rows.
struct ExpertExchangeLabels {
  Phase phase{};
  LayerPart part{};  ///< The layer part to which the messages of an exchange with experts belong.
  /// Tensor of gate weights that multiply the copies of rows; -1: the exchange multiplies by none.
  TensorId weigh = -1;
};

/// Appends the messages that tell the ranks of an expert exchange what each router chose. Keeps the
/// counts of rows per expert, and the choices themselves if the dispatcher gathers all rows.
void append_router_choice_messages(ModelBlockBuildContext& e, TensorId own_counts);

/// Appends the messages that send this rank's rows to the ranks of their experts, with the rows'
/// gate weights if these are sent too.
ExpertExchangeTensors append_expert_dispatch_messages(ModelBlockBuildContext& e,
                                                      const ExpertExchangeTensors& own,
                                                      const ExpertExchangeLabels& movement);
/// Appends the wait for dispatched rows; returns them in the order of this rank's experts.
ExpertExchangeTensors append_expert_dispatch_wait(ModelBlockBuildContext& e,
                                                  const ExpertExchangeTensors& arrived,
                                                  const ExpertExchangeTensors& own,
                                                  const ExpertExchangeLabels& movement);
/// Appends the messages that send the experts' results back to the ranks that own the rows.
ExpertExchangeTensors append_expert_combine_messages(ModelBlockBuildContext& e,
                                                     const ExpertExchangeTensors& computed,
                                                     const ExpertExchangeLabels& movement);
/// Appends the wait for the experts' results. Returns, in the order of rows, the sum over each
/// row's copies, and the numbers that `append_gate_gradient_return_messages` sent back.
ExpertExchangeTensors append_expert_combine_wait(ModelBlockBuildContext& e,
                                                 const ExpertExchangeTensors& arrived,
                                                 const ExpertExchangeLabels& movement);

/// Creates a tensor of one number for each copy of a row, in the order in which the dispatch leaves
/// gate weights at the experts.
TensorId create_gate_weights_at_experts(ModelBlockBuildContext& e);
/// Returns the tensor that tells to which copy of a row each gate weight at the experts belongs.
TensorId places_at_experts(ModelBlockBuildContext& e);
/// Appends the messages that send one number per copy of a row (a gate weight's gradient) from the
/// experts back to the ranks that own the rows; returns the received numbers.
TensorId append_gate_gradient_return_messages(ModelBlockBuildContext& e, TensorId weights,
                                              Phase phase);

}  // namespace stepwright::step
