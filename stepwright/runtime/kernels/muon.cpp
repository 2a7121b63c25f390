#include "stepwright/runtime/kernels/muon.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "stepwright/core/error.h"

namespace stepwright::runtime {
namespace {

constexpr double kMomentum = 0.95;
constexpr std::array<double, 3> kNewtonSchulz = {3.4445, -4.7750, 2.0315};

void add_matrices(const StoredParameter& p, std::vector<MuonMatrix>& list) {
  const ParameterSlice& slice = p.slice;
  std::int64_t first = 0;
  for (std::int64_t copy = 0; copy < slice.local_copies; ++copy) {
    for (std::size_t i = 0; i < slice.matrices.size(); ++i) {
      list.push_back({.parameter = &p,
                      .first = first,
                      .rows = slice.local_matrix_rows(i),
                      .whole_rows = slice.matrices[i]});
      first += list.back().elements();
    }
  }
}

/// Assigns the matrices of each shape in turn to the ranks that share states.
void deal_out(std::vector<MuonMatrix>& list, std::int64_t ranks) {
  std::map<std::tuple<std::int64_t, std::int64_t, model::TensorParallelSplit>, std::int64_t> dealt;
  const auto shape = [](const MuonMatrix& m) {
    return std::tuple(m.rows, m.columns(), m.parameter->slice.cut);
  };
  for (MuonMatrix& matrix : list) matrix.owner = dealt[shape(matrix)]++ % ranks;
  for (const MuonMatrix& matrix : list) {
    const std::int64_t alike = dealt[shape(matrix)];
    const StoredParameter& p = *matrix.parameter;
    if (alike % ranks == 0 && p.padded == p.slice.elements_on_this_rank()) continue;
    fail_unsupported(
        fmt::format("optimizer: muon of split states is executed where {} ranks have equal parts "
                    "of all matrices: there are {} of the shape of {}, of {} x {}",
                    ranks, alike, p.slice.name, matrix.rows, matrix.columns()));
  }
}

}  // namespace

std::vector<StoredParameter*> muon_parameters(RankState& rank, bool expert) {
  std::vector<StoredParameter*> list = rank.store.trained_parameters_with_own_states();
  std::erase_if(list, [&](const StoredParameter* p) {
    return p->slice.expert != expert || !p->is_layer_matrix();
  });
  return list;
}

MuonProgress& update_muon_momentum(RankState& rank, bool expert) {
  MuonProgress& step = rank.orthogonal[expert ? 1 : 0];
  if (step.made >= MuonProgress::Made::kMomentum) return step;
  step.made = MuonProgress::Made::kMomentum;
  const OptimizerUpdateInputs rates = update_rates(rank);
  for (StoredParameter* p : muon_parameters(rank, expert)) {
    if (p->master.numel() == 0) continue;  // another rank owns it
    const at::Tensor gradient = clipped_gradient(*p, rates);
    if (std::isfinite(rates.norm)) p->first_moment.lerp_(gradient, 1 - kMomentum);
    step.momentum[p] = gradient.lerp(p->first_moment, kMomentum);
    add_matrices(*p, step.matrices);
  }
  const StateShardingLayout& layout = rank.store.state_sharding_layout_of_kind(expert);
  const bool owned = layout.sharding.gradients == plan::StateShardingScope::kNone;
  if (!owned) deal_out(step.matrices, layout.shard_count_of_spread(layout.sharding.optimizer));
  step.values.resize(step.matrices.size());
  step.updates.resize(step.matrices.size());
  return step;
}

MuonProgress& gather_muon_momentum(RankState& rank, bool expert) {
  MuonProgress& step = update_muon_momentum(rank, expert);
  if (step.made >= MuonProgress::Made::kMatrices) return step;
  step.made = MuonProgress::Made::kMatrices;
  for (std::size_t i = 0; i < step.matrices.size(); ++i) {
    const MuonMatrix& matrix = step.matrices[i];
    const at::Tensor flat =
        step.momentum.at(matrix.parameter).narrow(0, matrix.first, matrix.elements());
    step.values[i] = flat.view({matrix.rows, matrix.columns()});
  }
  return step;
}

MuonProgress& orthogonalize_muon_updates(RankState& rank, bool expert) {
  MuonProgress& step = gather_muon_momentum(rank, expert);
  if (step.made >= MuonProgress::Made::kUpdates) return step;
  step.made = MuonProgress::Made::kUpdates;
  for (std::size_t i = 0; i < step.matrices.size(); ++i) {
    const MuonMatrix& matrix = step.matrices[i];
    if (!step.values[i].defined()) continue;
    at::Tensor& update = step.updates[i];
    if (!update.defined()) update = nearest_orthogonal_matrix(step.values[i]);
    const double shape = static_cast<double>(matrix.whole_rows) /
                         static_cast<double>(matrix.parameter->slice.columns);
    update = update * std::sqrt(std::max(1.0, shape));
  }
  return step;
}

at::Tensor nearest_orthogonal_matrix(const at::Tensor& matrix) {
  const bool tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = matrix / (matrix.norm() + kMuonNormEpsilon);
  for (std::int64_t step = 0; step < step::kNewtonSchulzSteps; ++step) {
    x = newton_schulz_step(x, newton_schulz_product(x, tall), tall);
  }
  return x;
}

at::Tensor newton_schulz_product(const at::Tensor& part, bool rows_cut) {
  const at::Tensor other = part.transpose(0, 1);
  return rows_cut ? at::matmul(other, part) : at::matmul(part, other);
}

at::Tensor newton_schulz_step(const at::Tensor& part, const at::Tensor& product, bool rows_cut) {
  const auto [a, b, c] = kNewtonSchulz;
  const at::Tensor sum = b * product + c * at::matmul(product, product);
  return a * part + (rows_cut ? at::matmul(part, sum) : at::matmul(sum, part));
}

void apply_muon_update(StoredParameter& parameter, RankState& rank,
                       const OptimizerUpdateInputs& rates) {
  const MuonProgress& step = orthogonalize_muon_updates(rank, parameter.slice.expert);
  at::Tensor update = at::empty_like(parameter.master);
  if (const auto own = step.returned.find(&parameter); own != step.returned.end()) {
    update = own->second;
  } else {
    for (std::size_t i = 0; i < step.matrices.size(); ++i) {
      const MuonMatrix& matrix = step.matrices[i];
      if (matrix.parameter != &parameter) continue;
      update.narrow(0, matrix.first, matrix.elements()).copy_(step.updates[i].reshape({-1}));
    }
  }
  parameter.master.mul_(1 - rates.learning * rank.options.weight_decay);
  parameter.master.sub_(update, rates.learning);
}

}  // namespace stepwright::runtime
