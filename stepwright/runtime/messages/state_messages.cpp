// Messages about parameters, gradients and the numbers of a step.
#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"
#include "stepwright/runtime/messages/shard_rows.h"

namespace stepwright::runtime {
namespace {

using Parameters = std::vector<StoredParameter*>;

std::vector<std::int32_t> units(const Call& call) {
  return call.item.units.empty() ? call.rank.store.order() : call.item.units;
}

/// A parameter and its gradient to reduce.
struct Leaving {
  StoredParameter* parameter;
  at::Tensor gradient;
};

/// Returns the gradients that a reduction sums: those that a backward passed on (`handed_over`), or
/// those held on this rank.
std::vector<Leaving> leaving_gradients(Call& call, bool handed_over) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  std::vector<Leaving> found;
  std::size_t next = 0;
  for (const std::int32_t id : units(call)) {
    BlockParameters& unit = call.rank.store.unit(id);
    at::Tensor whole;
    // A block without experts passes nothing on where only gradients of experts are reduced.
    if (handed_over && unit.leaving_elements > 0) whole = call.gathered_reads.at(next++)->value;
    for (StoredParameter& parameter : unit.parameters) {
      if (parameter.slice.expert != expert || parameter.frozen) continue;
      StoredParameter* holder = &parameter.holder();
      if (handed_over) {
        found.push_back({holder, whole.narrow(0, parameter.reduce_offset, parameter.padded)});
      } else if (parameter.owner == nullptr) {
        found.push_back({holder, parameter.gradient});
      }
    }
  }
  return found;
}

void scatter_gradients(Call& call) {
  const plan::Sharding& sharding = call.rank.plan.sharding;
  const std::int64_t ranks = call.rank.groups.of(call.op).size();
  const bool outer = call.op.group == plan::GroupKind::kShardOuter ||
                     call.op.group == plan::GroupKind::kExpertShardOuter;
  const bool handed_over = sharding.gradients != plan::Spread::kNone && !outer;
  const std::vector<Leaving> leaving = leaving_gradients(call, handed_over);
  std::vector<std::vector<at::Tensor>> of_rank(static_cast<std::size_t>(ranks));
  for (const Leaving& one : leaving) {
    std::vector<at::Tensor> shares =
        shard_of_each_rank(call, *one.parameter->layout, one.gradient, ranks);
    for (std::size_t r = 0; r < shares.size(); ++r) of_rank[r].push_back(std::move(shares[r]));
  }
  std::vector<at::Tensor> rows;
  for (const std::vector<at::Tensor>& parts : of_rank) rows.push_back(at::cat(parts));
  const at::Tensor own = reduce_scatter_columns(call, at::stack(rows));
  const auto index = static_cast<std::size_t>(call.rank.groups.of(call.op).index());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const at::Tensor sum = own.narrow(0, begin, of_rank[index][i].numel());
    begin += sum.numel();
    StoredParameter& parameter = *leaving[i].parameter;
    if (handed_over) {
      parameter.gradient.add_(sum);
    } else {
      parameter.optimizer_gradient().copy_(sum);
    }
  }
}

void reduce_gradients(Call& call) {
  if (call.op.kind == step::OperatorKind::kReduceScatter) return scatter_gradients(call);
  std::vector<at::Tensor> parts;
  for (const Leaving& one : leaving_gradients(call, false)) {
    parts.push_back(one.parameter->optimizer_gradient());
  }
  all_reduce_joined_tensors(call, parts);
}

/// Gathers the parameters of a block, before each use.
void gather_parameters(Call& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  BlockParameters& unit = call.rank.store.unit(call.item.units.front());
  at::Tensor& whole = call.gathered_writes.front()->value;
  if (!whole.defined()) {
    whole = at::empty({unit.gathered_elements}, call.rank.tensor_options_of(call.op.dtype));
  }
  std::vector<at::Tensor> own;
  for (const StoredParameter* parameter : unit.used(expert)) own.push_back(parameter->value);
  const at::Tensor rows = all_gather_columns(call, at::cat(own));
  std::int64_t column = 0;
  for (const StoredParameter& parameter : unit.parameters) {
    if (parameter.slice.expert != expert) continue;
    const std::int64_t width = parameter.padded / rows.size(0);
    store_rows_as_shards(call, *parameter.layout, rows.narrow(1, column, width),
                         whole.narrow(0, parameter.gather_offset, parameter.padded));
    column += width;
  }
}

/// Gathers parameters after an update, if the updated shards are finer than the resident ones.
void gather_updated(Call& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  Parameters parameters;
  std::vector<at::Tensor> own;
  for (const std::int32_t id : units(call)) {
    for (StoredParameter* parameter : call.rank.store.unit(id).own(expert)) {
      parameters.push_back(parameter);
      own.push_back(parameter->optimizer_value());
    }
  }
  const at::Tensor rows = all_gather_columns(call, at::cat(own));
  std::vector<std::int64_t> columns(static_cast<std::size_t>(rows.size(0)));
  const auto take = [&](std::size_t rank, std::int64_t width) {
    columns[rank] += width;
    return rows.select(0, static_cast<std::int64_t>(rank)).narrow(0, columns[rank] - width, width);
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    StoredParameter& parameter = *parameters[i];
    if (parameter.layout->owner) {
      const auto owner = static_cast<std::size_t>(*parameter.layout->owner);
      parameter.value.copy_(take(owner, parameter.value.numel()));
      continue;
    }
    std::vector<at::Tensor> shares;
    for (std::size_t r = 0; r < columns.size(); ++r) shares.push_back(take(r, own[i].numel()));
    store_rows_as_shards(call, *parameter.layout, at::stack(shares), parameter.value);
  }
}

void reduce_small(Call& call, bool tied) {
  std::vector<at::Tensor> gradients;
  const bool expert = plan::is_expert_communicator(call.op.group);
  for (const std::int32_t id : call.rank.store.order()) {
    for (const StoredParameter* parameter : call.rank.store.unit(id).own(expert)) {
      if (tied ? parameter->slice.name == kEmbeddingTableName : parameter->slice.partial)
        gradients.push_back(parameter->gradient);
    }
  }
  all_reduce_joined_tensors(call, gradients);
}

}  // namespace

void run_data_parallel_message(Call& call) {
  StepLossAndNormSums& sums = call.rank.sums;
  switch (call.op.purpose) {
    case step::Purpose::kGatherParameters: return gather_parameters(call);
    case step::Purpose::kGatherUpdated: return gather_updated(call);
    case step::Purpose::kReduceGradients: return reduce_gradients(call);
    case step::Purpose::kReduceReplicated: return reduce_small(call, false);
    case step::Purpose::kReduceTiedTable: return reduce_small(call, true);
    case step::Purpose::kShareNorm:
      return all_reduce_joined_tensors(
          call,
          {plan::is_expert_communicator(call.op.group) ? sums.expert_square : sums.dense_square});
    case step::Purpose::kShareLoads: {
      std::vector<at::Tensor> loads;
      for (const StoredParameter* bias : call.rank.store.buffers()) {
        if (!bias->frozen) loads.push_back(bias->gradient);
      }
      return all_reduce_joined_tensors(call, loads);
    }
    case step::Purpose::kShareLoss: return all_reduce_joined_tensors(call, {sums.loss});
    case step::Purpose::kGatherMatrices:
    case step::Purpose::kShareProducts:
    case step::Purpose::kReturnMatrices: return run_muon_message(call);
    case step::Purpose::kShareSums:
    case step::Purpose::kGatherMoments:
    case step::Purpose::kShareSquares: return run_adafactor_message(call);
    default: break;
  }
  throw Error(ErrorKind::kUnsupported, fmt::format("{}: no message about states", call.op.name));
}

}  // namespace stepwright::runtime
