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

/// A process group, used by one stream of a rank; every call is recorded.
class Communicator {
 public:
  /// How the payload of a recorded call is counted. kSent: the bytes of its buffer. kOfOperator:
  /// the bytes of the operator, for runs whose buffers are scaled down.
  enum class Payload : std::uint8_t { kSent, kOfOperator };
  /// `watch`: is told when the rank waits; null: no watch.
  Communicator(c10::intrusive_ptr<c10d::Backend> backend, ExecutedCommunicator log,
               RankWatch* watch, Payload payload);

  /// Returns the number of ranks of the group; `index`: the position of this rank among them.
  [[nodiscard]] std::int64_t size() const { return std::ssize(log_.members); }
  [[nodiscard]] std::int64_t index() const { return index_; }
  /// Returns the members' ranks in the world, in the order of the group.
  [[nodiscard]] const std::vector<std::int64_t>& members() const { return log_.members; }
  /// Returns the record of the calls so far.
  [[nodiscard]] ExecutedCommunicator log() const;

  /// Sums the buffer over the group in place.
  void all_reduce(const step::Operator& op, at::Tensor& buffer);
  /// Sends the buffer of the member at position `from` to all other members.
  void broadcast(const step::Operator& op, at::Tensor& buffer, std::int64_t from);
  /// Gathers the parts of all ranks into `whole`, in order.
  void all_gather(const step::Operator& op, at::Tensor& whole, at::Tensor part);
  /// Sums `whole` over the ranks; `part` becomes this rank's part of the sum. `whole` has one part
  /// for each rank, in order.
  void reduce_scatter(const step::Operator& op, at::Tensor& part, at::Tensor whole);
  /// Exchanges equal parts with every rank.
  void all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent);
  /// Numbers of rows to send to each rank and to receive from each rank, in the order of the ranks.
  struct Splits {
    std::vector<std::int64_t> sent;
    std::vector<std::int64_t> received;
  };
  /// Exchanges rows; both tensors have rows in the order of the ranks, as many as `splits` says.
  void all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent, Splits splits);
  /// Starts to send a buffer; only `finish` waits for it.
  void send(const step::Operator& op, const at::Tensor& buffer, std::int64_t to, int tag);
  /// Receives a buffer; returns when it has arrived. Tags match the sends and receives of two
  /// ranks, in any order.
  void receive(const step::Operator& op, at::Tensor& buffer, std::int64_t from, int tag);
  /// A receive that was posted and not yet waited for, so that the message may arrive early.
  struct Expected {
    c10::intrusive_ptr<c10d::Work> work;
    at::Tensor buffer;
  };
  /// Posts a receive; it is not recorded yet.
  Expected expect(const at::Tensor& buffer, std::int64_t from, int tag);
  /// Waits for a receive that `expect` posted, and records it.
  void receive(const step::Operator& op, const Expected& expected);
  /// Does one step of a ring: sends to the next rank of the group and receives from the previous
  /// one.
  void shift(const step::Operator& op, const at::Tensor& sent, at::Tensor& received);
  /// Waits until all started sends are done.
  void finish();

 private:
  void record(const step::Operator& op, const at::Tensor& payload);
  /// Waits for a call. If another rank ends, or the call times out, the watch ends this rank.
  void wait(const std::string& what, const c10::intrusive_ptr<c10d::Work>& work);
  [[nodiscard]] std::string describe(const step::Operator& op) const;
  struct Sending {
    c10::intrusive_ptr<c10d::Work> work;
    at::Tensor buffer;
    std::string what;
  };
  c10::intrusive_ptr<c10d::Backend> backend_;
  ExecutedCommunicator log_;
  std::int64_t index_ = 0;
  int next_tag_ = 1 << 20;
  std::vector<Sending> sending_;
  RankWatch* watch_ = nullptr;
  Payload payload_;
};

/// The communicators of a rank: one for each kind of group and stream that its program uses, so
/// that the calls on each have the order of one stream.
class Groups {
 public:
  /// All ranks of a run, as seen by one of them.
  struct World {
    c10::intrusive_ptr<c10d::Store> store;
    std::int64_t rank = 0;
    std::int64_t size = 1;
    std::chrono::milliseconds timeout{};
    RankWatch* watch = nullptr;  ///< Null: a rank that waits in vain throws an error.
    Communicator::Payload payload = Communicator::Payload::kSent;
  };
  /// `device`: the device of the step's messages. Data-parallel messages run by the plan's
  /// algorithm; fails with `kUnsupported` when the device's library does not have it.
  Groups(const World& world, const plan::PlannedJob& planned, const step::StepProgram& program,
         const step::Stage& stage, RankDevice& device);

  /// Returns the communicator of an operator's messages; throws when the stage has no such
  /// operator.
  [[nodiscard]] Communicator& of(const step::Operator& op);
  /// Returns the process group of all ranks, for messages outside of the step, which are not
  /// recorded. Null if there is one rank only.
  [[nodiscard]] c10d::Backend* control() { return control_.get(); }
  /// Returns the recorded calls so far, one entry for each communicator.
  [[nodiscard]] std::vector<ExecutedCommunicator> logs() const;
  /// Waits for all sends of the step.
  void finish();

 private:
  using Key = std::pair<plan::GroupKind, std::string>;
  std::map<Key, std::unique_ptr<Communicator>> communicators_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

/// Returns a CPU process group of some ranks of the world; all of them make it under the same name.
c10::intrusive_ptr<c10d::Backend> gloo_backend(const Groups::World& world, const std::string& name,
                                               const std::vector<std::int64_t>& members);

}  // namespace stepwright::runtime
