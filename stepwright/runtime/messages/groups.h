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

class Watch;

/// A process group as one stream of a rank uses it; every call is recorded.
class Communicator {
 public:
  /// The payload with which a call is recorded: the bytes of its buffer, or, where buffers are
  /// scaled down, those of the operator.
  enum class Payload : std::uint8_t { kSent, kOfOperator };
  /// `watch`: told what the rank waits for; null when there is none.
  Communicator(c10::intrusive_ptr<c10d::Backend> backend, ExecutedCommunicator log, Watch* watch,
               Payload payload);

  /// Ranks of the group, and the place of this one among them.
  [[nodiscard]] std::int64_t size() const { return std::ssize(log_.members); }
  [[nodiscard]] std::int64_t index() const { return index_; }
  /// Ranks of the world, in the order of the group.
  [[nodiscard]] const std::vector<std::int64_t>& members() const { return log_.members; }
  /// The calls so far.
  [[nodiscard]] ExecutedCommunicator log() const;

  /// Sums the buffer over the group in place.
  void all_reduce(const step::Operator& op, at::Tensor& buffer);
  /// The buffer of one member, by its place, to all others.
  void broadcast(const step::Operator& op, at::Tensor& buffer, std::int64_t from);
  /// `whole` holds the parts of all ranks in order.
  void all_gather(const step::Operator& op, at::Tensor& whole, at::Tensor part);
  /// `whole` holds what each rank gets, in order; `part` becomes the sum of this rank's.
  void reduce_scatter(const step::Operator& op, at::Tensor& part, at::Tensor whole);
  /// Equal parts to and from every rank.
  void all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent);
  /// Rows that stand in the order of the ranks, so many to and from each.
  struct Splits {
    std::vector<std::int64_t> sent;
    std::vector<std::int64_t> received;
  };
  /// Both tensors hold rows by rank, as many as `splits` says.
  void all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent, Splits splits);
  /// Waits for it only in `finish`.
  void send(const step::Operator& op, const at::Tensor& buffer, std::int64_t to, int tag);
  /// Returns when it is there. Tags match sends and receives of two ranks, whatever their order.
  void receive(const step::Operator& op, at::Tensor& buffer, std::int64_t from, int tag);
  /// A receive in two parts, so that the message may come before its turn.
  struct Expected {
    c10::intrusive_ptr<c10d::Work> work;
    at::Tensor buffer;
  };
  /// Posts the receive; nothing is recorded yet.
  Expected expect(const at::Tensor& buffer, std::int64_t from, int tag);
  /// Waits for a receive that `expect` posted.
  void receive(const step::Operator& op, const Expected& expected);
  /// One step of a ring, to the next rank of the group and from the one before.
  void shift(const step::Operator& op, const at::Tensor& sent, at::Tensor& received);
  /// Waits for sends under way.
  void finish();

 private:
  void record(const step::Operator& op, const at::Tensor& payload);
  /// Waits for a call. Another rank's end, or the time that it took, ends this rank by the watch.
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
  Watch* watch_ = nullptr;
  Payload payload_;
};

/// The communicators of a rank: one for each kind of group and stream that its program uses, so
/// that the order of calls on each is that of one stream.
class Groups {
 public:
  /// All ranks of a run, as one of them sees them.
  struct World {
    c10::intrusive_ptr<c10d::Store> store;
    std::int64_t rank = 0;
    std::int64_t size = 1;
    std::chrono::milliseconds timeout{};
    Watch* watch = nullptr;  ///< Null: a rank that waits in vain throws.
    Communicator::Payload payload = Communicator::Payload::kSent;
  };
  /// `device`: what the messages of the step are on. Those of data parallelism run as the plan's
  /// algorithm says; fails with `kUnsupported` when that is none of the device's library.
  Groups(const World& world, const plan::PlannedJob& planned, const step::StepProgram& program,
         const step::Stage& stage, RankDevice& device);

  /// The one that carries an operator's messages; throws when the stage has no such operator.
  [[nodiscard]] Communicator& of(const step::Operator& op);
  /// All ranks, for what is no part of the step; not recorded. Null for one rank.
  [[nodiscard]] c10d::Backend* control() { return control_.get(); }
  /// The calls so far, communicator by communicator.
  [[nodiscard]] std::vector<ExecutedCommunicator> logs() const;
  /// Waits for all sends of the step.
  void finish();

 private:
  using Key = std::pair<plan::GroupKind, std::string>;
  std::map<Key, std::unique_ptr<Communicator>> communicators_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

/// A process group on CPUs of some ranks of the world, which all of them make under the same name.
c10::intrusive_ptr<c10d::Backend> gloo_backend(const Groups::World& world, const std::string& name,
                                               const std::vector<std::int64_t>& members);

}  // namespace stepwright::runtime
