#include "stepwright/runtime/messages/messages.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/pipeline_neighbour.h"

namespace stepwright::runtime {
namespace {

at::Tensor empty(const KernelCall& call, std::int64_t rows, std::int64_t columns) {
  return at::empty({rows, columns}, call.rank.tensor_options_of(call.op.dtype));
}

/// Sums a tensor over ranks; if the result is another tensor than the operand, the operand stays
/// unchanged.
void all_reduce(KernelCall& call) {
  at::Tensor buffer = call.read_operand(0).contiguous();
  if (call.reads.front() != call.writes.front()) buffer = buffer.clone();
  check_payload_elements(call.op, buffer.numel());
  call.rank.groups.communicator_of_operator(call.op).all_reduce(call.op, buffer);
  call.write_result(0, std::move(buffer));
}

void all_gather(KernelCall& call) {
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const at::Tensor& rows = call.read_operand(0);  // for latent attention, their last columns
  const std::int64_t columns = call.op.payload_elements / (rows.size(0) * group.size());
  const at::Tensor part = columns < rows.size(1)
                              ? rows.narrow(1, rows.size(1) - columns, columns).contiguous()
                              : rows.contiguous();
  at::Tensor whole = empty(call, part.size(0) * group.size(), part.size(1));
  check_payload_elements(call.op, whole.numel());
  group.all_gather(call.op, whole, part);
  call.write_result(0, std::move(whole));
}

/// Gathers the columns of all tensor ranks side by side, for the rows with which this rank
/// continues.
void gather_columns(KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const at::Tensor own = call.read_operand(0).contiguous();
  at::Tensor all = empty(call, own.size(0) * group.size(), own.size(1));
  check_payload_elements(call.op, all.numel());
  group.all_gather(call.op, all, own);
  const at::Tensor rows = all.view({group.size(), own.size(0), own.size(1)})
                              .transpose(0, 1)
                              .reshape({own.size(0), group.size() * own.size(1)});
  call.write_result(0, s.sequence_parallel
                           ? rows.narrow(0, call.rank.place.tensor * s.rows, s.rows).contiguous()
                           : rows);
}

void reduce_scatter(KernelCall& call) {
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const at::Tensor whole = call.read_operand(0).contiguous();
  at::Tensor part = empty(call, whole.size(0) / group.size(), whole.size(1));
  check_payload_elements(call.op, whole.numel());
  group.reduce_scatter(call.op, part, whole);
  call.write_result(0, std::move(part));
}

/// Sends rows between the embedding or the head and the positions that have a part of its table.
void broadcast(KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(call.rank.plan);
  const std::int64_t from = call.op.part == step::LayerPart::kHead
                                ? placement.head_position()
                                : placement.embedding_pipeline_position();
  at::Tensor buffer =
      call.reads.empty() ? empty(call, s.rows, s.model->hidden) : call.read_operand(0).contiguous();
  check_payload_elements(call.op, buffer.numel());
  call.rank.groups.communicator_of_operator(call.op).broadcast(call.op, buffer, from);
  call.write_result(0, std::move(buffer));
}

void send(KernelCall& call) {
  const at::Tensor buffer = call.read_operand(0).contiguous();
  check_payload_elements(call.op, buffer.numel());
  const PipelineNeighbour to = pipeline_neighbour_of(call, call.rank.plan, call.rank.place);
  call.rank.groups.communicator_of_operator(call.op).start_buffer_send(call.op, buffer, to.position,
                                                                       to.tag);
}

void receive(KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  at::Tensor buffer = empty(call, s.rows, s.model->hidden);
  check_payload_elements(call.op, buffer.numel());
  const PipelineNeighbour from = pipeline_neighbour_of(call, call.rank.plan, call.rank.place);
  call.rank.groups.communicator_of_operator(call.op).receive_buffer(call.op, buffer, from.position,
                                                                    from.tag);
  call.write_result(0, std::move(buffer));
}

}  // namespace

void check_payload_elements(const step::Operator& op, std::int64_t elements) {
  if (op.routed || elements == op.payload_elements) return;
  throw Error(
      ErrorKind::kRuntime,
      fmt::format("{} of {}: has {} elements, but the program states {}",
                  name_of(step::kOperatorNames, op.kind), op.name, elements, op.payload_elements));
}

void run_communication_operator(KernelCall& call) {
  if (step::carries_model_states(call.op.purpose)) return run_data_parallel_message(call);
  if (call.op.scheme == step::ParallelismScheme::kContext)
    return run_context_parallel_message(call);
  if (call.op.scheme == step::ParallelismScheme::kExpert && call.op.routed)
    return run_expert_message(call);
  switch (call.op.kind) {
    case step::OperatorKind::kAllReduce: return all_reduce(call);
    case step::OperatorKind::kAllGather:
      return call.op.purpose == step::OperatorPurpose::kColumns ? gather_columns(call)
                                                                : all_gather(call);
    case step::OperatorKind::kReduceScatter: return reduce_scatter(call);
    case step::OperatorKind::kBroadcast: return broadcast(call);
    case step::OperatorKind::kSend: return send(call);
    case step::OperatorKind::kReceive: return receive(call);
    default: break;
  }
  throw Error(ErrorKind::kUnsupported, fmt::format("{}: no message of this kind is executed yet",
                                                   name_of(step::kOperatorNames, call.op.kind)));
}

}  // namespace stepwright::runtime
