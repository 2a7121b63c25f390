#include "tests/collective_files/mscclpp_interpreter.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>

namespace stepwright::collective_files {
namespace {

using Json = nlohmann::ordered_json;

/// An end of a channel: its type, and its number among those of the type.
using ChannelEnd = std::pair<std::string, int>;

class MscclppRun {
 public:
  MscclppRun(const Json& plan, const Pieces& inputs) {
    for (const char* key : {"name", "collective", "protocol"}) plan.at(key).get<std::string>();
    for (const char* key : {"inplace", "reuse_resources", "use_double_scratch_buffer"}) {
      plan.at(key).get<bool>();
    }
    for (const char* key :
         {"num_threads_per_block", "buffer_alignment", "min_message_size", "max_message_size"}) {
      plan.at(key).get<std::int64_t>();
    }
    for (const Json& gpu : plan.at("gpus")) add(gpu, inputs.at(gpus_.size()));
  }

  Pieces run(std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (std::size_t b = 0; b < gpus_[g].at.size(); ++b) blocks.emplace_back(g, b);
    }
    for (bool progress = true; progress;) {
      progress = false;
      std::shuffle(blocks.begin(), blocks.end(), random);
      for (const auto& [gpu, block] : blocks) progress |= advance(gpu, block);
    }
    return outputs();
  }

 private:
  struct Gpu {
    Json plan;
    /// Buffers, by their letter in the plan.
    std::map<std::string, std::vector<std::int64_t>> memory;
    std::vector<std::size_t> at;  ///< For each thread block, the index of its next op.
    std::vector<int> semaphores;
    std::map<ChannelEnd, int> signals;  ///< Signals that have arrived and were not waited for.
  };

  void add(const Json& plan, const std::vector<std::int64_t>& input) {
    Gpu gpu{.plan = plan};
    if (plan.at("id").get<std::size_t>() != gpus_.size()) throw std::runtime_error("order of gpus");
    if (plan.at("input_chunks").get<std::size_t>() != input.size()) {
      throw std::runtime_error("size of the input");
    }
    gpu.memory["i"] = input;
    gpu.memory["o"].resize(plan.at("output_chunks").get<std::size_t>(), -1);
    gpu.memory["s"].resize(plan.at("scratch_chunks").get<std::size_t>(), -1);
    gpu.at.resize(plan.at("threadblocks").size());
    for (const Json& semaphore : plan.at("semaphores")) {
      gpu.semaphores.push_back(semaphore.at("init_value").get<int>());
    }
    gpus_.push_back(std::move(gpu));
  }

  [[nodiscard]] Pieces outputs() const {
    Pieces outputs;
    for (const Gpu& gpu : gpus_) {
      for (std::size_t b = 0; b < gpu.at.size(); ++b) {
        if (gpu.at[b] < gpu.plan.at("threadblocks").at(b).at("ops").size()) {
          throw std::runtime_error("thread block " + std::to_string(b) + " waits for ever");
        }
      }
      outputs.push_back(gpu.memory.at("o"));
    }
    return outputs;
  }

  /// Returns the ids behind the numbers that a thread block's ops use.
  static int resolved(const Json& lists, const char* type_key, const std::string& type,
                      const char* ids_key, std::size_t number) {
    for (const Json& list : lists) {
      if (list.at(type_key) == type) return list.at(ids_key).at(number).get<int>();
    }
    throw std::runtime_error("a thread block without " + type);
  }

  ChannelEnd end_of(const Json& block, const Json& op) {
    const auto type = op.at("channel_type").get<std::string>();
    return {type, resolved(block.at("channels"), "channel_type", type, "channel_ids",
                           op.at("channel_ids").at(0).get<std::size_t>())};
  }

  static const Json& peers_of(const Gpu& gpu, const std::string& type) {
    for (const Json& list : gpu.plan.at("channels")) {
      if (list.at("channel_type") == type) return list.at("connected_to");
    }
    throw std::runtime_error("no channels of type " + type);
  }

  /// Returns the other end of the k-th channel between two ranks; both sides count alike.
  [[nodiscard]] std::pair<std::size_t, ChannelEnd> other_end(std::size_t gpu,
                                                             const ChannelEnd& end) const {
    const Json& own = peers_of(gpus_[gpu], end.first);
    const auto peer = own.at(static_cast<std::size_t>(end.second)).get<std::size_t>();
    int before = 0;
    for (int i = 0; i < end.second; ++i) before += own.at(i) == peer ? 1 : 0;
    const Json& others = peers_of(gpus_.at(peer), end.first);
    for (int i = 0; i < static_cast<int>(others.size()); ++i) {
      if (others.at(i) == gpu && before-- == 0) return {peer, {end.first, i}};
    }
    throw std::runtime_error("a channel with one end");
  }

  bool advance(std::size_t g, std::size_t b) {
    Gpu& gpu = gpus_[g];
    const Json& block = gpu.plan.at("threadblocks").at(b);
    if (gpu.at[b] == block.at("ops").size()) return false;
    const Json& op = block.at("ops").at(gpu.at[b]);
    if (!act(g, block, op, op.at("name").get<std::string>())) return false;
    ++gpu.at[b];
    return true;
  }

  bool act(std::size_t g, const Json& block, const Json& op, const std::string& name) {
    Gpu& gpu = gpus_[g];
    if (name == "nop" || name == "flush") return true;
    if (name == "signal") {
      const auto [peer, end] = other_end(g, end_of(block, op));
      ++gpus_[peer].signals[end];
    } else if (name == "wait") {
      int& signals = gpu.signals[end_of(block, op)];
      if (signals == 0) return false;
      --signals;
    } else if (name == "sem_acquire") {
      int& value = gpu.semaphores.at(op.at("semaphore_ids").at(0).get<std::size_t>());
      if (value == 0) return false;
      --value;
    } else if (name == "sem_release") {
      for (const Json& id : op.at("semaphore_ids")) ++gpu.semaphores.at(id.get<std::size_t>());
    } else if (name == "put") {
      put(g, block, op);
    } else if (name == "copy" || name == "re") {
      reduce(gpu, op);
    } else {
      throw std::runtime_error("unknown op " + name);
    }
    return true;
  }

  static std::int64_t& cell(Gpu& gpu, const Json& run, std::size_t i) {
    return gpu.memory.at(run.at("type").get<std::string>())
        .at(run.at("index").get<std::size_t>() + i);
  }

  void put(std::size_t g, const Json& block, const Json& op) {
    const Json& source = op.at("src_buff").at(0);
    const Json& target = op.at("dst_buff").at(0);
    const int id = resolved(block.at("remote_buffer_refs"), "access_channel_type",
                            op.at("channel_type").get<std::string>(), "remote_buffer_ids",
                            target.at("buffer_id").get<std::size_t>());
    const Json& remote = gpus_[g].plan.at("remote_buffers").at(static_cast<std::size_t>(id));
    if (remote.at("access_channel_types").empty()) throw std::runtime_error("no access");
    Gpu& peer = gpus_.at(remote.at("rank").get<std::size_t>());
    auto& memory = peer.memory.at(remote.at("type").get<std::string>());
    if (source.at("size") != target.at("size")) throw std::runtime_error("sizes of a put");
    for (std::size_t i = 0; i < source.at("size").get<std::size_t>(); ++i) {
      memory.at(target.at("index").get<std::size_t>() + i) = cell(gpus_[g], source, i);
    }
  }

  static void reduce(Gpu& gpu, const Json& op) {
    const Json& target = op.at("dst_buff").at(0);
    for (std::size_t i = 0; i < target.at("size").get<std::size_t>(); ++i) {
      std::int64_t sum = 0;
      for (const Json& source : op.at("src_buff")) sum += cell(gpu, source, i);
      cell(gpu, target, i) = sum;
    }
  }

  std::vector<Gpu> gpus_;
};

}  // namespace

Pieces run_mscclpp(const Json& plan, const Pieces& inputs, std::uint32_t seed) {
  return MscclppRun(plan, inputs).run(seed);
}

}  // namespace stepwright::collective_files
