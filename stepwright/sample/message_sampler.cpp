#include "stepwright/sample/message_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "stepwright/cost/collective_constants.h"
#include "stepwright/runtime/held_message.h"

namespace stepwright {
namespace {

using Clock = std::chrono::steady_clock;

/// A message longer than this is the last of its series.
constexpr double kLongS = 0.2;
/// What a series of equal messages may take, and how many there are.
constexpr double kSeriesS = 0.25;
constexpr int kFewest = 3;
constexpr int kMost = 20;
constexpr std::int64_t kFirstBytes = 4096;
constexpr std::int64_t kLastBytes = std::int64_t{4} << 20;
/// Between two messages.
constexpr double kPauseS = 2e-3;

/// The operator that stands for an operation.
Operator operator_of(Collective operation) {
  switch (operation) {
    case Collective::kAllReduce: return {.kind = OperatorKind::kAllReduce};
    case Collective::kAllGather: return {.kind = OperatorKind::kAllGather};
    case Collective::kReduceScatter: return {.kind = OperatorKind::kReduceScatter};
    case Collective::kAllToAll: return {.kind = OperatorKind::kAllToAll};
    default: return {.kind = OperatorKind::kShift};
  }
}

std::vector<EvenGroup> even_shapes(const WorldShape& world) {
  std::vector<EvenGroup> shapes;
  for (std::int64_t nodes = 1; nodes <= world.nodes; ++nodes) {
    for (std::int64_t members = 1; members <= world.ranks_of_node; ++members) {
      if (world.nodes % nodes != 0 || world.ranks_of_node % members != 0) continue;
      if (nodes * members > 1) shapes.push_back({nodes, members});
    }
  }
  return shapes;
}

class MessageSampler {
 public:
  MessageSampler(const Groups::World& world, const WorldShape& shape, double scale,
                 std::ostream& out)
      : world_(world), shape_(shape), scale_(scale), out_(out) {
    std::vector<std::int64_t> all;
    for (std::int64_t r = 0; r < world.size; ++r) all.push_back(r);
    control_ = gloo_backend(world, "sample/control", all);
  }

  void sample(const EvenGroup& shape) {
    const std::vector<std::int64_t> members = members_of(shape_, shape, world_.rank);
    const std::string name =
        fmt::format("sample/{}x{}/{}", shape.nodes, shape.members, members.front());
    Communicator group(gloo_backend(world_, name, members),
                       {.rank = world_.rank, .members = members}, world_.watch,
                       Communicator::Payload::kSent);
    for (const auto& [operation, word] : kCollectiveNames) sample(operation, word, group, shape);
  }

 private:
  void sample(Collective operation, std::string_view word, Communicator& group,
              const EvenGroup& shape) {
    const Operator op = operator_of(operation);
    for (std::int64_t bytes = kFirstBytes; bytes <= kLastBytes; bytes *= 4) {
      HeldMessage message(op, static_cast<double>(bytes), group.size());
      const double once = timed(message, group, 1);
      const int times = std::clamp(static_cast<int>(kSeriesS / once), kFewest, kMost);
      const double seconds = timed(message, group, times);
      if (world_.rank == 0) {
        out_ << fmt::format("gloo,{},{},{},{},{:.0f},{:.6g}\n", word, shape.nodes, shape.members,
                            shape_.ranks_of_node / shape.members, message.bytes() * scale_,
                            seconds * scale_);
      }
      if (seconds > kLongS) return;
    }
  }

  /// Seconds of one of so many messages, the mean over all ranks.
  double timed(HeldMessage& message, Communicator& group, int times) {
    control_->barrier()->wait();
    const auto begin = Clock::now();
    for (int i = 0; i < times; ++i) {
      const auto pause = std::chrono::duration<double>(kPauseS);
      std::this_thread::sleep_until(Clock::now() +
                                    std::chrono::duration_cast<Clock::duration>(pause));
      message.send(group);
    }
    const std::chrono::duration<double> taken = Clock::now() - begin;
    at::Tensor sum = at::full({1}, taken.count() / times - kPauseS, at::kDouble);
    std::vector<at::Tensor> sums{sum};
    control_->allreduce(sums)->wait();
    return std::max(1e-6, sum.item<double>() / static_cast<double>(world_.size));
  }

  const Groups::World& world_;
  WorldShape shape_;
  double scale_;
  std::ostream& out_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

}  // namespace

void sample_messages(const Groups::World& world, const WorldShape& shape, double scale,
                     std::ostream& out) {
  MessageSampler sampler(world, shape, scale, out);
  for (const EvenGroup& each : even_shapes(shape)) sampler.sample(each);
}

}  // namespace stepwright
