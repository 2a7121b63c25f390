#include "stepwright/sample/overlap_sampler.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "stepwright/runtime/messages/held_message.h"

namespace stepwright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMessageBytes = 1 << 20;
constexpr int kMessages = 40;
constexpr int kAlone = 200;  ///< Products.
constexpr std::int64_t kSide = 256;
constexpr int kTimes = 5;

/// Seconds of one product while a condition holds; at least one is made.
template <class Condition>
double product_s(Condition goes_on) {
  const at::Tensor a = at::ones({kSide, kSide});
  at::Tensor product = at::zeros({kSide, kSide});
  const auto begin = Clock::now();
  int made = 0;
  do {
    at::mm_out(product, a, a);
    ++made;
  } while (goes_on(made));
  return std::chrono::duration<double>(Clock::now() - begin).count() / made;
}

class OverlapSampler {
 public:
  OverlapSampler(const Groups::World& world, std::ostream& out) : world_(world), out_(out) {
    std::vector<std::int64_t> all;
    for (std::int64_t r = 0; r < world.size; ++r) all.push_back(r);
    control_ = gloo_backend(world, "sample/control", all);
  }

  void sample(std::string_view link, const std::vector<std::int64_t>& members) {
    Communicator group(
        gloo_backend(world_, fmt::format("sample/{}/{}", link, members.front()), members),
        {.rank = world_.rank, .members = members}, world_.watch, Communicator::Payload::kSent);
    for (int i = 0; i < kTimes; ++i) {
      control_->barrier()->wait();
      const double alone = mean(product_s([](int made) { return made < kAlone; }));
      const double beside = mean(beside_s(group));
      if (world_.rank == 0) out_ << fmt::format("{},{:.6g},{:.6g}\n", link, alone, beside);
    }
  }

 private:
  /// Seconds of a product while messages go on.
  double beside_s(Communicator& group) {
    control_->barrier()->wait();
    const Operator op{.kind = OperatorKind::kAllReduce};
    std::atomic<bool> ended = false;
    std::thread messages([&] {
      HeldMessage message(op, kMessageBytes, group.size());
      for (int i = 0; i < kMessages; ++i) message.send(group);
      ended = true;
    });
    const double seconds = product_s([&](int) { return !ended; });
    messages.join();
    return seconds;
  }

  double mean(double value) {
    at::Tensor sum = at::full({1}, value, at::kDouble);
    std::vector<at::Tensor> sums{sum};
    control_->allreduce(sums)->wait();
    return sum.item<double>() / static_cast<double>(world_.size);
  }

  const Groups::World& world_;
  std::ostream& out_;
  c10::intrusive_ptr<c10d::Backend> control_;
};

}  // namespace

void sample_overlap(const Groups::World& world, const WorldShape& shape, std::ostream& out) {
  OverlapSampler overlap(world, out);
  if (shape.ranks_of_node > 1) {
    overlap.sample("inside", members_of(shape, {1, shape.ranks_of_node}, world.rank));
  }
  if (shape.nodes > 1) overlap.sample("network", members_of(shape, {shape.nodes, 1}, world.rank));
}

}  // namespace stepwright
