#include "stepwright/sample/message_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "stepwright/cost/measured_messages.h"
#include "stepwright/process_group/engine.h"
#include "stepwright/runtime/messages/held_message.h"
#include "stepwright/runtime/messages/scheduled_backend.h"

namespace stepwright {
namespace {

using Clock = std::chrono::steady_clock;

/// A message longer than this is the last of its series.
constexpr double kLongS = 0.2;
/// Of one that is longer than this few are enough.
constexpr double kVeryLongS = 1;
/// What a series of equal messages may take, and how many there are; longer where few sizes of
/// few groups are asked for.
constexpr double kSeriesS = 0.25;
constexpr int kFew = 2;
constexpr int kFewest = 3;
constexpr int kMost = 20;
constexpr int kGivenLonger = 4;
constexpr std::int64_t kFirstBytes = 4096;
constexpr std::int64_t kLastBytes = std::int64_t{4} << 20;
/// The first one of a series up to a given size.
constexpr std::int64_t kFirstGivenBytes = std::int64_t{64} << 10;
/// What schedules are sampled for.
constexpr Named<Collective> kScheduled[] = {{Collective::kAllReduce, "all_reduce"},
                                            {Collective::kAllGather, "all_gather"},
                                            {Collective::kReduceScatter, "reduce_scatter"}};
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
  MessageSampler(const Groups::World& world, const WorldShape& shape,
                 const MessageSampling& sampling, std::ostream& out)
      : world_(world), shape_(shape), sampling_(sampling), out_(out) {
    std::vector<std::int64_t> all;
    for (std::int64_t r = 0; r < world.size; ++r) all.push_back(r);
    control_ = gloo_backend(world, "sample/control", all);
  }

  void sample(const EvenGroup& shape) {
    const std::vector<std::int64_t> members = members_of(shape_, shape, world_.rank);
    const std::string name =
        fmt::format("sample/{}x{}/{}", shape.nodes, shape.members, members.front());
    const Series gloo{kGlooLibrary, 0, shape};
    if (sampling_.most_bytes > 0) {
      sample_all(kScheduled, gloo_backend(world_, name, members), gloo);
    } else {
      sample_all(kCollectiveNames, gloo_backend(world_, name, members), gloo);
    }
    if (shape.nodes < 2 || shape.members < 2) return;
    for (const Algorithm method : {Algorithm::kRing, Algorithm::kTwoLevel, Algorithm::kHoRing}) {
      const std::string_view word = name_of(kAlgorithmNames, method);
      const std::vector<std::int32_t> tiers{static_cast<std::int32_t>(shape.members),
                                            static_cast<std::int32_t>(shape.nodes)};
      sample_all(
          kScheduled,
          scheduled_backend(world_, fmt::format("{}/{}", name, word), members, tiers, method),
          {word, static_cast<double>(EngineOptions{}.chunk_bytes), shape});
    }
  }

 private:
  /// What the rows of one process group have in common.
  struct Series {
    std::string_view library;
    double chunk_bytes;
    EvenGroup shape;
  };

  template <std::size_t kCount>
  void sample_all(const Named<Collective> (&operations)[kCount],
                  const c10::intrusive_ptr<c10d::Backend>& backend, const Series& series) {
    Communicator group(
        backend, {.rank = world_.rank, .members = members_of(shape_, series.shape, world_.rank)},
        world_.watch, Communicator::Payload::kSent);
    for (const auto& [operation, word] : operations) sample(operation, word, group, series);
  }

  void sample(Collective operation, std::string_view word, Communicator& group,
              const Series& series) {
    const Operator op = operator_of(operation);
    const bool given = sampling_.most_bytes > 0;
    const std::int64_t last = given ? sampling_.most_bytes : kLastBytes;
    for (std::int64_t bytes = given ? kFirstGivenBytes : kFirstBytes; bytes <= last; bytes *= 4) {
      HeldMessage message(op, static_cast<double>(bytes), group.size());
      const double once = timed(message, group, 1);
      const int fewest = once > kVeryLongS ? kFew : kFewest;
      const int longer = given ? kGivenLonger : 1;
      const int times =
          std::clamp(static_cast<int>(longer * kSeriesS / once), fewest, longer * kMost);
      const double seconds = timed(message, group, times);
      if (world_.rank == 0) {
        out_ << fmt::format("{},{},{},{},{},{:.0f},{:.0f},{:.6g}\n", series.library, word,
                            series.shape.nodes, series.shape.members,
                            shape_.ranks_of_node / series.shape.members,
                            message.bytes() * sampling_.scale, series.chunk_bytes * sampling_.scale,
                            seconds * sampling_.scale);
      }
      if (!given && seconds > kLongS) return;
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
  MessageSampling sampling_;
  std::ostream& out_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

}  // namespace

void sample_messages(const Groups::World& world, const WorldShape& shape,
                     const MessageSampling& sampling, std::ostream& out) {
  MessageSampler sampler(world, shape, sampling, out);
  if (sampling.world_only) return sampler.sample({shape.nodes, shape.ranks_of_node});
  for (const EvenGroup& each : even_shapes(shape)) sampler.sample(each);
}

}  // namespace stepwright
