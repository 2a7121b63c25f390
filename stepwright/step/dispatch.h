#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Row counts of the routed path on one rank (means).
struct RoutedRows {
  std::int64_t copies = 0;    ///< One for each row of the residual stream and expert of its top k.
  std::int64_t sent = 0;      ///< Rows that this rank sends out, and as many that it receives.
  std::int64_t computed = 0;  ///< Rows that its local experts work on.
};
RoutedRows routed_rows(const Setting& s);

/// Whether rows leave the rank. Gate weights then travel with them and are applied where the
/// experts are; else where the copies of a row are added up.
bool travels(const Setting& s);

/// Whether every rank gets exactly the mean under balanced routing: each run of tokens that follow
/// one another on a rank spreads evenly over the experts.
bool routes_evenly(const Setting& s);

/// Rows, and one number for each copy of them: gate weights, or their gradients; -1: none.
struct RoutedTensors {
  TensorId rows = -1;
  TensorId weights = -1;
};

/// How rows move: in `e.forward` or for a data gradient.
struct Movement {
  Phase phase{};
  LayerPart part{};     ///< The part that messages about rows belong to.
  TensorId weigh = -1;  ///< Gate weights to multiply copies of rows with.
};

/// Shares what the kept router's choice says with the ranks that rows come from and go to: keeps
/// the counts, and the choices themselves where all rows are gathered.
void share_choice(Emit& e, TensorId own_counts);

/// Rows of this rank to rows in the order of its experts, and weights, where they travel, as they
/// arrived: the messages, then what waits for them.
RoutedTensors start_dispatch(Emit& e, const RoutedTensors& own, const Movement& movement);
RoutedTensors end_dispatch(Emit& e, const RoutedTensors& arrived, const RoutedTensors& own,
                           const Movement& movement);
/// The reverse: sums over the copies of each row, and what `return_weights` brought by row.
RoutedTensors start_combine(Emit& e, const RoutedTensors& computed, const Movement& movement);
RoutedTensors end_combine(Emit& e, const RoutedTensors& arrived, const Movement& movement);

/// A tensor for numbers in the order in which `dispatch` leaves weights that travelled, and what
/// tells which copy each belongs to.
TensorId weights_at_experts(Emit& e);
TensorId places_at_experts(Emit& e);
/// Such numbers back to the ranks that own the rows.
TensorId return_weights(Emit& e, TensorId weights, Phase phase);

}  // namespace stepwright::step
