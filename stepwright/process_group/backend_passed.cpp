#include <fmt/format.h>

#include "stepwright/process_group/backend.h"

// Operations that always go to the wrapped backend.
namespace stepwright::process_group {
namespace {

constexpr const char* kOperation = "operation";

const at::Tensor* first_of(const std::vector<at::Tensor>& tensors) {
  return tensors.empty() ? nullptr : tensors.data();
}

}  // namespace

StepwrightBackend::Work StepwrightBackend::alltoall(Tensors& outputs, Tensors& inputs,
                                                    const c10d::AllToAllOptions& opts) {
  return pass_call_to_wrapped_backend(
      "all_to_all_list", kOperation, first_of(inputs),
      [&](Backend& wrapped) { return wrapped.alltoall(outputs, inputs, opts); });
}

StepwrightBackend::Work StepwrightBackend::allreduce_sparse(Tensors& tensors,
                                                            const c10d::AllreduceOptions& opts) {
  return pass_call_to_wrapped_backend(
      "all_reduce_sparse", kOperation, nullptr,
      [&](Backend& wrapped) { return wrapped.allreduce_sparse(tensors, opts); });
}

StepwrightBackend::Work StepwrightBackend::allgather_coalesced(std::vector<Tensors>& outputs,
                                                               Tensors& inputs,
                                                               const c10d::AllgatherOptions& opts) {
  return pass_call_to_wrapped_backend(
      "all_gather_coalesced", kOperation, first_of(inputs),
      [&](Backend& wrapped) { return wrapped.allgather_coalesced(outputs, inputs, opts); });
}

StepwrightBackend::Work StepwrightBackend::broadcast(Tensors& tensors,
                                                     const c10d::BroadcastOptions& opts) {
  return pass_call_to_wrapped_backend(
      "broadcast", kOperation, first_of(tensors),
      [&](Backend& wrapped) { return wrapped.broadcast(tensors, opts); });
}

StepwrightBackend::Work StepwrightBackend::reduce(Tensors& tensors,
                                                  const c10d::ReduceOptions& opts) {
  return pass_call_to_wrapped_backend(
      "reduce", kOperation, first_of(tensors),
      [&](Backend& wrapped) { return wrapped.reduce(tensors, opts); });
}

StepwrightBackend::Work StepwrightBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                                  const c10d::GatherOptions& opts) {
  return pass_call_to_wrapped_backend(
      "gather", kOperation, first_of(inputs),
      [&](Backend& wrapped) { return wrapped.gather(outputs, inputs, opts); });
}

StepwrightBackend::Work StepwrightBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                                   const c10d::ScatterOptions& opts) {
  return pass_call_to_wrapped_backend(
      "scatter", kOperation, first_of(outputs),
      [&](Backend& wrapped) { return wrapped.scatter(outputs, inputs, opts); });
}

StepwrightBackend::Work StepwrightBackend::barrier(const c10d::BarrierOptions& opts) {
  return pass_call_to_wrapped_backend("barrier", kOperation, nullptr,
                                      [&](Backend& wrapped) { return wrapped.barrier(opts); });
}

void StepwrightBackend::monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) {
  tally_.add("monitored_barrier", kOperation, 0);
  setup_.wrapped->monitoredBarrier(opts, wait_all_ranks);
}

// Sends and receives are not collectives: ranks need not have sent equally many.

StepwrightBackend::Work StepwrightBackend::send(Tensors& tensors, int to, int tag) {
  tally_.add("send", kOperation, static_cast<std::int64_t>(tensors.at(0).nbytes()));
  return kept(wrapped_for(tensors.data()).send(tensors, to, tag));
}

StepwrightBackend::Work StepwrightBackend::recv(Tensors& tensors, int from, int tag) {
  tally_.add("recv", kOperation, static_cast<std::int64_t>(tensors.at(0).nbytes()));
  return kept(wrapped_for(tensors.data()).recv(tensors, from, tag));
}

StepwrightBackend::Work StepwrightBackend::recvAnysource(Tensors& tensors, int tag) {
  tally_.add("recv", kOperation, static_cast<std::int64_t>(tensors.at(0).nbytes()));
  return kept(wrapped_for(tensors.data()).recvAnysource(tensors, tag));
}

}  // namespace stepwright::process_group
