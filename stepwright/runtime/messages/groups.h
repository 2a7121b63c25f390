#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/runtime/messages/executed_ledger.h"
#include "stepwright/runtime/rank/rank_device.h"
#include "stepwright/step/program.h"

namespace stepwright::runtime {

class RankWatch;

/// A process group that one stream of a rank uses. It records every call.
class Communicator {
 public:
  /// Which bytes a communicator records for a call. kSent: the bytes of the buffer that was sent.
  /// kOfOperator: the bytes that the step program states, for emulations that send smaller buffers.
  enum class RecordedPayload : std::uint8_t { kSent, kOfOperator };
  /// `watch`: rank watch that is told while this rank waits for a message, so that it notices a
  /// lost rank; null: no watch.
  Communicator(c10::intrusive_ptr<c10d::Backend> backend, CommunicatorCallLog log, RankWatch* watch,
               RecordedPayload payload);

  /// Returns the number of ranks in the group.
  [[nodiscard]] std::int64_t size() const { return std::ssize(log_.members); }
  /// Returns the position of this rank among the ranks of the group, from 0.
  [[nodiscard]] std::int64_t index() const { return index_; }
  /// Returns the global ranks of the group's members, in group order.
  [[nodiscard]] const std::vector<std::int64_t>& global_member_ranks() const {
    return log_.members;
  }
  /// Returns the record of all collective calls and transfers that this communicator has made.
  [[nodiscard]] CommunicatorCallLog communicator_call_log() const;

  /// Sums `buffer` over the ranks of the group, in place.
  void all_reduce(const step::Operator& op, at::Tensor& buffer);
  /// Copies the buffer of the member at position `from` of the group to all other members.
  void broadcast(const step::Operator& op, at::Tensor& buffer, std::int64_t from);
  /// Gathers the equal `part`s of all ranks into `whole`, in rank order.
  void all_gather(const step::Operator& op, at::Tensor& whole, at::Tensor part);
  /// Sums `whole` over the ranks of the group and sets `part` to this rank's equal part of the sum.
  /// Parts lie in `whole` in rank order.
  void reduce_scatter(const step::Operator& op, at::Tensor& part, at::Tensor whole);
  /// Sends an equal part of `sent` to each rank, and receives one from each into `received`.
  void all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent);
  /// Numbers of rows to send to each rank and to receive from each rank, in the order of the ranks.
  struct AllToAllRowCounts {
    std::vector<std::int64_t> sent;
    std::vector<std::int64_t> received;
  };
  /// Sends rows of `sent` to each rank and receives rows from each into `received`, in rank order;
  /// `splits` has the numbers of rows.
  void all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent,
                  AllToAllRowCounts splits);
  /// Starts to send a buffer without waiting; `finish` waits for it. `to`: position of the receiver
  /// in the group.
  void start_buffer_send(const step::Operator& op, const at::Tensor& buffer, std::int64_t to,
                         int tag);
  /// Receives a buffer and waits until it has arrived. `from`: position of the sender in the group;
  /// `tag` matches a send with its receive, whatever their order.
  void receive_buffer(const step::Operator& op, at::Tensor& buffer, std::int64_t from, int tag);
  /// A receive that was posted and not yet waited for, so that its message can arrive early.
  struct PostedReceive {
    c10::intrusive_ptr<c10d::Work> work;
    at::Tensor buffer;
  };
  /// Posts a receive without waiting for it; `receive_buffer` waits, and only then records it.
  PostedReceive post_receive(const at::Tensor& buffer, std::int64_t from, int tag);
  /// Waits until a receive that `post_receive` posted has arrived, and records it.
  void receive_buffer(const step::Operator& op, const PostedReceive& expected);
  /// Does one step of a ring: sends `sent` to the next rank of the group and receives into
  /// `received` from the previous one.
  void exchange_with_ring_neighbours(const step::Operator& op, const at::Tensor& sent,
                                     at::Tensor& received);
  /// Waits until all sends that this communicator has started are done.
  void finish();

 private:
  void record(const step::Operator& op, const at::Tensor& payload);
  /// Waits for a call. If another rank ends or the call times out, the rank watch ends this
  /// process.
  void wait_for_call(const std::string& what, const c10::intrusive_ptr<c10d::Work>& work);
  [[nodiscard]] std::string describe(const step::Operator& op) const;
  struct Sending {
    c10::intrusive_ptr<c10d::Work> work;
    at::Tensor buffer;
    std::string what;
  };
  c10::intrusive_ptr<c10d::Backend> backend_;
  CommunicatorCallLog log_;
  std::int64_t index_ = 0;
  int next_tag_ = 1 << 20;
  std::vector<Sending> sending_;
  RankWatch* watch_ = nullptr;
  RecordedPayload payload_;
};

/// All communicators of a rank: one for each kind of group (tensor, data, ...) and each stream, so
/// that the calls on a communicator keep the order of one stream.
class RankCommunicators {
 public:
  /// The ranks of a run and their shared store, as seen by one rank.
  struct RankWorld {
    c10::intrusive_ptr<c10d::Store> store;
    std::int64_t rank = 0;
    std::int64_t size = 1;
    std::chrono::milliseconds timeout{};
    /// Watch that ends this rank if another is lost; null: a call that waits in vain throws an
    /// error.
    RankWatch* watch = nullptr;
    Communicator::RecordedPayload payload = Communicator::RecordedPayload::kSent;
  };
  /// Creates the communicators that a stage's operators need. `device`: device of the step's
  /// messages. Data-parallel messages use the plan's collective algorithm; fails with
  /// `kUnsupported` if the device's library does not have it.
  RankCommunicators(const RankWorld& world, const plan::PlannedJob& planned,
                    const step::StepProgram& program, const step::PipelineStageProgram& stage,
                    RankDevice& device);

  /// Returns the communicator on which an operator sends; throws if the stage has no such operator.
  [[nodiscard]] Communicator& communicator_of_operator(const step::Operator& op);
  /// Returns the process group of all ranks for messages outside of training steps, which are not
  /// recorded; null if there is only one rank.
  [[nodiscard]] c10d::Backend* control_process_group() { return control_.get(); }
  /// Returns the records of all collective calls and transfers made so far, one for each
  /// communicator.
  [[nodiscard]] std::vector<CommunicatorCallLog> communicator_call_logs() const;
  /// Waits until all sends that this step started on any communicator are done.
  void finish();

 private:
  using Key = std::pair<plan::CommunicatorKind, std::string>;
  std::map<Key, std::unique_ptr<Communicator>> communicators_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

/// Creates a CPU process group (Gloo) of some ranks of the run. All of its members must call this
/// with the same name.
c10::intrusive_ptr<c10d::Backend> create_gloo_process_group(
    const RankCommunicators::RankWorld& world, const std::string& name,
    const std::vector<std::int64_t>& members);

}  // namespace stepwright::runtime
