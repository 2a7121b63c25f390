#include "stepwright/process_group/backend.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "stepwright/process_group/requests.h"

namespace stepwright::process_group {
namespace {

std::chrono::milliseconds chosen(std::chrono::milliseconds asked, std::chrono::milliseconds usual) {
  return asked == c10d::kUnsetTimeout || asked.count() <= 0 ? usual : asked;
}

std::int64_t full_bytes(const at::Tensor& input, const at::Tensor& output) {
  return static_cast<std::int64_t>(std::max(input.nbytes(), output.nbytes()));
}

}  // namespace

StepwrightBackend::StepwrightBackend(ProcessGroupSetup setup, SplitGroup split)
    : Backend(setup.rank, setup.size),
      setup_(std::move(setup)),
      split_(std::move(split)),
      board_(setup_.store, setup_.rank, setup_.size) {
  if (setup_.tiers.empty()) return;
  engine_ = std::make_unique<CollectiveEngine>(setup_.tiers, setup_.rank, setup_.engine,
                                               std::move(setup_.lanes));
  setup_.lanes.clear();
  runner_ = std::make_unique<CollectiveCallRunner>(*engine_, board_, setup_.rank);
}

StepwrightBackend::~StepwrightBackend() {
  if (runner_) runner_->stop_and_refuse_calls("the group is destroyed");
}

c10::intrusive_ptr<c10d::Backend::Options> StepwrightBackend::getBackendOptions() {
  auto options = c10::make_intrusive<Options>("stepwright", setup_.timeout);
  options->group_name = getGroupUid();
  for (const std::int64_t rank : setup_.global_ranks) {
    options->global_ranks_in_group.push_back(static_cast<uint64_t>(rank));
  }
  return options;
}

void StepwrightBackend::setTimeout(std::chrono::milliseconds timeout) {
  setup_.timeout = timeout;
  setup_.wrapped->setTimeout(timeout);
}

void StepwrightBackend::startCoalescing() { coalescing_ = true; }

StepwrightBackend::Work StepwrightBackend::endCoalescing() {
  coalescing_ = false;
  Tensors outputs;
  std::vector<Work> works = std::exchange(coalesced_, {});
  return c10::make_intrusive<CombinedPendingWork>(std::move(works), std::move(outputs));
}

StepwrightBackend::Work StepwrightBackend::kept(Work work) {
  if (coalescing_) coalesced_.push_back(work);
  return work;
}

c10::intrusive_ptr<c10d::Backend> StepwrightBackend::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
    const c10::intrusive_ptr<Options>& opts) {
  if (std::ranges::find(ranks, rank_) == ranks.end()) return nullptr;
  const std::string name = opts && !opts->group_name.empty()
                               ? opts->group_name
                               : fmt::format("split_{}", fmt::join(ranks, "_"));
  const std::chrono::duration<double> timeout = opts ? opts->timeout : setup_.timeout;
  auto prefixed = c10::make_intrusive<c10d::PrefixStore>("stepwright_split/" + name, store);
  return split_(prefixed, ranks, timeout.count());
}

void StepwrightBackend::abort() {
  if (runner_) runner_->stop_and_refuse_calls("the group was aborted");
  setup_.wrapped->abort();
  if (setup_.wrapped_cuda) setup_.wrapped_cuda->abort();
}

void StepwrightBackend::shutdown() {
  if (runner_) {
    runner_->finish(setup_.timeout);
    runner_->stop_and_refuse_calls("the group was shut down");
  }
  setup_.wrapped->shutdown();
  if (setup_.wrapped_cuda) setup_.wrapped_cuda->shutdown();
}

std::int64_t StepwrightBackend::peak_scratch_bytes() const {
  return engine_ ? engine_->peak_scratch_bytes() : 0;
}

c10d::Backend& StepwrightBackend::wrapped_for(const at::Tensor* tensor) {
  const bool on_cuda = tensor != nullptr && tensor->is_cuda();
  return on_cuda && setup_.wrapped_cuda ? *setup_.wrapped_cuda : *setup_.wrapped;
}

std::string StepwrightBackend::text_of(const CollectiveRequest& request) const {
  const at::Tensor& full =
      request.output.numel() > request.input.numel() ? request.output : request.input;
  return fmt::format("{}{}{} of {} {} (call {})", request.name, request.op ? " " : "",
                     request.op ? reduction_name(*request.op) : "", full.numel(),
                     c10::toString(full.scalar_type()), calls_);
}

std::string StepwrightBackend::wrapped_backend_reason(const CollectiveRequest& request) const {
  const at::Tensor& input = request.input;
  const at::Tensor& output = request.output;
  if (!input.device().is_cpu() || !output.device().is_cpu()) return "device";
  if (size_ == 1) return "one rank";
  if (!engine_) return "layout";
  if (input.layout() != at::kStrided || output.layout() != at::kStrided) return "sparse";
  if (input.scalar_type() != output.scalar_type()) return "types differ";
  if (request.op && !transport_reduction_of(*request.op, input.scalar_type())) return "reduction";
  const std::int64_t blocks = std::max(input.numel(), output.numel());
  if (blocks == 0) return "small";
  const bool sized = request.collective == collective::CollectiveOperation::kAllGather
                         ? output.numel() == input.numel() * size_
                     : request.collective == collective::CollectiveOperation::kReduceScatter
                         ? input.numel() == output.numel() * size_
                         : input.numel() == output.numel();
  if (!sized) return "sizes";
  if (request.collective == collective::CollectiveOperation::kAllToAll &&
      input.numel() % size_ != 0)
    return "sizes";
  // No other backend of host tensors has this reduction, so size does not matter.
  const bool only_here = request.op && request.op->op_ == c10d::ReduceOp::PREMUL_SUM;
  if (!only_here && full_bytes(input, output) < setup_.min_bytes) return "small";
  if (!only_here && !algorithm_of_collective_call(request)) return "chosen";
  return {};
}

std::optional<collective::CollectiveAlgorithm> StepwrightBackend::algorithm_of_collective_call(
    const CollectiveRequest& request) const {
  return setup_.engine.collective_algorithm_for_bytes(
      request.collective, static_cast<double>(full_bytes(request.input, request.output)));
}

void StepwrightBackend::record(const CollectiveRequest& request) const {
  const Tensors inputs{request.input};
  const Tensors outputs{request.output};
  const auto number = std::make_tuple(static_cast<std::int64_t>(calls_), false);
  const auto group = std::make_tuple(pg_uid_, pg_desc_);
  RECORD_PARAM_COMMS_DATA(
      number, group, inputs, outputs, rank_, request.name, request.input.numel(),
      request.output.numel(), request.output.scalar_type(), std::vector<std::int64_t>(),
      std::vector<std::int64_t>(),
      static_cast<int>(setup_.global_ranks.empty() ? 0 : setup_.global_ranks[0]), 1, size_);
}

StepwrightBackend::Work StepwrightBackend::schedule(const CollectiveRequest& request,
                                                    const Tensors& outputs,
                                                    std::function<void()> after) {
  const at::NoGradGuard no_gradients;
  ++calls_;
  record(request);
  tally_.add(request.name, {}, full_bytes(request.input, request.output));
  CollectiveCall call{
      .collective = request.collective,
      .text = text_of(request),
      .input = request.input,
      .output = request.output,
      .timeout = chosen(request.timeout, setup_.timeout),
      .method = algorithm_of_collective_call(request).value_or(setup_.engine.method)};
  if (request.op) {
    const TransportReduction known =
        *transport_reduction_of(*request.op, request.input.scalar_type());
    call.reduction = known.reduction;
    call.factor = known.factor;
    call.average = known.average;
  }
  // Only dense, flat memory is processed; the result is copied back if the caller's tensor is not
  // dense.
  const bool same = request.input.is_same(request.output);
  call.output = request.output.contiguous();
  call.input = same ? call.output : request.input.contiguous();
  if (!call.output.is_same(request.output)) {
    after = [flat = call.output, to = request.output, last = std::move(after)] {
      at::Tensor(to).copy_(flat);
      if (last) last();
    };
  }
  auto work = c10::make_intrusive<ScheduledCollectiveWork>(
      ScheduledCollectiveWork::CollectiveCallIdentity{rank_, request.type, calls_},
      fmt::format("stepwright:{}", request.name), Tensors{request.input}, outputs);
  runner_->add({std::move(call), std::move(after), work});
  return kept(work);
}

StepwrightBackend::Work StepwrightBackend::pass_call_to_wrapped_backend(
    const char* name, const std::string& reason, const at::Tensor* tensor,
    const std::function<Work(Backend&)>& act) {
  ++calls_;
  tally_.add(name, reason, tensor == nullptr ? 0 : static_cast<std::int64_t>(tensor->nbytes()));
  Work inner = act(wrapped_for(tensor));
  if (!inner) return inner;
  std::string text = tensor == nullptr ? fmt::format("{} (call {})", name, calls_)
                                       : fmt::format("{} of {} {} (call {})", name, tensor->numel(),
                                                     c10::toString(tensor->scalar_type()), calls_);
  // The function owns copies, since a work may outlive its group.
  auto explain = [board = board_, text = std::move(text), rank = rank_]() mutable {
    return fmt::format(" in {} on rank {}{}", text, rank,
                       board.compare_failed_calls(text, std::chrono::milliseconds(2000)));
  };
  return kept(c10::make_intrusive<WrappedBackendWork>(std::move(inner), std::move(explain)));
}

StepwrightBackend::Work StepwrightBackend::allreduce(Tensors& tensors,
                                                     const c10d::AllreduceOptions& opts) {
  const CollectiveRequest request{"all_reduce",
                                  collective::CollectiveOperation::kAllReduce,
                                  c10d::OpType::ALLREDUCE,
                                  tensors.at(0),
                                  tensors.at(0),
                                  opts.reduceOp,
                                  opts.timeout};
  const std::string reason =
      tensors.size() > 1 ? "several tensors" : wrapped_backend_reason(request);
  if (reason.empty()) return schedule(request, tensors, {});
  return pass_call_to_wrapped_backend(request.name, reason, &tensors[0], [&](Backend& wrapped) {
    return wrapped.allreduce(tensors, opts);
  });
}

namespace {

/// Copies a flat tensor into several tensors, one after the other.
void copy_in_order(const at::Tensor& flat, const std::vector<at::Tensor>& to) {
  std::int64_t first = 0;
  for (const at::Tensor& tensor : to) {
    at::Tensor(tensor).copy_(flat.narrow(0, first, tensor.numel()).view(tensor.sizes()));
    first += tensor.numel();
  }
}

}  // namespace

StepwrightBackend::Work StepwrightBackend::allreduce_coalesced(
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) {
  const bool alike = std::ranges::all_of(tensors, [&](const at::Tensor& tensor) {
    return tensor.layout() == at::kStrided && tensor.device().is_cpu() &&
           tensor.scalar_type() == tensors[0].scalar_type();
  });
  std::string reason = tensors.empty() || !alike ? "mixed tensors" : "";
  if (reason.empty()) {
    std::int64_t elements = 0;
    for (const at::Tensor& tensor : tensors) elements += tensor.numel();
    // The sum of sizes is checked before tensors are copied side by side.
    const at::Tensor like = tensors[0].new_empty({0});
    if (elements * like.element_size() < setup_.min_bytes) reason = "small";
  }
  if (reason.empty()) {
    const at::NoGradGuard no_gradients;
    Tensors rows;
    for (const at::Tensor& tensor : tensors) rows.push_back(tensor.reshape({-1}));
    const at::Tensor flat = at::cat(rows);
    const CollectiveRequest request{"all_reduce",
                                    collective::CollectiveOperation::kAllReduce,
                                    c10d::OpType::ALLREDUCE_COALESCED,
                                    flat,
                                    flat,
                                    opts.reduceOp,
                                    opts.timeout};
    reason = wrapped_backend_reason(request);
    if (reason.empty()) {
      return schedule(request, tensors, [flat, to = tensors] { copy_in_order(flat, to); });
    }
  }
  return pass_call_to_wrapped_backend(
      "all_reduce_coalesced", reason, tensors.empty() ? nullptr : &tensors[0],
      [&](Backend& wrapped) { return wrapped.allreduce_coalesced(tensors, opts); });
}

StepwrightBackend::Work StepwrightBackend::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                           const c10d::AllgatherOptions& opts) {
  const CollectiveRequest request{"all_gather",
                                  collective::CollectiveOperation::kAllGather,
                                  c10d::OpType::_ALLGATHER_BASE,
                                  input,
                                  output,
                                  {},
                                  opts.timeout};
  const std::string reason = wrapped_backend_reason(request);
  if (reason.empty()) return schedule(request, {output}, {});
  return pass_call_to_wrapped_backend(request.name, reason, &output, [&](Backend& wrapped) {
    return wrapped._allgather_base(output, input, opts);
  });
}

StepwrightBackend::Work StepwrightBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                                     const c10d::AllgatherOptions& opts) {
  const Tensors& list = outputs.at(0);
  const at::Tensor& input = inputs.at(0);
  const bool alike = inputs.size() == 1 && std::ssize(list) == size_ &&
                     std::ranges::all_of(list, [&](const at::Tensor& tensor) {
                       return tensor.sizes() == input.sizes() && tensor.device().is_cpu() &&
                              tensor.scalar_type() == input.scalar_type();
                     });
  std::string reason = alike ? "" : "mixed tensors";
  if (alike) {
    const bool small = static_cast<std::int64_t>(input.nbytes()) * size_ < setup_.min_bytes;
    const at::Tensor flat =
        small ? at::Tensor() : at::empty({size_, input.numel()}, input.options());
    const CollectiveRequest request{"all_gather",
                                    collective::CollectiveOperation::kAllGather,
                                    c10d::OpType::ALLGATHER,
                                    input,
                                    flat,
                                    {},
                                    opts.timeout};
    reason = small ? "small" : wrapped_backend_reason(request);
    if (reason.empty()) {
      return schedule(request, list, [flat, to = list] { copy_in_order(flat.view({-1}), to); });
    }
  }
  return pass_call_to_wrapped_backend("all_gather", reason, &input, [&](Backend& wrapped) {
    return wrapped.allgather(outputs, inputs, opts);
  });
}

StepwrightBackend::Work StepwrightBackend::allgather_into_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  TORCH_CHECK(outputs.size() == inputs.size(), "stepwright: as many outputs as inputs");
  std::vector<Work> works;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    works.push_back(_allgather_base(outputs[i], inputs[i], opts));
  }
  return c10::make_intrusive<CombinedPendingWork>(std::move(works), outputs);
}

StepwrightBackend::Work StepwrightBackend::_reduce_scatter_base(
    at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) {
  const CollectiveRequest request{"reduce_scatter",
                                  collective::CollectiveOperation::kReduceScatter,
                                  c10d::OpType::_REDUCE_SCATTER_BASE,
                                  input,
                                  output,
                                  opts.reduceOp,
                                  opts.timeout};
  const std::string reason = wrapped_backend_reason(request);
  if (reason.empty()) return schedule(request, {output}, {});
  return pass_call_to_wrapped_backend(request.name, reason, &input, [&](Backend& wrapped) {
    return wrapped._reduce_scatter_base(output, input, opts);
  });
}

StepwrightBackend::Work StepwrightBackend::reduce_scatter(Tensors& outputs,
                                                          std::vector<Tensors>& inputs,
                                                          const c10d::ReduceScatterOptions& opts) {
  const Tensors& list = inputs.at(0);
  const at::Tensor& output = outputs.at(0);
  const bool alike = outputs.size() == 1 && std::ssize(list) == size_ &&
                     std::ranges::all_of(list, [&](const at::Tensor& tensor) {
                       return tensor.sizes() == output.sizes() && tensor.device().is_cpu() &&
                              tensor.scalar_type() == output.scalar_type();
                     });
  std::string reason = alike ? "" : "mixed tensors";
  if (alike) {
    const at::NoGradGuard no_gradients;
    const bool small = static_cast<std::int64_t>(output.nbytes()) * size_ < setup_.min_bytes;
    const CollectiveRequest request{"reduce_scatter",
                                    collective::CollectiveOperation::kReduceScatter,
                                    c10d::OpType::REDUCE_SCATTER,
                                    small ? output : at::stack(list),
                                    output,
                                    opts.reduceOp,
                                    opts.timeout};
    reason = small ? "small" : wrapped_backend_reason(request);
    if (reason.empty()) return schedule(request, outputs, {});
  }
  return pass_call_to_wrapped_backend("reduce_scatter", reason, &output, [&](Backend& wrapped) {
    return wrapped.reduce_scatter(outputs, inputs, opts);
  });
}

StepwrightBackend::Work StepwrightBackend::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& opts) {
  TORCH_CHECK(outputs.size() == inputs.size(), "stepwright: as many outputs as inputs");
  std::vector<Work> works;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    works.push_back(_reduce_scatter_base(outputs[i], inputs[i], opts));
  }
  return c10::make_intrusive<CombinedPendingWork>(std::move(works), outputs);
}

StepwrightBackend::Work StepwrightBackend::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                         std::vector<int64_t>& output_splits,
                                                         std::vector<int64_t>& input_splits,
                                                         const c10d::AllToAllOptions& opts) {
  const CollectiveRequest request{"all_to_all",
                                  collective::CollectiveOperation::kAllToAll,
                                  c10d::OpType::ALLTOALL_BASE,
                                  input,
                                  output,
                                  {},
                                  opts.timeout};
  const bool split = !output_splits.empty() || !input_splits.empty();
  // Ranks whose own splits happen to be even cannot know those of other ranks.
  const std::string reason = split ? "splits" : wrapped_backend_reason(request);
  if (reason.empty()) return schedule(request, {output}, {});
  return pass_call_to_wrapped_backend(request.name, reason, &input, [&](Backend& wrapped) {
    return wrapped.alltoall_base(output, input, output_splits, input_splits, opts);
  });
}

}  // namespace stepwright::process_group
