#include "stepwright/collective_files/mscclpp.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/collective_files/msccl_family.h"
#include "stepwright/collective_files/schedule_messages.h"
#include "stepwright/core/error.h"

namespace stepwright::collective_files {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kThreads = 1024;
/// Limit of the channels of one type and of the buffers in a thread block, and of the semaphores of
/// a rank.
constexpr std::size_t kMostOfAKind = 16;
constexpr std::string_view kMscclppLoader = "MSCCL++";

/// The schedule and settings from which all ranks' plans are made.
struct PlanSource {
  const collective::CollectiveSchedule& schedule;
  const MscclppPlanSetting& setting;
  MessageReceiverTable messages;
};

/// Writes the plan of one rank.
class GpuPlan {
 public:
  GpuPlan(const PlanSource& source, std::int32_t rank)
      : source_(source),
        schedule_(source.schedule),
        rank_(rank),
        own_(schedule_.ranks[static_cast<std::size_t>(rank)]),
        rooms_(first_receive_scratch_pieces(schedule_, rank)) {
    name_channels();
    name_semaphores();
  }

  Json json() {
    Json blocks = Json::array();
    for (std::size_t c = 0; c < own_.channels.size(); ++c) blocks.push_back(block(c));
    Json channels = Json::array();
    for (const auto& [type, peers] : connected_) {
      channels.push_back({{"channel_type", type}, {"connected_to", peers}});
    }
    check_schedule_loader_limit({kMscclppLoader, "semaphores", kMostOfAKind}, semaphores_.size(),
                                rank_);
    Json semaphores = Json::array();
    for (std::size_t i = 0; i < semaphores_.size(); ++i) semaphores.push_back({{"init_value", 0}});
    return {{"id", rank_},
            {"input_chunks", schedule_.input_pieces},
            {"output_chunks", schedule_.output_pieces},
            {"scratch_chunks", rooms_.back()},
            {"threadblocks", blocks},
            {"channels", channels},
            {"remote_buffers", remote_},
            {"semaphores", semaphores}};
  }

 private:
  /// Type of a channel, and its number among those of the type.
  using ChannelId = std::pair<std::string, int>;

  [[nodiscard]] const char* type_to(std::int32_t peer) const {
    const bool together =
        peer / source_.setting.ranks_per_node == rank_ / source_.setting.ranks_per_node;
    return together ? "memory" : "port";
  }

  /// Numbers the channels. Both ends number the flows between them in the same order: lane, sender,
  /// receiver.
  void name_channels() {
    for (const auto& [flow, unused] : source_.messages.landings()) {
      if (flow.from != rank_ && flow.to != rank_) continue;
      const std::int32_t peer = flow.from == rank_ ? flow.to : flow.from;
      std::vector<std::int32_t>& peers = connected_[type_to(peer)];
      channels_[flow] = {type_to(peer), static_cast<int>(peers.size())};
      peers.push_back(peer);
    }
  }

  void name_semaphores() {
    for (std::int32_t c = 0; c < std::ssize(own_.channels); ++c) {
      for (const collective::CollectiveStepDependency& wait :
           own_.channels[static_cast<std::size_t>(c)].waits) {
        const auto key = std::pair(wait.on.channel, c);
        semaphores_.try_emplace(key, static_cast<int>(semaphores_.size()));
        releases_[{wait.on.channel, wait.on.step}].insert(semaphores_.at(key));
      }
    }
  }

  /// Returns the thread block of a channel.
  Json block(std::size_t c) {
    const collective::RankStepSequence& channel = own_.channels[c];
    ops_ = Json::array();
    block_channels_.clear();
    block_buffers_.clear();
    unsettled_ = false;
    std::size_t waited = 0;
    for (std::int32_t s = 0; s < std::ssize(channel.steps); ++s) {
      for (; waited < channel.waits.size() && channel.waits[waited].step == s; ++waited) {
        const int semaphore =
            semaphores_.at({channel.waits[waited].on.channel, static_cast<std::int32_t>(c)});
        ops_.push_back({{"name", "sem_acquire"}, {"semaphore_ids", {semaphore}}});
        unsettled_ = true;
      }
      add_step(c, channel.steps[static_cast<std::size_t>(s)]);
      const auto released = releases_.find({static_cast<std::int32_t>(c), s});
      if (released == releases_.end()) continue;
      settle();
      ops_.push_back({{"name", "sem_release"}, {"semaphore_ids", released->second}});
    }
    check_schedule_loader_limit(
        {kMscclppLoader, "operations in a thread block", source_.setting.most_operations},
        ops_.size(), rank_);
    for (const auto* ids : {&block_channels_, &block_buffers_}) {
      for (const auto& [type, numbers] : *ids) {
        check_schedule_loader_limit(
            {kMscclppLoader, "channels or buffers in a thread block", kMostOfAKind}, numbers.size(),
            rank_);
      }
    }
    return {{"id", c},
            {"ops", ops_},
            {"channels", references(block_channels_, "channel_type", "channel_ids")},
            {"remote_buffer_refs",
             references(block_buffers_, "access_channel_type", "remote_buffer_ids")}};
  }

  /// Adds a nop at which all threads of the block synchronise, if one thread has seen or several
  /// have written something that all need next.
  void settle() {
    if (unsettled_) ops_.push_back({{"name", "nop"}});
    unsettled_ = false;
  }

  static Json references(const std::map<std::string, std::vector<int>>& ids, const char* type_key,
                         const char* ids_key) {
    Json list = Json::array();
    for (const auto& [type, numbers] : ids) list.push_back({{type_key, type}, {ids_key, numbers}});
    return list;
  }

  /// Returns the number of `id` in its thread block, adding it if it is new.
  static int local(std::vector<int>& ids, int id) {
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found != ids.end()) return static_cast<int>(found - ids.begin());
    ids.push_back(id);
    return static_cast<int>(ids.size()) - 1;
  }

  void add_channel_op(const char* name, const MessageFlow& flow) {
    const auto& [type, id] = channels_.at(flow);
    ops_.push_back({{"name", name},
                    {"channel_ids", {local(block_channels_[type], id)}},
                    {"channel_type", type}});
  }

  static Json run(collective::PieceRunStart place, std::int32_t pieces) {
    return {{"type", msccl_buffer_letter(place.buffer)},
            {"index", std::uint32_t{place.piece}},
            {"size", pieces}};
  }

  void add_step(std::size_t c, const collective::CollectiveScheduleStep& step) {
    const std::uint8_t lane = own_.channels[c].lane;
    if (collective::sends(step)) return add_put(lane, step);
    if (collective::receives(step)) {
      const MessageFlow flow{lane, step.peer, rank_};
      if (source_.messages.message_waits_for_free_memory(flow, received_[flow]++)) {
        settle();
        add_channel_op("signal", flow);
      }
      add_channel_op("wait", flow);
      unsettled_ = true;
      if (step.kind == collective::CollectiveStepOperation::kReceive) return;
      settle();
      const Json arrived = {{"type", "s"}, {"index", rooms_[c]}, {"size", step.pieces}};
      ops_.push_back({{"name", "re"},
                      {"src_buff", {run(step.source, step.pieces), arrived}},
                      {"dst_buff", Json::array({run(step.target, step.pieces)})}});
      unsettled_ = true;
      return;
    }
    settle();
    // Braces around one value are a list for g++ and the value for clang.
    Json sources = Json::array({run(step.source, step.pieces)});
    const bool adds = step.kind == collective::CollectiveStepOperation::kReduce;
    if (adds) sources.push_back(run(step.target, step.pieces));
    ops_.push_back({{"name", adds ? "re" : "copy"},
                    {"src_buff", sources},
                    {"dst_buff", Json::array({run(step.target, step.pieces)})}});
    unsettled_ = true;
  }

  void add_put(std::uint8_t lane, const collective::CollectiveScheduleStep& step) {
    const MessageFlow flow{lane, rank_, step.peer};
    const std::size_t number = sent_[flow]++;
    const MessageDestination& landing = source_.messages.landings().at(flow)[number];
    collective::PieceRunStart target = landing.step->target;
    if (landing.step->kind == collective::CollectiveStepOperation::kReceiveReduce) {
      const auto rooms = first_receive_scratch_pieces(schedule_, step.peer);
      target.piece = static_cast<std::uint32_t>(rooms[static_cast<std::size_t>(landing.channel)]) &
                     collective::kMaxSchedulePiecesPerBuffer;
      target.buffer = collective::RankBufferKind::kScratch;
    }
    const std::string type = type_to(step.peer);
    if (source_.messages.message_waits_for_free_memory(flow, number)) {
      add_channel_op("wait", flow);
      unsettled_ = true;
    }
    settle();
    ops_.push_back(
        {{"name", "put"},
         {"src_buff", Json::array({run(step.source, step.pieces)})},
         {"dst_buff", Json::array({{{"buffer_id",
                                     local(block_buffers_[type], remote(step.peer, target.buffer))},
                                    {"index", std::uint32_t{target.piece}},
                                    {"size", step.pieces}}})},
         {"channel_ids", Json::array({local(block_channels_[type], channels_.at(flow).second)})},
         {"channel_type", type}});
    unsettled_ = true;
    settle();
    add_channel_op("signal", flow);
    if (type == "port") add_channel_op("flush", flow);
  }

  /// Returns the number of a peer's buffer.
  int remote(std::int32_t peer, collective::RankBufferKind buffer) {
    const auto [known, added] =
        remote_ids_.try_emplace({peer, buffer}, static_cast<int>(remote_ids_.size()));
    if (added) {
      remote_.push_back({{"rank", peer},
                         {"type", msccl_buffer_letter(buffer)},
                         {"access_channel_types", Json::array({type_to(peer)})}});
    }
    return known->second;
  }

  const PlanSource& source_;
  const collective::CollectiveSchedule& schedule_;
  std::int32_t rank_;
  const collective::RankCollectiveSchedule& own_;
  std::vector<std::int32_t> rooms_;
  std::map<std::string, std::vector<std::int32_t>> connected_;
  std::map<MessageFlow, ChannelId> channels_;
  std::map<MessageFlow, std::size_t> sent_;
  std::map<MessageFlow, std::size_t> received_;
  /// Semaphores, by the channel that signals and the channel that waits for it.
  std::map<std::pair<std::int32_t, std::int32_t>, int> semaphores_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::set<int>> releases_;
  std::map<std::pair<std::int32_t, collective::RankBufferKind>, int> remote_ids_;
  Json remote_ = Json::array();
  Json ops_;  ///< Operations of the current thread block; the next three members belong to it too.
  /// True if one thread has seen, or several have written, something that other threads may not
  /// have noticed.
  bool unsettled_ = false;
  std::map<std::string, std::vector<int>> block_channels_;
  std::map<std::string, std::vector<int>> block_buffers_;
};

}  // namespace

Json mscclpp_execution_plan(const collective::CollectiveSchedule& schedule,
                            const MscclppPlanSetting& setting) {
  if (schedule.collective == collective::CollectiveOperation::kReduce) {
    fail_unsupported("MSCCL++ cannot express a reduction to one rank");
  }
  Json gpus = Json::array();
  const PlanSource source{schedule, setting, MessageReceiverTable(schedule)};
  for (std::int32_t rank = 0; rank < std::ssize(schedule.ranks); ++rank) {
    gpus.push_back(GpuPlan(source, rank).json());
  }
  return {{"name", setting.name},
          {"collective", msccl_collective_name(schedule.collective)},
          {"protocol", "Simple"},
          {"inplace", false},
          {"reuse_resources", false},
          {"num_threads_per_block", kThreads},
          {"use_double_scratch_buffer", false},
          {"buffer_alignment", 16},
          {"min_message_size", setting.min_message_size},
          {"max_message_size", setting.max_message_size},
          {"gpus", gpus}};
}

}  // namespace stepwright::collective_files
