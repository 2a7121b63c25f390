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

/// The parts from which a process group is made.
struct GroupSetup {
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout{};
  std::vector<std::int64_t> global_ranks;
  /// {members, nodes}; empty: nodes have different numbers of members, and no collective is
  /// scheduled.
  std::vector<std::int32_t> tiers;
  std::int64_t min_bytes = 0;  ///< Collectives with smaller full buffers go to the wrapped backend.
  EngineOptions engine;
  /// Wrapped backend for tensors in host memory, and for calls without tensors.
  c10::intrusive_ptr<c10d::Backend> wrapped;
  /// Wrapped backend for tensors of CUDA devices; may be null.
  c10::intrusive_ptr<c10d::Backend> wrapped_cuda;
  std::vector<c10::intrusive_ptr<c10d::Backend>> lanes;
};

/// Makes the backend of a sub-group from its store, its ranks in the group, and the timeout.
using SplitGroup = std::function<c10::intrusive_ptr<c10d::Backend>(c10::intrusive_ptr<c10d::Store>,
                                                                   std::vector<int>, double)>;

/// The process group "stepwright": all-reduce, all-gather, reduce-scatter and all-to-all of tensors
/// in host memory run as schedules; everything else goes to the wrapped backend and is counted.
class StepwrightBackend : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  /// All ranks of the group must make it with equal options. `split` makes the backends of
  /// sub-groups.
  StepwrightBackend(GroupSetup setup, SplitGroup split);
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

  // These run as schedules where `setup` and the tensors allow it.
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

  /// Returns the setup from which it was made.
  [[nodiscard]] const GroupSetup& setup() const { return setup_; }
  /// Returns the counts of calls so far, both scheduled and passed to the wrapped backend.
  [[nodiscard]] std::map<CallTally::Key, CallTally::Count> counts() const {
    return tally_.counts();
  }
  /// Returns the most bytes, in addition to tensors, that were held at a time; 0 when nothing is
  /// scheduled.
  [[nodiscard]] std::int64_t peak_scratch_bytes() const;

 private:
  /// A collective that may be scheduled.
  struct Request {
    const char* name;
    collective::Collective collective;
    c10d::OpType type;
    at::Tensor input;
    at::Tensor output;
    std::optional<c10d::ReduceOp> op;
    std::chrono::milliseconds timeout;
  };

  /// Returns why a request goes to the wrapped backend; empty: it is scheduled.
  [[nodiscard]] std::string fallback_reason(const Request& request) const;
  /// Returns the algorithm of a request; nullopt: the wrapped backend runs it.
  [[nodiscard]] std::optional<collective::Algorithm> method_of(const Request& request) const;
  Work schedule(const Request& request, const Tensors& outputs, std::function<void()> after);
  void record(const Request& request) const;
  [[nodiscard]] std::string text_of(const Request& request) const;
  /// Passes a call to the wrapped backend by `act`, and counts it.
  Work pass(const char* name, const std::string& reason, const at::Tensor* tensor,
            const std::function<Work(Backend&)>& act);
  Work kept(Work work);
  c10d::Backend& wrapped_for(const at::Tensor* tensor);

  GroupSetup setup_;
  SplitGroup split_;
  CallTally tally_;
  StatusBoard board_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Runner> runner_;
  std::uint64_t calls_ = 0;
  bool coalescing_ = false;
  std::vector<Work> coalesced_;
};

}  // namespace stepwright::process_group
