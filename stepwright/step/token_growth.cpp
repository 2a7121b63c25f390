#include "stepwright/step/token_growth.h"

#include <cmath>

namespace stepwright::step {
namespace {

/// True if a computation's rows are those of a weight or of a gradient sum, so that more tokens do
/// not change them.
bool has_rows_of_weights(const Operator& op) {
  return op.kind == OperatorKind::kDequantize ||
         (op.kind == OperatorKind::kAccumulate && op.parameter >= 0);
}

}  // namespace

OperatorTemplate scale_template_tokens(OperatorTemplate piece, double factor) {
  for (Operator& op : piece.operators) {
    if (is_communication(op.kind)) {
      op.payload_elements = std::llround(static_cast<double>(op.payload_elements) * factor);
    } else if (op.shape.pairs == 0 && !has_rows_of_weights(op)) {
      op.shape.rows = std::llround(static_cast<double>(op.shape.rows) * factor);
    }
  }
  return piece;
}

OperatorTemplate scale_template_query_key_pairs(OperatorTemplate piece, double factor) {
  for (Operator& op : piece.operators) {
    op.shape.pairs = std::llround(static_cast<double>(op.shape.pairs) * factor);
  }
  return piece;
}

}  // namespace stepwright::step
