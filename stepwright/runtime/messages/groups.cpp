#include "stepwright/runtime/messages/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "stepwright/core/error.h"
#include "stepwright/plan/grid.h"
#include "stepwright/runtime/messages/scheduled_backend.h"
#include "stepwright/runtime/messages/watch.h"

namespace stepwright::runtime {
namespace {

/// Algorithms by kind of group and channel: the one that the plan names for the schemes that use
/// the channel, of which at most one has a choice.
using Channels =
    std::map<std::pair<plan::CommunicatorKind, std::string>, collective::CollectiveAlgorithm>;

void add_channels(const step::OperatorTemplate& piece, const plan::RankGrid& grid,
                  const plan::CollectiveAlgorithmChoices& collectives, Channels& channels) {
  for (const step::Operator& op : piece.operators) {
    if (!step::is_communication(op.kind) || grid.size(op.group) < 2) continue;
    collective::CollectiveAlgorithm& named =
        channels[{op.group, std::string(step::operator_communicator_name(op))}];
    const collective::CollectiveAlgorithm algorithm =
        step::planned_collective_algorithm(collectives, op.scheme);
    if (algorithm != collective::CollectiveAlgorithm::kLibrary) named = algorithm;
  }
}

std::vector<std::int64_t> all_ranks(std::int64_t size) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<std::int64_t>(i);
  return ranks;
}

c10::intrusive_ptr<c10d::Backend> backend_of(RankDevice& device,
                                             const RankCommunicators::RankWorld& world,
                                             const std::string& name,
                                             const std::vector<std::int64_t>& members) {
  const auto place = std::ranges::find(members, world.rank) - members.begin();
  const std::string what = fmt::format("the connection of ranks {}", fmt::join(members, " "));
  const RankWatch::WaitForRanksScope waiting(world.watch, what);
  try {
    return device.create_process_group_backend(
        {.store = c10::make_intrusive<c10d::PrefixStore>(name, world.store),
         .rank = static_cast<int>(place),
         .size = static_cast<int>(members.size()),
         .timeout = world.timeout});
  } catch (const std::exception& error) {
    const auto* own = dynamic_cast<const Error*>(&error);
    const bool refused = own != nullptr && own->kind() != ErrorKind::kRuntime;
    const std::string_view text = error.what();
    if (!refused && world.watch != nullptr) {
      world.watch->end_run_with_reason(fmt::format("{}: {}", what, text.substr(0, text.find('\n'))),
                                       true, 1);
    }
    throw;
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> create_gloo_process_group(
    const RankCommunicators::RankWorld& world, const std::string& name,
    const std::vector<std::int64_t>& members) {
  return backend_of(*cpu_device(), world, name, members);
}

Communicator::Communicator(c10::intrusive_ptr<c10d::Backend> backend, CommunicatorCallLog log,
                           RankWatch* watch, RecordedPayload payload)
    : backend_(std::move(backend)), log_(std::move(log)), watch_(watch), payload_(payload) {
  index_ = std::ranges::find(log_.members, log_.rank) - log_.members.begin();
}

CommunicatorCallLog Communicator::communicator_call_log() const {
  CommunicatorCallLog log = log_;
  log.scheduled = scheduled_call_count(*backend_);
  return log;
}

void Communicator::record(const step::Operator& op, const at::Tensor& payload) {
  const std::int64_t bytes = payload_ == RecordedPayload::kSent
                                 ? static_cast<std::int64_t>(payload.nbytes())
                                 : op.payload_bytes();
  log_.calls.push_back({op.kind, op.scheme, op.phase, std::string(op.name), bytes});
}

std::string Communicator::describe(const step::Operator& op) const {
  return fmt::format("{} of {} ({} group, ranks {})", name_of(step::kOperatorNames, op.kind),
                     op.name, name_of(plan::kGroupNames, log_.group), fmt::join(log_.members, " "));
}

void Communicator::wait_for_call(const std::string& what,
                                 const c10::intrusive_ptr<c10d::Work>& work) {
  wait_for_message(watch_, what, *work);
}

void Communicator::all_reduce(const step::Operator& op, at::Tensor& buffer) {
  record(op, buffer);
  std::vector<at::Tensor> buffers{buffer};
  c10d::AllreduceOptions options;
  options.reduceOp = op.largest ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
  wait_for_call(describe(op), backend_->allreduce(buffers, options));
}

void Communicator::broadcast(const step::Operator& op, at::Tensor& buffer, std::int64_t from) {
  record(op, buffer);
  std::vector<at::Tensor> buffers{buffer};
  c10d::BroadcastOptions options;
  options.rootRank = from;
  wait_for_call(describe(op), backend_->broadcast(buffers, options));
}

void Communicator::all_gather(const step::Operator& op, at::Tensor& whole, at::Tensor part) {
  record(op, whole);
  wait_for_call(describe(op), backend_->_allgather_base(whole, part));
}

void Communicator::reduce_scatter(const step::Operator& op, at::Tensor& part, at::Tensor whole) {
  record(op, whole);
  wait_for_call(describe(op), backend_->_reduce_scatter_base(part, whole));
}

void Communicator::all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent) {
  all_to_all(op, received, std::move(sent), {});
}

void Communicator::all_to_all(const step::Operator& op, at::Tensor& received, at::Tensor sent,
                              AllToAllRowCounts splits) {
  record(op, sent);
  wait_for_call(describe(op),
                backend_->alltoall_base(received, sent, splits.received, splits.sent));
}

void Communicator::start_buffer_send(const step::Operator& op, const at::Tensor& buffer,
                                     std::int64_t to, int tag) {
  record(op, buffer);
  std::vector<at::Tensor> buffers{buffer};
  sending_.push_back({backend_->send(buffers, static_cast<int>(to), tag), buffer, describe(op)});
}

Communicator::PostedReceive Communicator::post_receive(const at::Tensor& buffer, std::int64_t from,
                                                       int tag) {
  std::vector<at::Tensor> buffers{buffer};
  return {backend_->recv(buffers, static_cast<int>(from), tag), buffer};
}

void Communicator::receive_buffer(const step::Operator& op, const PostedReceive& expected) {
  record(op, expected.buffer);
  wait_for_call(describe(op), expected.work);
}

void Communicator::receive_buffer(const step::Operator& op, at::Tensor& buffer, std::int64_t from,
                                  int tag) {
  receive_buffer(op, post_receive(buffer, from, tag));
}

void Communicator::exchange_with_ring_neighbours(const step::Operator& op, const at::Tensor& sent,
                                                 at::Tensor& received) {
  record(op, sent);
  const int tag = next_tag_++;
  std::vector<at::Tensor> out{sent};
  std::vector<at::Tensor> in{received};
  // If a group runs its messages in order, send and receive must be issued as one; otherwise all
  // ranks would send first and none receive.
  const bool joined = backend_->supportsCoalescing();
  if (joined) backend_->startCoalescing();
  const auto sending = backend_->send(out, static_cast<int>((index_ + 1) % size()), tag);
  const auto coming = backend_->recv(in, static_cast<int>((index_ + size() - 1) % size()), tag);
  if (joined) return wait_for_call(describe(op), backend_->endCoalescing());
  wait_for_call(describe(op), coming);
  wait_for_call(describe(op), sending);
}

void Communicator::finish() {
  for (const Sending& one : sending_) wait_for_call(one.what, one.work);
  sending_.clear();
}

RankCommunicators::RankCommunicators(const RankWorld& world, const plan::PlannedJob& planned,
                                     const step::StepProgram& program,
                                     const step::PipelineStageProgram& stage, RankDevice& device) {
  if (world.size == 1) return;
  const plan::RankGrid grid(planned.plan);
  Channels channels;
  for (const step::TemplateSequence& sequence : stage.sequences) {
    for (const step::TemplateSequenceItem& item : sequence.items) {
      add_channels(program.templates[static_cast<std::size_t>(item.which)], grid,
                   planned.plan.collectives, channels);
    }
  }
  control_ = create_gloo_process_group(world, "control", all_ranks(world.size));
  for (const auto& [key, named] : channels) {
    const auto& [kind, channel] = key;
    const std::vector<std::int64_t> members = grid.group_ranks_containing(kind, world.rank);
    const std::string name =
        fmt::format("{}/{}/{}", name_of(plan::kGroupNames, kind), channel, members.front());
    const std::vector<std::int32_t> tiers =
        tier_sizes_of_scheduled_group(named, members, planned.job.cluster);
    if (!tiers.empty() && !device.torch_device().is_cpu()) {
      fail_unsupported(fmt::format("collectives: {} runs on tensors in host memory only",
                                   name_of(collective::kCollectiveAlgorithmNames, named)));
    }
    communicators_[key] = std::make_unique<Communicator>(
        tiers.empty() ? backend_of(device, world, name, members)
                      : create_scheduled_collective_backend(world, name, members, tiers, named),
        CommunicatorCallLog{
            .rank = world.rank, .group = kind, .channel = channel, .members = members},
        world.watch, world.payload);
  }
}

Communicator& RankCommunicators::communicator_of_operator(const step::Operator& op) {
  return *communicators_.at({op.group, std::string(step::operator_communicator_name(op))});
}

std::vector<CommunicatorCallLog> RankCommunicators::communicator_call_logs() const {
  std::vector<CommunicatorCallLog> communicator_call_logs;
  for (const auto& [key, communicator] : communicators_)
    communicator_call_logs.push_back(communicator->communicator_call_log());
  return communicator_call_logs;
}

void RankCommunicators::finish() {
  for (const auto& [key, communicator] : communicators_) communicator->finish();
}

}  // namespace stepwright::runtime
