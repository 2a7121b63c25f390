#include "stepwright/collective_files/msccl.h"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "stepwright/collective_files/msccl_family.h"
#include "stepwright/collective_files/thread_blocks.h"
#include "stepwright/core/utf8.h"

namespace stepwright::collective_files {
namespace {

constexpr std::string_view kMscclLoader = "MSCCL";
constexpr std::int32_t kMostStepPieces = 71;
/// Most peers of a rank on one channel, in each direction.
constexpr int kMostChannelPeers = 32;
constexpr std::size_t kMostChannels = 32;
/// Most pieces of a buffer, as offsets have 16 bits.
constexpr std::size_t kMostBufferPieces = 32768;
/// Most elements for which the loader allocates a table when it reads the part of one rank.
constexpr std::size_t kMostElements = 4096;

using Xml = pugi::xml_node;

/// Adds a place in a buffer to a step; an offset of -1 if the step has none.
void add_place(Xml& step, std::string_view side, const char* letter, std::int64_t offset) {
  const std::string name(side);
  step.append_attribute((name + "buf").c_str()) = letter;
  step.append_attribute((name + "off").c_str()) = offset;
}

void add_place(Xml& step, std::string_view side, collective::PieceRunStart place) {
  add_place(step, side, msccl_buffer_letter(place.buffer), std::int64_t{place.piece});
}

const char* type_word(collective::CollectiveStepOperation kind) {
  switch (kind) {
    case collective::CollectiveStepOperation::kSend: return "s";
    case collective::CollectiveStepOperation::kReceive: return "r";
    case collective::CollectiveStepOperation::kReceiveReduce: return "rrc";
    case collective::CollectiveStepOperation::kCopy: return "cpy";
    case collective::CollectiveStepOperation::kReduce: break;
  }
  return "re";
}

/// Returns the number of nops before a step, which can itself wait for only one other step.
std::size_t nops_before(const MscclThreadBlockStep& step) {
  return std::max<std::size_t>(step.after.size(), 1) - 1;
}

/// For each thread block and step, its number in the file, where nops count; the last entry of a
/// thread block is its number of steps.
using StepNumbers = std::vector<std::vector<std::size_t>>;

StepNumbers numbered(const std::vector<MscclThreadBlock>& blocks) {
  StepNumbers numbers;
  for (const MscclThreadBlock& block : blocks) {
    std::size_t next = 0;
    std::vector<std::size_t>& own = numbers.emplace_back();
    for (const MscclThreadBlockStep& step : block.steps) {
      own.push_back(next + nops_before(step));
      next = own.back() + 1;
    }
    own.push_back(next);
  }
  return numbers;
}

/// Fails early if a rank exceeds the limits by far, as splitting it would be slow.
void check_size(const collective::CollectiveSchedule& schedule, const ReceivesOfFlows& landings,
                const MscclLoaderLimits& setting) {
  std::vector<std::size_t> flows(schedule.ranks.size());
  for (const auto& [flow, unused] : landings) {
    ++flows[static_cast<std::size_t>(flow.from)];
    ++flows[static_cast<std::size_t>(flow.to)];
  }
  for (std::size_t rank = 0; rank < flows.size(); ++rank) {
    const auto number = static_cast<std::int32_t>(rank);
    check_schedule_loader_limit({kMscclLoader, "thread blocks", setting.most_thread_blocks},
                                flows[rank], number);
    std::size_t steps = 0;
    for (const collective::RankStepSequence& channel : schedule.ranks[rank].channels) {
      steps += channel.steps.size();
    }
    check_schedule_loader_limit({kMscclLoader, "steps", kMostElements}, steps, number);
  }
}

/// Writes the thread blocks of one rank.
class BlockFile {
 public:
  BlockFile(const std::vector<MscclThreadBlock>& blocks, Xml gpu)
      : blocks_(blocks), numbers_(numbered(blocks)), gpu_(gpu) {}

  void check(const MscclLoaderLimits& setting, std::size_t ranks, std::int32_t rank) const {
    check_schedule_loader_limit({kMscclLoader, "thread blocks", setting.most_thread_blocks},
                                blocks_.size(), rank);
    std::size_t elements = 1 + ranks + blocks_.size();
    for (const auto& own : numbers_) {
      check_schedule_loader_limit({kMscclLoader, "steps in a thread block", setting.most_steps},
                                  own.back(), rank);
      elements += own.back();
    }
    check_schedule_loader_limit({kMscclLoader, "elements", kMostElements}, elements, rank);
  }

  void write() {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      block_ = gpu_.append_child("tb");
      block_.append_attribute("id") = b;
      block_.append_attribute("send") = blocks_[b].send_peer;
      block_.append_attribute("recv") = blocks_[b].receive_peer;
      block_.append_attribute("chan") = blocks_[b].channel;
      written_ = 0;
      for (const MscclThreadBlockStep& step : blocks_[b].steps) add(step);
    }
  }

 private:
  Xml started(const char* type) {
    Xml step = block_.append_child("step");
    step.append_attribute("s") = written_++;
    step.append_attribute("type") = type;
    return step;
  }

  /// Completes a step in the file. `on`: the step to wait for, if it exists.
  void finish(Xml step, std::int32_t pieces, collective::CollectiveStepReference on, bool awaited) {
    step.append_attribute("cnt") = pieces;
    step.append_attribute("depid") = on.channel;
    step.append_attribute("deps") =
        on.exists()
            ? static_cast<std::int64_t>(
                  numbers_[static_cast<std::size_t>(on.channel)][static_cast<std::size_t>(on.step)])
            : -1;
    step.append_attribute("hasdep") = awaited ? 1 : 0;
  }

  void add(const MscclThreadBlockStep& step) {
    for (std::size_t i = 0; i < nops_before(step); ++i) {
      Xml nop = started("nop");
      add_place(nop, "src", "i", -1);
      add_place(nop, "dst", "o", -1);
      finish(nop, 0, step.after[i], false);
    }
    const collective::CollectiveStepOperation kind = step.step.kind;
    Xml xml = started(type_word(kind));
    if (kind == collective::CollectiveStepOperation::kReceive) {
      add_place(xml, "src", "i", -1);
    } else {
      add_place(xml, "src", step.step.source);
    }
    add_place(xml, "dst",
              kind == collective::CollectiveStepOperation::kSend ? step.lands : step.step.target);
    // The loader merges additions to the same place that no step waits for, with the length of the
    // last one, so every addition is marked as awaited.
    const bool awaited = step.awaited || kind == collective::CollectiveStepOperation::kReduce;
    finish(xml, step.step.pieces,
           step.after.empty() ? collective::CollectiveStepReference{} : step.after.back(), awaited);
  }

  const std::vector<MscclThreadBlock>& blocks_;
  StepNumbers numbers_;
  Xml gpu_;
  Xml block_;
  std::size_t written_ = 0;
};

void write_head(Xml& algo, const collective::CollectiveSchedule& schedule,
                const MscclLoaderLimits& setting, std::size_t channels) {
  // XML cannot represent control characters.
  algo.append_attribute("name") =
      one_line_printable_text(setting.name, std::string_view::npos).c_str();
  algo.append_attribute("proto") = "Simple";
  algo.append_attribute("nchannels") = channels;
  algo.append_attribute("nchunksperloop") = schedule.pieces;
  algo.append_attribute("ngpus") = schedule.ranks.size();
  algo.append_attribute("coll") = std::string(msccl_collective_name(schedule.collective)).c_str();
  algo.append_attribute("inplace") = 0;
  algo.append_attribute("outofplace") = 1;
  algo.append_attribute("minBytes") = setting.min_bytes;
  algo.append_attribute("maxBytes") = setting.max_bytes;
}

std::size_t channels_used(const FlowChannels& channels) {
  int most = 0;
  for (const auto& [flow, channel] : channels) most = std::max(most, channel);
  return static_cast<std::size_t>(most) + 1;
}

}  // namespace

std::string msccl_xml(const collective::CollectiveSchedule& schedule,
                      const MscclLoaderLimits& setting) {
  const MessageReceiverTable messages(schedule);
  const FlowChannels channels = assign_msccl_channels(messages.landings(), kMostChannelPeers);
  check_schedule_loader_limit({kMscclLoader, "channels", kMostChannels}, channels_used(channels),
                              0);
  for (const collective::RankBufferKind buffer :
       {collective::RankBufferKind::kInput, collective::RankBufferKind::kOutput,
        collective::RankBufferKind::kScratch}) {
    const auto pieces =
        static_cast<std::size_t>(collective::piece_count_of_rank_buffer(schedule, buffer));
    check_schedule_loader_limit({kMscclLoader, "pieces of a buffer", kMostBufferPieces}, pieces, 0);
  }
  check_size(schedule, messages.landings(), setting);
  pugi::xml_document document;
  Xml algo = document.append_child("algo");
  write_head(algo, schedule, setting, channels_used(channels));
  const MscclThreadBlockInput source{schedule, messages.landings(), channels, kMostStepPieces};
  for (std::int32_t rank = 0; rank < std::ssize(schedule.ranks); ++rank) {
    Xml gpu = algo.append_child("gpu");
    gpu.append_attribute("id") = rank;
    gpu.append_attribute("i_chunks") = schedule.input_pieces;
    gpu.append_attribute("o_chunks") = schedule.output_pieces;
    gpu.append_attribute("s_chunks") = schedule.scratch_pieces;
    const std::vector<MscclThreadBlock> blocks = msccl_thread_blocks(source, rank);
    BlockFile file(blocks, gpu);
    file.check(setting, schedule.ranks.size(), rank);
    file.write();
  }
  // MSCCL's loaders accept neither a declaration nor tabs.
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default | pugi::format_no_declaration);
  return text.str();
}

}  // namespace stepwright::collective_files
