#include "tests/collective_files/msccl_file.h"

#include <array>
#include <charconv>
#include <pugixml.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

namespace stepwright::collective_files {
namespace {

constexpr std::string_view kLetters = "ios";
constexpr std::int32_t kCountEnd = 72;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

std::string text_of(pugi::xml_node node, const char* name) {
  const pugi::xml_attribute attribute = node.attribute(name);
  require(!attribute.empty(), std::string(node.name()) + " without " + name);
  return attribute.value();
}

std::int64_t number_of(pugi::xml_node node, const char* name) {
  const std::string text = text_of(node, name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size(),
          std::string(name) + " is no number: " + text);
  return value;
}

std::int32_t int_of(pugi::xml_node node, const char* name) {
  const std::int64_t value = number_of(node, name);
  require(value >= -1 && value < (1 << 30), std::string(name) + " out of range");
  return static_cast<std::int32_t>(value);
}

bool flag_of(pugi::xml_node node, const char* name) {
  const std::int32_t value = int_of(node, name);
  require(value == 0 || value == 1, std::string(name) + " must be 0 or 1");
  return value == 1;
}

bool place_of(pugi::xml_node node, const char* buffer, const char* offset,
              collective::PieceRunStart& place) {
  const std::size_t letter = kLetters.find(text_of(node, buffer));
  require(letter != std::string_view::npos, "no such buffer");
  place.buffer = static_cast<collective::RankBufferKind>(letter);
  const std::int32_t piece = int_of(node, offset);
  place.piece = static_cast<std::uint32_t>(piece) & collective::kMaxSchedulePiecesPerBuffer;
  return piece >= 0;
}

MscclStep read_step(pugi::xml_node node, std::size_t number) {
  require(number_of(node, "s") == static_cast<std::int64_t>(number), "steps out of order");
  MscclStep step{.type = text_of(node, "type")};
  static const std::set<std::string> kTypes = {"s",    "r",   "rcs", "rrs", "rrc",
                                               "rrcs", "cpy", "re",  "nop"};
  require(kTypes.contains(step.type), "no such type: " + step.type);
  step.has_source = place_of(node, "srcbuf", "srcoff", step.source);
  step.has_target = place_of(node, "dstbuf", "dstoff", step.target);
  step.count = int_of(node, "cnt");
  require(step.count < kCountEnd, "count of a step");
  require((step.count > 0) == (step.type != "nop"), "a step of no pieces");
  step.on = {int_of(node, "depid"), int_of(node, "deps")};
  step.awaited = flag_of(node, "hasdep");
  return step;
}

MscclBlock read_block(pugi::xml_node node, std::size_t number) {
  require(number_of(node, "id") == static_cast<std::int64_t>(number), "thread blocks out of order");
  MscclBlock block{.send = int_of(node, "send"),
                   .receive = int_of(node, "recv"),
                   .channel = int_of(node, "chan")};
  for (const pugi::xml_node step : node.children()) {
    require(std::string_view(step.name()) == "step", "no step");
    block.steps.push_back(read_step(step, block.steps.size()));
  }
  return block;
}

MscclGpu read_gpu(pugi::xml_node node, std::size_t number) {
  require(number_of(node, "id") == static_cast<std::int64_t>(number), "ranks out of order");
  MscclGpu gpu;
  for (const char* name : {"i_chunks", "o_chunks", "s_chunks"}) {
    gpu.pieces.push_back(static_cast<std::size_t>(int_of(node, name)));
  }
  for (const pugi::xml_node block : node.children()) {
    require(std::string_view(block.name()) == "tb", "no thread block");
    gpu.blocks.push_back(read_block(block, gpu.blocks.size()));
  }
  return gpu;
}

bool is_in(const MscclGpu& gpu, collective::PieceRunStart place, std::int32_t count) {
  return place.piece + static_cast<std::size_t>(count) <=
         gpu.pieces[static_cast<std::size_t>(place.buffer)];
}

void check_step(const MscclGpu& gpu, const MscclBlock& block, const MscclStep& step) {
  const bool reads = step.type != "nop" && step.type != "r" && step.type != "rcs";
  const bool writes = step.type != "nop" && step.type != "s" && step.type != "rrs";
  require(!reads || (step.has_source && is_in(gpu, step.source, step.count)), "a place to read");
  require(!writes || (step.has_target && is_in(gpu, step.target, step.count)), "a place to write");
  require(!step.sends() || block.send >= 0, "a send without a peer");
  require(!step.receives() || block.receive >= 0, "a receive without a peer");
  if (!step.on.exists()) return;
  const auto on = static_cast<std::size_t>(step.on.channel);
  require(on < gpu.blocks.size() && &gpu.blocks[on] != &block, "a dependence on no thread block");
  const auto& steps = gpu.blocks[on].steps;
  const auto number = static_cast<std::size_t>(step.on.step);
  require(number < steps.size() && steps[number].awaited,
          "a dependence on a step that keeps quiet");
}

void check_block(const MscclGpu& gpu, const MscclBlock& block, std::int32_t channels) {
  require(block.channel >= 0 && block.channel < channels, "a channel that the file does not have");
  bool chained = false;
  for (const MscclStep& step : block.steps) {
    require(step.on.exists() || (!chained && step.type != "nop"), "a chain of dependences breaks");
    chained = step.type == "nop";
    check_step(gpu, block, step);
  }
  require(!chained, "a chain of dependences without an end");
}

/// Sender, receiver and channel of each connection, from the sending or the receiving side.
using Connections = std::set<std::array<std::int32_t, 3>>;

void add_connection(Connections& connections, std::int32_t from, std::int32_t to,
                    std::int32_t channel) {
  require(from != to, "a rank that talks to itself");
  require(connections.insert({from, to, channel}).second, "two thread blocks on one connection");
}

void check(const MscclFile& file) {
  Connections out;
  Connections in;
  for (std::size_t g = 0; g < file.gpus.size(); ++g) {
    const auto rank = static_cast<std::int32_t>(g);
    for (const MscclBlock& block : file.gpus[g].blocks) {
      check_block(file.gpus[g], block, file.channels);
      if (block.send >= 0) add_connection(out, rank, block.send, block.channel);
      if (block.receive >= 0) add_connection(in, block.receive, rank, block.channel);
    }
  }
  require(out == in, "a connection with one end");
}

collective::CollectiveStepOperation kind_of(const std::string& type) {
  if (type == "s") return collective::CollectiveStepOperation::kSend;
  if (type == "r") return collective::CollectiveStepOperation::kReceive;
  if (type == "rrc") return collective::CollectiveStepOperation::kReceiveReduce;
  if (type == "cpy") return collective::CollectiveStepOperation::kCopy;
  require(type == "re", "a schedule has no " + type);
  return collective::CollectiveStepOperation::kReduce;
}

/// Returns the steps of a thread block without its nops; `places`: new index of each old step.
collective::RankStepSequence channel_of(const MscclBlock& block) {
  collective::RankStepSequence channel{.lane = static_cast<std::uint8_t>(block.channel)};
  for (const MscclStep& step : block.steps) {
    const auto next = static_cast<std::int32_t>(std::ssize(channel.steps));
    if (step.on.exists()) channel.waits.push_back({next, step.on});
    if (step.type == "nop") continue;
    const collective::CollectiveStepOperation kind = kind_of(step.type);
    collective::CollectiveScheduleStep own{.pieces = step.count, .kind = kind};
    if (kind == collective::CollectiveStepOperation::kSend) own.peer = block.send;
    if (step.receives()) own.peer = block.receive;
    if (kind != collective::CollectiveStepOperation::kReceive) own.source = step.source;
    if (kind != collective::CollectiveStepOperation::kSend) own.target = step.target;
    channel.steps.push_back(own);
  }
  return channel;
}

/// Returns how many steps before `end` are not nops.
std::int32_t steps_before(const MscclBlock& block, std::int32_t end) {
  std::int32_t steps = 0;
  for (std::int32_t s = 0; s < end; ++s) {
    steps += block.steps[static_cast<std::size_t>(s)].type == "nop" ? 0 : 1;
  }
  return steps;
}

}  // namespace

MscclFile read_msccl(const std::string& text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_string(text.c_str());
  require(parsed.status == pugi::status_ok, parsed.description());
  const pugi::xml_node algo = document.document_element();
  require(std::string_view(algo.name()) == "algo", "no algorithm");
  MscclFile file{.name = text_of(algo, "name"),
                 .protocol = text_of(algo, "proto"),
                 .collective = text_of(algo, "coll"),
                 .channels = int_of(algo, "nchannels"),
                 .pieces = int_of(algo, "nchunksperloop"),
                 .in_place = flag_of(algo, "inplace"),
                 .out_of_place = flag_of(algo, "outofplace"),
                 .min_bytes = number_of(algo, "minBytes"),
                 .max_bytes = number_of(algo, "maxBytes")};
  for (const pugi::xml_node gpu : algo.children()) {
    require(std::string_view(gpu.name()) == "gpu", "no gpu");
    file.gpus.push_back(read_gpu(gpu, file.gpus.size()));
  }
  require(int_of(algo, "ngpus") == std::ssize(file.gpus), "number of gpus");
  check(file);
  return file;
}

collective::CollectiveSchedule schedule_of(const MscclFile& file,
                                           collective::CollectiveOperation collective) {
  collective::CollectiveSchedule schedule{
      .collective = collective,
      .pieces = file.pieces,
      .input_pieces = static_cast<std::int32_t>(file.gpus.front().pieces[0]),
      .output_pieces = static_cast<std::int32_t>(file.gpus.front().pieces[1]),
      .scratch_pieces = static_cast<std::int32_t>(file.gpus.front().pieces[2])};
  for (const MscclGpu& gpu : file.gpus) {
    collective::RankCollectiveSchedule& rank = schedule.ranks.emplace_back();
    for (const MscclBlock& block : gpu.blocks) {
      rank.channels.push_back(channel_of(block));
      for (collective::CollectiveStepDependency& wait : rank.channels.back().waits) {
        wait.on.step =
            steps_before(gpu.blocks[static_cast<std::size_t>(wait.on.channel)], wait.on.step);
      }
    }
  }
  return schedule;
}

}  // namespace stepwright::collective_files
