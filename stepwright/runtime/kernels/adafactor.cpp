#include "stepwright/runtime/kernels/adafactor.h"

#include <algorithm>
#include <cmath>

namespace stepwright::runtime {
namespace {

/// Number added to squares (`kLeastSquare`), and exponent of the step number in the decay of
/// moments (`kDecayPower`).
constexpr double kLeastSquare = 1e-30;
constexpr double kDecayPower = -0.8;
/// Root mean square above which an update is scaled down.
constexpr double kLargestUpdate = 1;

double decay_of(std::int64_t step) {
  return 1 - std::pow(static_cast<double>(step + 1), kDecayPower);
}

/// A matrix of a parameter: its first row, its rows on this rank, and the rows of the whole matrix.
struct MatrixRows {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t whole = 0;
};

std::vector<MatrixRows> matrices_in(const ParameterSlice& slice) {
  std::vector<MatrixRows> list;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < slice.matrices.size(); ++i) {
    list.push_back({first, slice.local_matrix_rows(i), slice.matrices[i]});
    first += list.back().count;
  }
  return list;
}

/// Returns a whole local part with the held elements of a state, copy by copy, and zeros elsewhere.
at::Tensor spread_out(const StoredParameter& p, const at::Tensor& held) {
  const at::Tensor all = at::zeros({p.padded}, held.options());
  all.narrow(0, p.first_held_element(p.layout->sharding.optimizer), held.numel()).copy_(held);
  const ParameterSlice& slice = p.slice;
  return all.narrow(0, 0, slice.elements_on_this_rank())
      .view({slice.local_copies, slice.local_rows, slice.local_columns});
}

/// Returns the held elements of a state, from a whole local part: undoes `spread_out`.
at::Tensor held_of(const StoredParameter& p, const at::Tensor& whole) {
  const at::Tensor all = at::zeros({p.padded}, whole.options());
  all.narrow(0, 0, p.slice.elements_on_this_rank()).copy_(whole.reshape({-1}));
  const plan::StateShardingScope spread = p.layout->sharding.optimizer;
  return all.narrow(0, p.first_held_element(spread), p.held_elements(spread));
}

/// Returns the mean squares along all rows and columns, [copies, edges], padded and flat.
at::Tensor mean_squares(const StoredParameter& p, const OptimizerUpdateInputs& rates) {
  const at::Tensor gradient = clipped_gradient(p, rates);
  const at::Tensor squares = spread_out(p, gradient * gradient + kLeastSquare);
  std::vector<at::Tensor> edges{squares.sum(2) / p.slice.columns};
  for (const MatrixRows& rows : matrices_in(p.slice)) {
    edges.push_back(squares.narrow(1, rows.first, rows.count).sum(1) / rows.whole);
  }
  const at::Tensor flat = at::cat(edges, 1).reshape({-1});
  return at::constant_pad_nd(flat, {0, p.sums->padded - flat.numel()});
}

/// Returns 1 over the root of the second moment of each element of a local part. The mean of all is
/// taken over the dimension that ranks have whole.
at::Tensor inverse_roots(const StoredParameter& p, const at::Tensor& moments) {
  const ParameterSlice& slice = p.slice;
  const std::int64_t columns = slice.local_columns;
  const at::Tensor edges = moments.narrow(0, 0, p.sums->slice.elements_on_this_rank())
                               .view({slice.local_copies, p.sums->slice.local_rows});
  const bool whole_rows = slice.cut == model::TensorParallelSplit::kReplicated ||
                          slice.cut == model::TensorParallelSplit::kRow;
  std::vector<at::Tensor> parts;
  std::int64_t column = slice.local_rows;
  for (const MatrixRows& rows : matrices_in(slice)) {
    const at::Tensor of_rows = edges.narrow(1, rows.first, rows.count);
    const at::Tensor of_columns = edges.narrow(1, column, columns);
    const at::Tensor mean = (whole_rows ? of_rows : of_columns).mean(1, true);
    parts.push_back((of_rows / mean).rsqrt().unsqueeze(2) * of_columns.rsqrt().unsqueeze(1));
    column += columns;
  }
  return at::cat(parts, 1);
}

/// Returns the update before its norm is limited.
at::Tensor update_of(const StoredParameter& p, const AdafactorProgress& step,
                     const OptimizerUpdateInputs& rates) {
  const at::Tensor gradient = clipped_gradient(p, rates);
  const at::Tensor scale =
      p.sums ? held_of(p, inverse_roots(p, step.moments.at(&p))) : p.second_moment.rsqrt();
  return gradient * scale;
}

/// Returns the sums of squares of a parameter's updates: [copies x matrices].
at::Tensor squares_of(const StoredParameter& p, const at::Tensor& update) {
  const at::Tensor squares = spread_out(p, update * update);
  if (p.slice.matrices.empty()) return squares.sum({1, 2});
  std::vector<at::Tensor> parts;
  for (const MatrixRows& rows : matrices_in(p.slice)) {
    parts.push_back(squares.narrow(1, rows.first, rows.count).sum({1, 2}));
  }
  return at::stack(parts, 1).reshape({-1});
}

/// Returns the divisor of each element of an update.
at::Tensor limits(const StoredParameter& p, const at::Tensor& squares) {
  const ParameterSlice& slice = p.slice;
  std::vector<at::Tensor> parts;
  const auto add = [&](const at::Tensor& square, std::int64_t whole_rows, std::int64_t rows) {
    const at::Tensor root = (square / (whole_rows * slice.columns)).sqrt();
    const at::Tensor limit = (root / kLargestUpdate).clamp_min(1).view({-1, 1, 1});
    parts.push_back(limit.expand({slice.local_copies, rows, slice.local_columns}));
  };
  const at::Tensor each = squares.view({slice.local_copies, -1});
  const std::vector<MatrixRows> matrices = matrices_in(slice);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    add(each.select(1, static_cast<std::int64_t>(i)), matrices[i].whole, matrices[i].count);
  }
  if (matrices.empty()) add(each.select(1, 0), slice.rows, slice.local_rows);
  return held_of(p, at::cat(parts, 1)).clamp_min(1);
}

}  // namespace

std::vector<StoredParameter*> trained_parameters_of_kind(RankState& rank, bool expert) {
  std::vector<StoredParameter*> list = rank.store.trained_parameters_with_own_states();
  std::erase_if(list, [&](const StoredParameter* p) { return p->slice.expert != expert; });
  return list;
}

std::vector<StoredParameter*> trained_matrices_of_kind(RankState& rank, bool expert) {
  std::vector<StoredParameter*> list = trained_parameters_of_kind(rank, expert);
  std::erase_if(list, [](const StoredParameter* p) { return !p->sums; });
  return list;
}

AdafactorProgress& compute_row_column_means(RankState& rank, bool expert) {
  AdafactorProgress& step = rank.factored[expert ? 1 : 0];
  if (!step.sums.empty()) return step;
  const OptimizerUpdateInputs rates = update_rates(rank);
  for (const StoredParameter* p : trained_matrices_of_kind(rank, expert)) {
    const at::Tensor& sums = step.sums[p] = mean_squares(*p, rates);
    step.own[p] = sums.narrow(0, p->sums->first, p->sums->held.numel());
  }
  return step;
}

AdafactorProgress& update_row_column_moments(RankState& rank, bool expert) {
  AdafactorProgress& step = compute_row_column_means(rank, expert);
  if (!step.moments.empty()) return step;
  const bool updates = std::isfinite(update_rates(rank).norm);
  for (const StoredParameter* p : trained_matrices_of_kind(rank, expert)) {
    if (updates) p->sums->held.lerp_(step.own.at(p), 1 - decay_of(rank.step));
    step.moments[p] = p->sums->held;
  }
  return step;
}

AdafactorProgress& compute_update_square_sums(RankState& rank, bool expert) {
  AdafactorProgress& step = update_row_column_moments(rank, expert);
  if (!step.squares.empty()) return step;
  const OptimizerUpdateInputs rates = update_rates(rank);
  for (const StoredParameter* p : trained_parameters_of_kind(rank, expert)) {
    if (!p->sums && std::isfinite(rates.norm)) {
      const at::Tensor gradient = clipped_gradient(*p, rates);
      p->second_moment.lerp_(gradient * gradient + kLeastSquare, 1 - decay_of(rank.step));
    }
    step.squares[p] = squares_of(*p, update_of(*p, step, rates));
  }
  return step;
}

void apply_adafactor_update(StoredParameter& parameter, RankState& rank,
                            const OptimizerUpdateInputs& rates) {
  const AdafactorProgress& step = compute_update_square_sums(rank, parameter.slice.expert);
  const at::Tensor update =
      update_of(parameter, step, rates) / limits(parameter, step.squares.at(&parameter));
  parameter.master.mul_(1 - rates.learning * rank.options.weight_decay);
  parameter.master.sub_(update, rates.learning);
}

}  // namespace stepwright::runtime
