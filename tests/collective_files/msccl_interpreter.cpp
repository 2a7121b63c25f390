#include "tests/collective_files/msccl_interpreter.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

namespace stepwright::collective_files {
namespace {

using Numbers = std::vector<std::int64_t>;
/// The key of a connection: sender, receiver, channel.
using Connection = std::array<std::int32_t, 3>;

class MscclRun {
 public:
  MscclRun(const MscclFile& file, const Pieces& inputs, std::size_t slots)
      : file_(file), slots_(slots) {
    for (std::size_t g = 0; g < file.gpus.size(); ++g) {
      Gpu& gpu = gpus_.emplace_back();
      gpu.memory[0] = inputs.at(g);
      if (gpu.memory[0].size() != file.gpus[g].pieces[0]) {
        throw std::runtime_error("size of the input");
      }
      for (std::size_t b = 1; b < 3; ++b) gpu.memory[b].resize(file.gpus[g].pieces[b], -1);
      gpu.over.resize(file.gpus[g].blocks.size());
    }
  }

  Pieces run(std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (std::size_t b = 0; b < gpus_[g].over.size(); ++b) blocks.emplace_back(g, b);
    }
    for (bool progress = true; progress;) {
      progress = false;
      std::shuffle(blocks.begin(), blocks.end(), random);
      for (const auto& [gpu, block] : blocks) progress |= advance(gpu, block);
    }
    Pieces outputs;
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (std::size_t b = 0; b < gpus_[g].over.size(); ++b) {
        if (gpus_[g].over[b] < file_.gpus[g].blocks[b].steps.size()) {
          throw std::runtime_error("thread block " + std::to_string(b) + " waits for ever");
        }
      }
      outputs.push_back(gpus_[g].memory[1]);
    }
    return outputs;
  }

 private:
  struct Gpu {
    std::array<Numbers, 3> memory;
    std::vector<std::size_t> over;  ///< For each thread block, the number of steps that are done.
  };

  bool advance(std::size_t g, std::size_t b) {
    const MscclBlock& block = file_.gpus[g].blocks[b];
    std::size_t& over = gpus_[g].over[b];
    if (over == block.steps.size()) return false;
    const MscclStep& step = block.steps[over];
    if (step.on.exists() && gpus_[g].over.at(static_cast<std::size_t>(step.on.channel)) <=
                                static_cast<std::size_t>(step.on.step)) {
      return false;
    }
    if (!act(g, block, step)) return false;
    ++over;
    return true;
  }

  bool act(std::size_t g, const MscclBlock& block, const MscclStep& step) {
    const auto rank = static_cast<std::int32_t>(g);
    std::deque<Numbers>& in = messages_[{block.receive, rank, block.channel}];
    std::deque<Numbers>& out = messages_[{rank, block.send, block.channel}];
    if (step.receives() && in.empty()) return false;
    if (step.sends() && out.size() >= slots_) return false;
    Numbers moved;
    if (step.receives()) {
      moved = std::move(in.front());
      in.pop_front();
      if (std::ssize(moved) != step.count) throw std::runtime_error("length of a message");
    }
    const bool adds = step.type.starts_with("rr") || step.type == "re";
    if (step.type == "re") moved = read(g, step.target, step.count);
    if (adds) add(moved, read(g, step.source, step.count));
    if (step.type == "s" || step.type == "cpy") moved = read(g, step.source, step.count);
    const bool keeps = step.type != "s" && step.type != "rrs" && step.type != "nop";
    if (keeps) std::copy(moved.begin(), moved.end(), begin(g, step.target));
    if (step.sends()) out.push_back(std::move(moved));
    return true;
  }

  Numbers::iterator begin(std::size_t g, collective::PieceRunStart place) {
    return gpus_[g].memory[static_cast<std::size_t>(place.buffer)].begin() +
           static_cast<std::ptrdiff_t>(place.piece);
  }

  Numbers read(std::size_t g, collective::PieceRunStart place, std::int32_t count) {
    return {begin(g, place), begin(g, place) + count};
  }

  static void add(Numbers& numbers, const Numbers& others) {
    std::transform(numbers.begin(), numbers.end(), others.begin(), numbers.begin(), std::plus<>());
  }

  const MscclFile& file_;
  std::size_t slots_;
  std::vector<Gpu> gpus_;
  std::map<Connection, std::deque<Numbers>> messages_;
};

}  // namespace

Pieces run_msccl(const MscclFile& file, const Pieces& inputs, std::uint32_t seed,
                 std::size_t slots) {
  return MscclRun(file, inputs, slots).run(seed);
}

}  // namespace stepwright::collective_files
