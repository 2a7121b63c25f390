#include "stepwright/step/matrices.h"

#include <algorithm>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright {
namespace {

/// One matrix as the model has it, and the dimension along which tensor ranks cut it.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Split split{};
};

/// FLOPs of a step and elements of its messages on each of `cut` ranks.
void add_orthogonal(MatrixSize& sum, const Matrix& m, const MatrixUpdate& update) {
  const bool is_cut = update.cut > 1 && (m.split == Split::kColumn || m.split == Split::kRow);
  if (!is_cut) {
    sum.flops += orthogonal_flops(m.rows, m.columns);
    return;
  }
  const bool rows = m.split == Split::kColumn;  // its outputs are cut
  const std::int64_t kept = rows ? m.columns : m.rows;
  const std::int64_t part = divide_up(rows ? m.rows : m.columns, update.cut);
  switch (update.form) {
    case MuonForm::kDuplicated:
      sum.flops += orthogonal_flops(m.rows, m.columns);
      sum.payload += m.rows * m.columns;
      return;
    case MuonForm::kDistributed:
      sum.flops += 4 * kept * kept * part + 2 * kept * kept * kept;
      sum.payload += kOrthogonalSteps * kept * kept;
      return;
    case MuonForm::kBlockwise: sum.flops += orthogonal_flops(kept, part); return;
  }
}

}  // namespace

bool is_layer_matrix(std::string_view name, std::int64_t rows, std::int64_t columns) {
  const bool end = name.starts_with("embedding.") || name.starts_with("head.");
  return rows > 1 && columns > 1 && !end;
}

std::int64_t orthogonal_flops(std::int64_t rows, std::int64_t columns) {
  const std::int64_t m = std::min(rows, columns);
  return 4 * m * m * std::max(rows, columns) + 2 * m * m * m;
}

MatrixSize matrices_of(const Parameter& whole, const LocalParameter& local,
                       const MatrixUpdate& update) {
  const ActsOn acts_on = traits_of(update.optimizer).acts_on;
  MatrixSize size;
  if (acts_on == ActsOn::kElements || whole.vector || whole.frozen) return size;
  if (local.rows == 1 || local.columns == 1) return size;
  const bool of_layer = is_layer_matrix(whole.name, local.rows, local.columns);
  if (acts_on == ActsOn::kLayerMatrices && !of_layer) return size;
  const bool parts = whole.name == "attention.qkv" && whole.fused[0] > 0;
  for (const std::int64_t rows : whole.fused) {
    if (parts && rows == 0) continue;
    ++size.count;
    add_orthogonal(size, {parts ? rows : whole.rows, whole.columns, whole.split}, update);
    if (!parts) break;
  }
  size.edges = size.count * local.columns + local.rows;
  size.elements = local.rows * local.columns;
  MatrixSize all;
  return all.add(size, local.copies);
}

}  // namespace stepwright
