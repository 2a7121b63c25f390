#include "stepwright/sample/overlap_sampler.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "stepwright/runtime/messages/held_message.h"
#include "stepwright/runtime/messages/watch.h"

namespace stepwright::sample {
namespace {

using Clock = std::chrono::steady_clock;
using Repeated = std::function<void(std::int64_t times)>;

constexpr double kPayloads[] = {1 << 18, 1 << 20, 1 << 22};
/// Number of consecutive messages in a pair of computation and messages.
constexpr std::int64_t kMessages = 4;
constexpr int kTimes = 3;
/// The computation lasts this many times as long as the messages, so that it overlaps them to their
/// end.
constexpr double kLonger = 2;

constexpr step::OperatorKind kOverlapOperations[] = {step::OperatorKind::kAllReduce,
                                                     step::OperatorKind::kAllGather,
                                                     step::OperatorKind::kReduceScatter};

struct OverlapComputation {
  std::string_view name;
  Repeated run;
};

/// Returns two computations: one bound by arithmetic and one by memory bandwidth.
std::vector<OverlapComputation> overlap_computations() {
  constexpr std::int64_t kSide = 256;
  constexpr std::int64_t kElements = 1 << 20;
  const at::Tensor a = at::ones({kSide, kSide});
  const at::Tensor b = at::ones({kElements});
  return {{"linear",
           [a, product = at::zeros_like(a)](std::int64_t times) mutable {
             for (std::int64_t i = 0; i < times; ++i) at::mm_out(product, a, a);
           }},
          {"add", [b, sum = at::zeros_like(b)](std::int64_t times) mutable {
             for (std::int64_t i = 0; i < times; ++i) at::add_out(sum, b, b);
           }}};
}

class OverlapSampler {
 public:
  OverlapSampler(const runtime::RankCommunicators::RankWorld& world, std::ostream& out)
      : world_(world), out_(out) {
    std::vector<std::int64_t> all;
    for (std::int64_t r = 0; r < world.size; ++r) all.push_back(r);
    control_ = runtime::create_gloo_process_group(world, "sample/control", all);
  }

  void sample(std::string_view link, const std::vector<std::int64_t>& members) {
    runtime::Communicator group(
        runtime::create_gloo_process_group(
            world_, fmt::format("sample/{}/{}", link, members.front()), members),
        {.rank = world_.rank, .members = members}, world_.watch,
        runtime::Communicator::RecordedPayload::kSent);
    for (const OverlapComputation& computation : overlap_computations()) {
      for (const step::OperatorKind kind : kOverlapOperations) {
        for (const double payload : kPayloads) {
          const step::Operator op{.kind = kind};
          runtime::EmulatedMessage message(op, payload, group.size());
          const Repeated send = [&](std::int64_t times) {
            for (std::int64_t i = 0; i < times; ++i) message.start_send_if_not_started(group);
          };
          for (int i = 0; i < kTimes; ++i) {
            write(fmt::format("{},{},{},{:.0f}", link, name_of(step::kOperatorNames, kind),
                              computation.name, message.bytes()),
                  computation.run, send);
          }
        }
      }
    }
  }

 private:
  void write(std::string_view pair, const Repeated& compute, const Repeated& send) {
    const double messages_s = seconds([&] { send(kMessages); });
    const double trial_s = seconds([&] { compute(kMessages); });
    const auto times = static_cast<std::int64_t>(
        std::ceil(kLonger * messages_s / trial_s * static_cast<double>(kMessages)));
    const double computation_s = seconds([&] { compute(times); });
    const double together_s = seconds([&] {
      std::thread messages([&] { send(kMessages); });
      compute(times);
      messages.join();
    });
    if (world_.rank > 0) return;
    out_ << fmt::format("{},{:.6g},{:.6g},{:.6g}\n", pair, computation_s, messages_s, together_s);
  }

  /// Runs `work` on all ranks from a common start; returns the mean of their seconds, which is the
  /// same on all ranks.
  double seconds(const std::function<void()>& work) {
    runtime::wait_for_message(world_.watch, "the start of a measurement", *control_->barrier());
    const auto begin = Clock::now();
    work();
    const double own_s = std::chrono::duration<double>(Clock::now() - begin).count();
    at::Tensor sum = at::full({1}, own_s, at::kDouble);
    std::vector<at::Tensor> sums{sum};
    runtime::wait_for_message(world_.watch, "the end of a measurement", *control_->allreduce(sums));
    return sum.item<double>() / static_cast<double>(world_.size);
  }

  const runtime::RankCommunicators::RankWorld& world_;
  std::ostream& out_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

}  // namespace

void measure_overlap_slowdown(const runtime::RankCommunicators::RankWorld& world,
                              const WorldShape& shape, std::ostream& out) {
  OverlapSampler overlap(world, out);
  if (shape.ranks_of_node > 1) {
    overlap.sample("inside",
                   ranks_of_group_containing_rank(shape, {1, shape.ranks_of_node}, world.rank));
  }
  if (shape.nodes > 1)
    overlap.sample("network", ranks_of_group_containing_rank(shape, {shape.nodes, 1}, world.rank));
}

}  // namespace stepwright::sample
