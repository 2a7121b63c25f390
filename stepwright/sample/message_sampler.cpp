#include "stepwright/sample/message_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <tuple>
#include <vector>

#include "stepwright/collective/definition.h"
#include "stepwright/core/error.h"
#include "stepwright/cost/profiles/measured_messages.h"
#include "stepwright/process_group/engine.h"
#include "stepwright/runtime/messages/held_message.h"
#include "stepwright/runtime/messages/scheduled_backend.h"
#include "stepwright/runtime/messages/watch.h"
#include "stepwright/sample/asked_message.h"

namespace stepwright::sample {
namespace {

using Clock = std::chrono::steady_clock;

/// A series of growing sizes ends with the first message that takes longer than this, in seconds.
constexpr double kLongS = 0.2;
/// Messages that take longer than this, in seconds, are repeated only a few times.
constexpr double kVeryLongS = 1;
/// Seconds of a series of equal messages, and limits on their number; `kGivenLonger` times as long
/// if only a few sizes of a few groups are requested.
constexpr double kSeriesS = 0.25;
constexpr int kFew = 2;
constexpr int kFewest = 3;
constexpr int kMost = 20;
constexpr int kGivenLonger = 4;
constexpr std::int64_t kFirstBytes = 4096;
constexpr std::int64_t kLastBytes = std::int64_t{4} << 20;
/// Bytes of the first message in a series up to a given size.
constexpr std::int64_t kFirstGivenBytes = std::int64_t{64} << 10;
/// Pause between two messages, in seconds.
constexpr double kPauseS = 2e-3;

/// True if an operation is sampled with generated schedules.
bool is_scheduled(collective::CollectiveOperation operation) {
  return operation == collective::CollectiveOperation::kAllReduce ||
         operation == collective::CollectiveOperation::kAllGather ||
         operation == collective::CollectiveOperation::kReduceScatter;
}

/// Returns an operator that performs an operation.
step::Operator operator_of(collective::CollectiveOperation operation) {
  switch (operation) {
    case collective::CollectiveOperation::kAllReduce:
      return {.kind = step::OperatorKind::kAllReduce};
    case collective::CollectiveOperation::kAllGather:
      return {.kind = step::OperatorKind::kAllGather};
    case collective::CollectiveOperation::kReduceScatter:
      return {.kind = step::OperatorKind::kReduceScatter};
    case collective::CollectiveOperation::kAllToAll: return {.kind = step::OperatorKind::kAllToAll};
    default: return {.kind = step::OperatorKind::kShift};
  }
}

std::vector<EvenRankGroupShape> even_shapes(const WorldShape& world) {
  std::vector<EvenRankGroupShape> shapes;
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
  MessageSampler(const runtime::RankCommunicators::RankWorld& world, const WorldShape& shape,
                 const MessageSamplingSettings& sampling, std::ostream& out)
      : world_(world), shape_(shape), sampling_(sampling), out_(out) {
    std::vector<std::int64_t> all;
    for (std::int64_t r = 0; r < world.size; ++r) all.push_back(r);
    control_ = runtime::create_gloo_process_group(world, "sample/control", all);
  }

  /// Samples every operation and size in groups of a shape.
  void sample(const EvenRankGroupShape& shape) {
    const bool given = sampling_.most_bytes > 0;
    std::vector<std::optional<collective::CollectiveAlgorithm>> methods{std::nullopt};
    if (shape.nodes > 1 && shape.members > 1) {
      for (const auto& [method, word] : collective::kGeneratedCollectiveAlgorithmNames) {
        // Times of the other methods follow from their schedules.
        if (collective::definition_of(method).pattern != collective::MessagePattern::kAsScheduled)
          methods.push_back(method);
      }
    }
    for (const auto& method : methods) {
      Series series = open(method, shape);
      for (const auto& [operation, word] : cost::kCollectiveNames) {
        if ((given || method) && !is_scheduled(operation)) continue;
        sample_sizes(operation, series);
      }
    }
  }

  /// Samples the requested messages, grouped by process group.
  void sample(std::vector<cost::MeasurablePlanMessage> asked) {
    const auto group = [](const cost::MeasurablePlanMessage& message) {
      return std::tuple(message.group.nodes, message.group.members, message.method);
    };
    std::ranges::stable_sort(asked, {}, group);
    std::optional<Series> series;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (i == 0 || group(asked[i - 1]) != group(asked[i])) {
        series.emplace(open(asked[i].method, {asked[i].group.nodes, asked[i].group.members}));
      }
      sample_size(asked[i].operation, asked[i].payload_bytes / sampling_.scale, kGivenLonger,
                  *series);
    }
  }

 private:
  /// A process group, and the values that its rows have in common.
  struct Series {
    std::string_view library;
    double chunk_bytes;
    EvenRankGroupShape shape;
    runtime::Communicator group;
  };

  Series open(std::optional<collective::CollectiveAlgorithm> method,
              const EvenRankGroupShape& shape) const {
    const std::vector<std::int64_t> members =
        ranks_of_group_containing_rank(shape_, shape, world_.rank);
    const std::string_view library =
        method ? name_of(collective::kCollectiveAlgorithmNames, *method) : cost::kGlooLibraryName;
    const std::string name =
        fmt::format("sample/{}x{}/{}/{}", shape.nodes, shape.members, members.front(), library);
    const std::vector<std::int32_t> tiers{static_cast<std::int32_t>(shape.members),
                                          static_cast<std::int32_t>(shape.nodes)};
    return {.library = library,
            .chunk_bytes =
                method ? static_cast<double>(process_group::ProcessGroupOptions{}.chunk_bytes) : 0,
            .shape = shape,
            .group = runtime::Communicator(
                method ? runtime::create_scheduled_collective_backend(world_, name, members, tiers,
                                                                      *method)
                       : runtime::create_gloo_process_group(world_, name, members),
                {.rank = world_.rank, .members = members}, world_.watch,
                runtime::Communicator::RecordedPayload::kSent)};
  }

  void sample_sizes(collective::CollectiveOperation operation, Series& series) {
    const bool given = sampling_.most_bytes > 0;
    const std::int64_t last = given ? sampling_.most_bytes : kLastBytes;
    for (std::int64_t bytes = given ? kFirstGivenBytes : kFirstBytes; bytes <= last; bytes *= 4) {
      const double seconds =
          sample_size(operation, static_cast<double>(bytes), given ? kGivenLonger : 1, series);
      if (!given && seconds > kLongS) return;
    }
  }

  /// Writes a row; returns the seconds of one message on the wire.
  double sample_size(collective::CollectiveOperation operation, double bytes, int longer,
                     Series& series) {
    const step::Operator op = operator_of(operation);
    runtime::EmulatedMessage message(op, bytes, series.group.size());
    const double once = timed(message, series.group, 1);
    const int fewest = once > kVeryLongS ? kFew : kFewest;
    const int times =
        std::clamp(static_cast<int>(longer * kSeriesS / once), fewest, longer * kMost);
    const double seconds = timed(message, series.group, times);
    if (world_.rank == 0) {
      out_ << fmt::format("{},{},{},{},{},{:.0f},{:.0f},{:.6g}\n", series.library,
                          name_of(cost::kCollectiveNames, operation), series.shape.nodes,
                          series.shape.members, shape_.ranks_of_node / series.shape.members,
                          message.bytes() * sampling_.scale, series.chunk_bytes * sampling_.scale,
                          seconds * sampling_.scale);
    }
    return seconds;
  }

  /// Returns the seconds of one of `times` messages, averaged over all ranks.
  double timed(runtime::EmulatedMessage& message, runtime::Communicator& group, int times) {
    runtime::wait_for_message(world_.watch, "the start of a measurement", *control_->barrier());
    const auto begin = Clock::now();
    for (int i = 0; i < times; ++i) {
      const auto pause = std::chrono::duration<double>(kPauseS);
      std::this_thread::sleep_until(Clock::now() +
                                    std::chrono::duration_cast<Clock::duration>(pause));
      message.start_send_if_not_started(group);
    }
    const std::chrono::duration<double> taken = Clock::now() - begin;
    at::Tensor sum = at::full({1}, taken.count() / times - kPauseS, at::kDouble);
    std::vector<at::Tensor> sums{sum};
    runtime::wait_for_message(world_.watch, "the end of a measurement", *control_->allreduce(sums));
    return std::max(1e-6, sum.item<double>() / static_cast<double>(world_.size));
  }

  const runtime::RankCommunicators::RankWorld& world_;
  WorldShape shape_;
  MessageSamplingSettings sampling_;
  std::ostream& out_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

}  // namespace

void measure_messages(const runtime::RankCommunicators::RankWorld& world, const WorldShape& shape,
                      const MessageSamplingSettings& sampling, std::ostream& out) {
  for (const cost::MeasurablePlanMessage& message : sampling.asked) {
    const auto& [nodes, members, groups] = message.group;
    if (shape.nodes % nodes == 0 && shape.ranks_of_node % members == 0) continue;
    fail_input(fmt::format(
        "--message {}: groups of {} x {} ranks do not share {} nodes of {} evenly",
        message_option_text(message), nodes, members, shape.nodes, shape.ranks_of_node));
  }
  MessageSampler sampler(world, shape, sampling, out);
  if (!sampling.asked.empty()) return sampler.sample(sampling.asked);
  if (sampling.world_only) return sampler.sample({shape.nodes, shape.ranks_of_node});
  for (const EvenRankGroupShape& each : even_shapes(shape)) sampler.sample(each);
}

}  // namespace stepwright::sample
