#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

#include "stepwright/process_group/engine.h"
#include "stepwright/process_group/passed_work.h"
#include "stepwright/process_group/runner.h"
#include "stepwright/process_group/tally.h"

namespace stepwright::process_group {

/// Ingredients of a Stepwright process group: its ranks, its options, and the backends that it
/// wraps.
struct ProcessGroupSetup {
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout{};
  std::vector<std::int64_t> global_ranks;
  /// {ranks per node, nodes} of the group; empty: nodes have different numbers of ranks, so all
  /// collectives go to the wrapped backend.
  std::vector<std::int32_t> tiers;
  /// Collectives whose full buffer has fewer bytes go to the wrapped backend.
  std::int64_t min_bytes = 0;
  ProcessGroupOptions engine;
  /// Wrapped backend (such as Gloo) for tensors in host memory and for calls without tensors.
  c10::intrusive_ptr<c10d::Backend> wrapped;
  /// Wrapped backend (such as NCCL) for tensors in CUDA memory; may be null.
  c10::intrusive_ptr<c10d::Backend> wrapped_cuda;
  std::vector<c10::intrusive_ptr<c10d::Backend>> lanes;
};

/// Callback that makes the backend of a sub-group from its store, its ranks in the group, and the
/// timeout.
using SplitGroup = std::function<c10::intrusive_ptr<c10d::Backend>(c10::intrusive_ptr<c10d::Store>,
                                                                   std::vector<int>, double)>;

/// The torch.distributed backend "stepwright": runs all-reduce, all-gather, reduce-scatter and
/// all-to-all of tensors in host memory by its own schedules of messages, and passes everything
/// else to a wrapped backend.
class StepwrightBackend : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  /// Makes the backend; every rank of the group must do so with equal options. `split` makes the
  /// backends of sub-groups.
  StepwrightBackend(ProcessGroupSetup setup, SplitGroup split);
  ~StepwrightBackend() override;

  const std::string getBackendName() const override { return "stepwright"; }
  c10::intrusive_ptr<Options> getBackendOptions() override;
  bool supportsSplitting() const override { return true; }
  bool supportsCoalescing() const override { return true; }
  void setTimeout(std::chrono::milliseconds timeout) override;
  void startCoalescing() override;
  Work endCoalescing() override;
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                    const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Options>& opts) override;
  void abort() override;
  void shutdown() override;
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return calls_; }
  c10d::ErrorType getError() override { return c10d::ErrorType::SUCCESS; }

  // These run as schedules where `process_group_setup` and the tensors allow it.
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  Work allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) override;
  Work _allgather_base(at::Tensor& output, at::Tensor& input,
                       const c10d::AllgatherOptions& opts) override;
  Work allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::AllgatherOptions& opts) override;
  Work allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::AllgatherOptions& opts) override;
  Work _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                            const c10d::ReduceScatterOptions& opts) override;
  Work reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                      const c10d::ReduceScatterOptions& opts) override;
  Work reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                       const c10d::ReduceScatterOptions& opts) override;
  Work alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                     std::vector<int64_t>& input_splits,
                     const c10d::AllToAllOptions& opts) override;

  // These always go to the wrapped backend.
  Work alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) override;
  Work allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  Work allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                           const c10d::AllgatherOptions& opts) override;
  Work broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override;
  Work reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override;
  Work gather(std::vector<Tensors>& outputs, Tensors& inputs,
              const c10d::GatherOptions& opts) override;
  Work scatter(Tensors& outputs, std::vector<Tensors>& inputs,
               const c10d::ScatterOptions& opts) override;
  Work send(Tensors& tensors, int to, int tag) override;
  Work recv(Tensors& tensors, int from, int tag) override;
  Work recvAnysource(Tensors& tensors, int tag) override;
  Work barrier(const c10d::BarrierOptions& opts) override;
  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override;

  /// Returns the ranks, options and wrapped backends with which the process group was made.
  [[nodiscard]] const ProcessGroupSetup& process_group_setup() const { return setup_; }
  /// Returns how often each operation was called so far, both those run by schedules and those
  /// passed to the wrapped backend.
  [[nodiscard]] std::map<CollectiveCallCounter::Key, CollectiveCallCounter::CallCountAndBytes>
  collective_call_counts() const {
    return tally_.collective_call_counts();
  }
  /// Returns the most bytes of buffers, in addition to the tensors, that were held at a time; 0 if
  /// no collective was run by a schedule.
  [[nodiscard]] std::int64_t peak_scratch_bytes() const;

 private:
  /// A collective call that may be run by a schedule or passed to the wrapped backend.
  struct CollectiveRequest {
    const char* name;
    collective::CollectiveOperation collective;
    c10d::OpType type;
    at::Tensor input;
    at::Tensor output;
    std::optional<c10d::ReduceOp> op;
    std::chrono::milliseconds timeout;
  };

  /// Returns the reason why a call must go to the wrapped backend ("device", "small", ...); empty:
  /// it is run by a schedule.
  [[nodiscard]] std::string wrapped_backend_reason(const CollectiveRequest& request) const;
  /// Returns the algorithm that runs a call; nullopt: the wrapped backend runs it.
  [[nodiscard]] std::optional<collective::CollectiveAlgorithm> algorithm_of_collective_call(
      const CollectiveRequest& request) const;
  Work schedule(const CollectiveRequest& request, const Tensors& outputs,
                std::function<void()> after);
  void record(const CollectiveRequest& request) const;
  [[nodiscard]] std::string text_of(const CollectiveRequest& request) const;
  /// Passes a call to the wrapped backend by calling `act`, and counts it under `name` and
  /// `reason`.
  Work pass_call_to_wrapped_backend(const char* name, const std::string& reason,
                                    const at::Tensor* tensor,
                                    const std::function<Work(Backend&)>& act);
  Work kept(Work work);
  c10d::Backend& wrapped_for(const at::Tensor* tensor);

  ProcessGroupSetup setup_;
  SplitGroup split_;
  CollectiveCallCounter tally_;
  RankStatusBoard board_;
  std::unique_ptr<CollectiveEngine> engine_;
  std::unique_ptr<CollectiveCallRunner> runner_;
  std::uint64_t calls_ = 0;
  bool coalescing_ = false;
  std::vector<Work> coalesced_;
};

}  // namespace stepwright::process_group
