#include "stepwright/runtime/execute/tensor_performer.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"
#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {
namespace {

/// Checks that results have the sizes that the program states, except routed ones, whose numbers of
/// rows depend on the data.
void check_results(const KernelCall& call, std::span<const step::TensorId> ids) {
  std::size_t next = 0;
  for (const step::TensorId id : ids) {
    const step::TemplateTensor& expected = call.piece.tensors[static_cast<std::size_t>(id)];
    if (expected.kind == step::TensorPurpose::kGathered) continue;
    const at::Tensor& value = call.writes[next++]->value;
    if (expected.routed) continue;
    if (!value.defined() || value.numel() != expected.elements()) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("{}: {} made {} elements of '{}', but the program states {}",
                              call.piece.name, call.op.name, value.defined() ? value.numel() : 0,
                              expected.name, expected.elements()));
    }
  }
}

/// Prevents that a device's memory is reused while this thread's queue still reads it.
void note_use(const KernelCall& call) {
  RankDevice& device = call.rank.device;
  if (!device.starts_operators_asynchronously()) return;
  for (const auto& cells : {call.reads, call.gathered_reads, call.writes, call.gathered_writes}) {
    for (const PlacedTensorPtr& cell : cells) {
      if (cell->value.defined()) device.keep_tensor_for_current_queue(cell->value);
    }
  }
}

/// Counts the results of an operator as held from here on, by their kind in the program.
void count_results(const KernelCall& call, LiveTensorCounter& held) {
  std::size_t plain = 0;
  std::size_t gathered = 0;
  for (const step::TensorId id : call.piece.writes(call.op)) {
    const step::TensorPurpose kind = call.piece.tensors[static_cast<std::size_t>(id)].kind;
    const bool states = kind == step::TensorPurpose::kGathered;
    (states ? call.gathered_writes[gathered++] : call.writes[plain++])->count(held, kind);
  }
  held.raise_peak_to_held_bytes();
}

void move_to(at::Device device, MicroBatch& made) {
  std::vector<at::Tensor*> all{&made.tokens, &made.targets, &made.positions, &made.places,
                               &made.documents};
  for (at::Tensor& one : made.embedded_ahead) all.push_back(&one);
  for (at::Tensor& one : made.targets_ahead) all.push_back(&one);
  for (at::Tensor* one : all) {
    if (one->defined()) *one = one->to(device);
  }
}

void perform(KernelCall& call, LiveTensorCounter& held) {
  note_use(call);
  if (step::is_communication(call.op.kind)) {
    run_communication_operator(call);
  } else {
    const Kernel kernel = find_kernel(call.op);
    if (kernel == nullptr) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: no kernel for {} yet", call.op.name,
                              name_of(step::kOperatorNames, call.op.kind)));
    }
    kernel(call);
  }
  if (!call.writes.empty()) check_results(call, call.piece.writes(call.op));
  count_results(call, held);
}

}  // namespace

TensorOperatorRunner::TensorOperatorRunner(RankState& rank, MicroBatchSource batch_of)
    : rank_(rank), batch_of_(std::move(batch_of)) {}

Work TensorOperatorRunner::make_operator_work(OperatorWithOperands placed) {
  const MicroBatch* batch = nullptr;
  if (placed.micro_batch >= 0) {
    auto found = batches_.find(placed.micro_batch);
    if (found == batches_.end()) {
      MicroBatch made = batch_of_(placed.micro_batch);
      move_to(rank_.device.torch_device(), made);
      found = batches_.emplace(placed.micro_batch, std::move(made)).first;
    }
    batch = &found->second;
  }
  auto call = std::make_shared<KernelCall>(KernelCall{std::move(placed), rank_, batch});
  return [this, call](Moment /*ready*/) { perform(*call, held_); };
}

StepLossAndNormSums make_zero_loss_and_norm_sums(const RankState& rank) {
  const auto zeros = [&](std::int64_t n) {
    return at::zeros({n}, rank.tensor_options_of(rank.setting.exact));
  };
  return {.loss = zeros(2), .dense_square = zeros(1), .expert_square = zeros(1)};
}

void TensorOperatorRunner::end_step() {
  rank_.groups.finish();
  batches_.clear();
}

}  // namespace stepwright::runtime
