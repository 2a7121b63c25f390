// Messages about parameters, gradients and the numbers of a step.
#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"
#include "stepwright/runtime/messages/shard_rows.h"

namespace stepwright::runtime {
namespace {

using Parameters = std::vector<StoredParameter*>;

std::vector<std::int32_t> units(const KernelCall& call) {
  return call.item.units.empty() ? call.rank.store.block_numbers_in_use_order() : call.item.units;
}

/// A parameter and its gradient to reduce.
struct Leaving {
  StoredParameter* parameter;
  at::Tensor gradient;
};

/// Returns the gradients that a reduction sums: those that a backward passed on (`handed_over`), or
/// those held on this rank.
std::vector<Leaving> leaving_gradients(KernelCall& call, bool handed_over) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  std::vector<Leaving> found;
  std::size_t next = 0;
  for (const std::int32_t id : units(call)) {
    ModelBlockParameters& unit = call.rank.store.parameters_of_block(id);
    at::Tensor whole;
    // A block without experts passes nothing on where only gradients of experts are reduced.
    if (handed_over && unit.leaving_elements > 0) whole = call.gathered_reads.at(next++)->value;
    for (StoredParameter& parameter : unit.parameters) {
      if (parameter.slice.expert != expert || parameter.frozen) continue;
      StoredParameter* holder = &parameter.value_owning_parameter();
      if (handed_over) {
        found.push_back({holder, whole.narrow(0, parameter.reduce_offset, parameter.padded)});
      } else if (parameter.owner == nullptr) {
        found.push_back({holder, parameter.gradient});
      }
    }
  }
  return found;
}

void scatter_gradients(KernelCall& call) {
  const plan::Sharding& sharding = call.rank.plan.sharding;
  const std::int64_t ranks = call.rank.groups.communicator_of_operator(call.op).size();
  const bool outer = call.op.group == plan::CommunicatorKind::kShardOuter ||
                     call.op.group == plan::CommunicatorKind::kExpertShardOuter;
  const bool handed_over = sharding.gradients != plan::StateShardingScope::kNone && !outer;
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
  const auto index =
      static_cast<std::size_t>(call.rank.groups.communicator_of_operator(call.op).index());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const at::Tensor sum = own.narrow(0, begin, of_rank[index][i].numel());
    begin += sum.numel();
    StoredParameter& parameter = *leaving[i].parameter;
    if (handed_over) {
      parameter.gradient.add_(sum);
    } else {
      parameter.gradient_for_own_optimizer().copy_(sum);
    }
  }
}

void reduce_gradients(KernelCall& call) {
  if (call.op.kind == step::OperatorKind::kReduceScatter) return scatter_gradients(call);
  std::vector<at::Tensor> parts;
  for (const Leaving& one : leaving_gradients(call, false)) {
    parts.push_back(one.parameter->gradient_for_own_optimizer());
  }
  all_reduce_joined_tensors(call, parts);
}

/// Gathers the parameters of a block, before each use.
void gather_parameters(KernelCall& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  ModelBlockParameters& unit = call.rank.store.parameters_of_block(call.item.units.front());
  at::Tensor& whole = call.gathered_writes.front()->value;
  if (!whole.defined()) {
    whole = at::empty({unit.gathered_elements}, call.rank.tensor_options_of(call.op.dtype));
  }
  std::vector<at::Tensor> own;
  for (const StoredParameter* parameter : unit.value_holding_parameters_of_block(expert))
    own.push_back(parameter->value);
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
void gather_updated(KernelCall& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  Parameters parameters;
  std::vector<at::Tensor> own;
  for (const std::int32_t id : units(call)) {
    for (StoredParameter* parameter :
         call.rank.store.parameters_of_block(id).trained_parameters_with_own_states(expert)) {
      parameters.push_back(parameter);
      own.push_back(parameter->value_updated_by_own_optimizer());
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

void reduce_small(KernelCall& call, bool tied) {
  std::vector<at::Tensor> gradients;
  const bool expert = plan::is_expert_communicator(call.op.group);
  for (const std::int32_t id : call.rank.store.block_numbers_in_use_order()) {
    for (const StoredParameter* parameter :
         call.rank.store.parameters_of_block(id).trained_parameters_with_own_states(expert)) {
      if (tied ? parameter->slice.name == kEmbeddingTableName : parameter->slice.partial)
        gradients.push_back(parameter->gradient);
    }
  }
  all_reduce_joined_tensors(call, gradients);
}

}  // namespace

void run_data_parallel_message(KernelCall& call) {
  StepLossAndNormSums& sums = call.rank.sums;
  switch (call.op.purpose) {
    case step::OperatorPurpose::kGatherParameters: return gather_parameters(call);
    case step::OperatorPurpose::kGatherUpdated: return gather_updated(call);
    case step::OperatorPurpose::kReduceGradients: return reduce_gradients(call);
    case step::OperatorPurpose::kReduceReplicated: return reduce_small(call, false);
    case step::OperatorPurpose::kReduceTiedTable: return reduce_small(call, true);
    case step::OperatorPurpose::kShareNorm:
      return all_reduce_joined_tensors(
          call,
          {plan::is_expert_communicator(call.op.group) ? sums.expert_square : sums.dense_square});
    case step::OperatorPurpose::kShareLoads: {
      std::vector<at::Tensor> loads;
      for (const StoredParameter* bias : call.rank.store.buffers()) {
        if (!bias->frozen) loads.push_back(bias->gradient);
      }
      return all_reduce_joined_tensors(call, loads);
    }
    case step::OperatorPurpose::kShareLoss: return all_reduce_joined_tensors(call, {sums.loss});
    case step::OperatorPurpose::kGatherMatrices:
    case step::OperatorPurpose::kShareProducts:
    case step::OperatorPurpose::kReturnMatrices: return run_muon_message(call);
    case step::OperatorPurpose::kShareSums:
    case step::OperatorPurpose::kGatherMoments:
    case step::OperatorPurpose::kShareSquares: return run_adafactor_message(call);
    default: break;
  }
  throw Error(ErrorKind::kUnsupported, fmt::format("{}: no message about states", call.op.name));
}

}  // namespace stepwright::runtime
