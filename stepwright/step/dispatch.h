#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Row counts of the routed path on one rank (means).
struct RoutedRows {
  /// Copies of rows: the rows of the residual stream times the experts chosen for each (top k).
  std::int64_t copies = 0;
  std::int64_t sent = 0;      ///< Rows that this rank sends; it receives equally many.
  std::int64_t computed = 0;  ///< Rows that this rank's experts compute.
};
RoutedRows routed_rows(const Setting& s);

/// True if rows are sent to experts on other ranks. Gate weights are then sent too and applied at
/// the experts; otherwise they are applied where the copies of a row are summed.
bool travels(const Setting& s);

/// True if every rank gets exactly the mean under balanced routing: consecutive tokens of a rank
/// spread evenly over the experts.
bool routes_evenly(const Setting& s);

/// Token rows, and the gate weight (or its gradient) of each copy sent to an expert; a tensor of -1
/// is absent.
struct RoutedTensors {
  TensorId rows = -1;
  TensorId weights = -1;
};

/// How rows are exchanged: the phase (`e.forward` or kDataGradient) and the weights applied to
/// them.
struct RowMovement {
  Phase phase{};
  LayerPart part{};     ///< The layer part to which the exchange's messages belong.
  TensorId weigh = -1;  ///< Gate weights that multiply the copies of rows; -1: none.
};

/// Sends what the router chose (kept in `e.kept`) to the ranks that exchange rows: keeps the counts
/// of rows per expert, and the choices themselves if the dispatcher gathers all rows.
void share_choice(Emit& e, TensorId own_counts);

/// Write the dispatch of rows to experts: from the rows of this rank to rows in the order of its
/// experts, with the gate weights if they are sent too. `start_dispatch` writes the messages,
/// `end_dispatch` the work that waits for them.
RoutedTensors start_dispatch(Emit& e, const RoutedTensors& own, const RowMovement& movement);
RoutedTensors end_dispatch(Emit& e, const RoutedTensors& arrived, const RoutedTensors& own,
                           const RowMovement& movement);
/// Write the combine, the reverse of the dispatch: returns for each row the sum over its copies,
/// and the numbers that `return_weights` sent back, in the order of rows.
RoutedTensors start_combine(Emit& e, const RoutedTensors& computed, const RowMovement& movement);
RoutedTensors end_combine(Emit& e, const RoutedTensors& arrived, const RowMovement& movement);

/// A new tensor of one number for each copy of a row, in the order in which the dispatch leaves
/// gate weights at the experts; `places_at_experts`: the tensor that tells which copy each number
/// belongs to.
TensorId weights_at_experts(Emit& e);
TensorId places_at_experts(Emit& e);
/// Sends numbers of `weights_at_experts` back to the ranks that own the rows.
TensorId return_weights(Emit& e, TensorId weights, Phase phase);

}  // namespace stepwright::step
