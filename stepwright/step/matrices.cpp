#include "stepwright/step/matrices.h"

#include <algorithm>
#include <iterator>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::step {
namespace {

/// One whole matrix of the model, and the dimension along which tensor ranks split it.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  model::TensorParallelSplit split{};
};

bool is_cut(model::TensorParallelSplit split, std::int64_t cut) {
  return cut > 1 && split != model::TensorParallelSplit::kReplicated;
}

/// Adds the FLOPs of a Newton-Schulz step and the elements of its messages, on each of `update.cut`
/// tensor ranks.
void add_orthogonal(OptimizerMatrixSizes& sum, const Matrix& m,
                    const MatrixOptimizerUpdate& update) {
  if (!is_cut(m.split, update.cut)) {
    sum.flops += newton_schulz_step_flops(m.rows, m.columns);
    return;
  }
  ++sum.cut_updates;
  const bool rows =
      m.split == model::TensorParallelSplit::kColumn;  // true if its outputs are split
  const std::int64_t kept = rows ? m.columns : m.rows;
  const std::int64_t part = ceil_divide(rows ? m.rows : m.columns, update.cut);
  switch (update.form) {
    case plan::MuonTensorSplit::kDuplicated:
      sum.flops += newton_schulz_step_flops(m.rows, m.columns);
      sum.payload += m.rows * m.columns;
      return;
    case plan::MuonTensorSplit::kDistributed:
      sum.flops += 4 * kept * kept * part + 2 * kept * kept * kept;
      sum.payload += kNewtonSchulzSteps * kept * kept;
      return;
    case plan::MuonTensorSplit::kBlockwise:
      sum.flops += newton_schulz_step_flops(kept, part);
      return;
  }
}

/// Counts the scales of quantized moments: two (one for each moment) for every block of elements in
/// one rank's shard.
OptimizerMatrixSizes scales_of(const RankLocalParameter& local, std::int64_t block) {
  return {.numbers =
              2 * local.blocks * ceil_divide(ceil_divide(local.elements(), local.blocks), block)};
}

/// Sizes of `count` matrices whose sums of rows and columns are kept; 0: a parameter that is not a
/// matrix.
OptimizerMatrixSizes sums_of(const model::ModelParameter& whole, const RankLocalParameter& local,
                             std::int64_t count, std::int64_t cut) {
  const std::int64_t updates = std::max<std::int64_t>(1, count) * local.copies;
  OptimizerMatrixSizes size{.count = count * local.copies,
                            .updates = updates,
                            .cut_updates = is_cut(whole.split, cut) ? updates : 0};
  if (count == 0) return size;
  const std::int64_t columns = count * local.columns;
  size.elements = local.padded_element_count_per_tensor_rank();
  size.numbers = ceil_divide(local.copies * (local.rows + columns), local.blocks) * local.blocks;
  if (is_cut(whole.split, cut)) {
    size.payload =
        local.copies * (whole.split == model::TensorParallelSplit::kRow ? local.rows : columns);
  }
  return size;
}

}  // namespace

std::vector<std::int64_t> stacked_matrix_row_counts(const model::ModelParameter& whole) {
  if (whole.vector || whole.rows <= 1 || whole.columns <= 1) return {};
  if (whole.name != "attention.qkv" || whole.fused[0] == 0) return {whole.rows};
  std::vector<std::int64_t> rows;
  std::ranges::copy_if(whole.fused, std::back_inserter(rows), [](auto part) { return part > 0; });
  return rows;
}

bool is_layer_parameter(std::string_view name) {
  return !name.starts_with("embedding.") && !name.starts_with("head.");
}

std::int64_t newton_schulz_step_flops(std::int64_t rows, std::int64_t columns) {
  const std::int64_t m = std::min(rows, columns);
  return 4 * m * m * std::max(rows, columns) + 2 * m * m * m;
}

OptimizerMatrixSizes stacked_matrix_sizes(const model::ModelParameter& whole,
                                          const RankLocalParameter& local,
                                          const MatrixOptimizerUpdate& update) {
  const plan::OptimizerTraits& traits = plan::traits_of(update.optimizer);
  if (whole.frozen) return {};
  if (traits.scale_block > 0) return scales_of(local, traits.scale_block);
  if (traits.acts_on == plan::MatrixUpdateScope::kElements) return {};
  const std::vector<std::int64_t> rows = stacked_matrix_row_counts(whole);
  if (traits.sums_edges) return sums_of(whole, local, std::ssize(rows), update.cut);
  if (rows.empty() || !is_layer_parameter(whole.name)) return {};
  OptimizerMatrixSizes size{.count = std::ssize(rows)};
  for (const std::int64_t each : rows) {
    add_orthogonal(size, {each, whole.columns, whole.split}, update);
  }
  OptimizerMatrixSizes all;
  all.add(size, local.copies).elements = local.padded_element_count_per_tensor_rank();
  return all;
}

}  // namespace stepwright::step
