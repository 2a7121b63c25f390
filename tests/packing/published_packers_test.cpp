#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/packing/packs.h"

namespace stepwright::packing {
namespace {

using Lengths = std::vector<std::int64_t>;
using Bins = std::vector<Documents>;

std::int64_t filled(const Documents& bin) {
  return std::accumulate(bin.begin(), bin.end(), std::int64_t{0});
}

Lengths longest_first(Lengths lengths) {
  std::ranges::sort(lengths, std::greater{});
  return lengths;
}

/// The packer pack_group of axolotl-ai-cloud/axolotl src/axolotl/utils/samplers/multipack.py, for
/// as many samples as are packed at a time; it does not sort them.
Bins pack_group(const Lengths& lengths, std::int64_t capacity, std::size_t most) {
  std::vector<std::int64_t> left;
  Bins bins;
  for (const std::int64_t size : lengths) {
    std::size_t bin = 0;
    while (bin < bins.size() && (left[bin] < size || bins[bin].size() >= most)) ++bin;
    if (bin == bins.size()) {
      bins.emplace_back();
      left.push_back(capacity);
    }
    bins[bin].push_back(size);
    left[bin] -= size;
  }
  return bins;
}

/// The packer _pack_bfd of huggingface/trl trl/data_utils.py: each document goes to the fullest bin
/// that has room.
Bins best_fit(const Lengths& lengths, std::int64_t capacity) {
  std::multiset<std::pair<std::int64_t, std::size_t>> spaces;
  Bins bins;
  for (const std::int64_t size : longest_first(lengths)) {
    auto found = spaces.lower_bound({size, 0});
    std::pair<std::int64_t, std::size_t> space{capacity, bins.size()};
    if (found == spaces.end()) {
      bins.emplace_back();
    } else {
      space = *found;
      spaces.erase(found);
    }
    bins[space.second].push_back(size);
    spaces.insert({space.first - size, space.second});
  }
  return bins;
}

/// The packer greedy_knapsack of LLaMA-Factory (hiyouga/LLaMA-Factory
/// src/llamafactory/data/processor/processor_utils.py).
Bins greedy_knapsack(const Lengths& lengths, std::int64_t capacity) {
  std::multiset<std::int64_t> numbers(lengths.begin(), lengths.end());
  Bins bins;
  while (!numbers.empty()) {
    bins.emplace_back();
    std::int64_t left = capacity;
    for (auto past = numbers.upper_bound(left); past != numbers.begin();
         past = numbers.upper_bound(left)) {
      const auto fit = std::prev(past);
      left -= *fit;
      bins.back().push_back(*fit);
      numbers.erase(fit);
    }
  }
  return bins;
}

/// The packer ModifiedFirstFitDecreasingPacker of NeMo-RL (NVIDIA-NeMo/RL
/// nemo_rl/data/packing/algorithms.py).
Bins modified_first_fit(const Lengths& lengths, std::int64_t capacity) {
  Lengths medium;
  Lengths small;
  Lengths tiny;
  Bins bins;
  for (const std::int64_t size : longest_first(lengths)) {
    if (2 * size > capacity) bins.push_back({size});
    if (2 * size > capacity) continue;
    (3 * size > capacity ? medium : 6 * size > capacity ? small : tiny).push_back(size);
  }
  const auto room = [&](const Documents& bin) { return capacity - filled(bin); };
  for (Documents& bin : bins) {
    const auto fit = std::ranges::find_if(medium, [&](auto size) { return size <= room(bin); });
    if (fit == medium.end()) continue;
    bin.push_back(*fit);
    medium.erase(fit);
  }
  // `small` descends: its end is the smallest.
  for (auto bin = bins.rbegin(); bin != bins.rend(); ++bin) {
    if (bin->size() > 1 || small.size() < 2) continue;
    if (small.back() + small[small.size() - 2] > room(*bin)) continue;
    bin->push_back(small.back());
    small.pop_back();
    const auto second = std::ranges::find_if(small, [&](auto size) { return size <= room(*bin); });
    bin->push_back(*second);
    small.erase(second);
  }
  Lengths rest = medium;
  rest.insert(rest.end(), small.begin(), small.end());
  rest.insert(rest.end(), tiny.begin(), tiny.end());
  for (Documents& bin : bins) {
    while (true) {
      const auto fit = std::ranges::find_if(rest, [&](auto size) { return size <= room(bin); });
      if (fit == rest.end()) break;
      bin.push_back(*fit);
      rest.erase(fit);
    }
  }
  // The rest goes into the emptiest bin if it has room.
  std::multiset<std::pair<std::int64_t, std::size_t>> fills;
  for (const std::int64_t size : rest) {
    std::pair<std::int64_t, std::size_t> fill{0, bins.size()};
    if (!fills.empty() && fills.begin()->first + size <= capacity) {
      fill = *fills.begin();
      fills.erase(fills.begin());
    } else {
      bins.emplace_back();
    }
    bins[fill.second].push_back(size);
    fills.insert({fill.first + size, fill.second});
  }
  return bins;
}

/// Packs one group of documents after the other; `carries`: the last bin of each group continues
/// into the next (modelscope/ms-swift swift/dataset/packing.py).
template <class Pack>
Bins in_groups(const Lengths& lengths, std::size_t group, bool carries, Pack pack) {
  Bins bins;
  Lengths open;
  for (std::size_t first = 0; first < lengths.size(); first += group) {
    const std::size_t end = std::min(first + group, lengths.size());
    open.insert(open.end(), lengths.begin() + static_cast<std::ptrdiff_t>(first),
                lengths.begin() + static_cast<std::ptrdiff_t>(end));
    Bins packed = pack(open);
    open.clear();
    if (carries && end < lengths.size()) {
      open = packed.back();
      packed.pop_back();
    }
    std::ranges::move(packed, std::back_inserter(bins));
  }
  return bins;
}

/// The packer of a published program, and the packing that represents it in a job.
struct PublishedPacker {
  const char* name;
  std::function<Bins(const Lengths&, std::int64_t)> pack;
  Packing packing;
};

const std::vector<PublishedPacker>& published_packers() {
  static const std::vector<PublishedPacker> known = {
      {"axolotl",
       [](const Lengths& all, std::int64_t room) {
         return in_groups(all, 100000, false,
                          [&](const Lengths& part) { return pack_group(part, room, 200); });
       },
       {.kind = PackingKind::kFirstFit, .order = PackingOrder::kAsTheyCome, .group = 100000}},
      {"NeMo, Megatron-Bridge",
       [](const Lengths& all, std::int64_t room) { return pack_group(all, room, all.size()); },
       {.kind = PackingKind::kFirstFit, .order = PackingOrder::kAsTheyCome}},
      {"TRL",
       [](const Lengths& all, std::int64_t room) {
         return in_groups(all, 1000, false,
                          [&](const Lengths& part) { return best_fit(part, room); });
       },
       {.kind = PackingKind::kFirstFit, .group = 1000}},
      {"LLaMA-Factory",
       [](const Lengths& all, std::int64_t room) {
         return in_groups(all, 1000, false,
                          [&](const Lengths& part) { return greedy_knapsack(part, room); });
       },
       {.kind = PackingKind::kFirstFit, .group = 1000}},
      {"ms-swift",
       [](const Lengths& all, std::int64_t room) {
         return in_groups(all, 1000, true,
                          [&](const Lengths& part) { return best_fit(part, room); });
       },
       {.kind = PackingKind::kFirstFit}},
      {"NeMo-RL",
       [](const Lengths& all, std::int64_t room) {
         return in_groups(all, 512, false,
                          [&](const Lengths& part) { return modified_first_fit(part, room); });
       },
       {.kind = PackingKind::kFirstFit, .group = 512}},
  };
  return known;
}

/// Lengths of documents, and of the sequences into which they are packed.
struct PackedData {
  double median;
  double sigma;
  std::int64_t room;
};
constexpr PackedData kPackedData[] = {{700, 1.0, 2048},  {700, 0.8, 4096},  {900, 0.57, 4096},
                                      {1500, 0.6, 4096}, {3250, 0.2, 4096}, {700, 1.0, 8192},
                                      {300, 1.2, 32768}};

/// Returns lengths drawn at random, as many as a data set may have.
Lengths drawn(const PackedData& data, std::size_t count) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> length(std::log(data.median), data.sigma);
  Lengths lengths;
  while (lengths.size() < count) {
    lengths.push_back(std::clamp<std::int64_t>(std::llround(length(random)), 1, data.room));
  }
  return lengths;
}

/// Percent of the token slots that documents fill, by the program's packer and by the job's
/// packing.
struct Efficiencies {
  double program;
  double predicted;
};

Efficiencies efficiencies(const PublishedPacker& packer, const PackedData& data) {
  const Lengths lengths = drawn(data, 40000);
  const Bins bins = packer.pack(lengths, data.room);
  const auto slots = static_cast<double>(bins.size()) * static_cast<double>(data.room);
  const auto tokens = static_cast<double>(filled(lengths));
  LengthHistogram histogram;
  for (const std::int64_t length : lengths) histogram.push_back({length, 1});
  const PackingStatistics packs = packed_sequence_statistics(
      merge_equal_lengths(std::move(histogram)), packer.packing, data.room);
  return {100 * tokens / slots, 100 * packs.tokens.mean / static_cast<double>(data.room)};
}

/// Returns the efficiencies of each program on each data set.
const std::vector<std::vector<Efficiencies>>& all_efficiencies() {
  static const std::vector<std::vector<Efficiencies>> known = [] {
    std::vector<std::vector<Efficiencies>> all;
    for (const PublishedPacker& packer : published_packers()) {
      all.emplace_back();
      for (const PackedData& data : kPackedData) all.back().push_back(efficiencies(packer, data));
    }
    return all;
  }();
  return known;
}

/// Returns the table of data/packers.csv: efficiency and error of each program.
std::string table_of_packers() {
  std::string text = "median,sigma,sequence,program,percent,difference\n";
  for (std::size_t row = 0; row < std::size(kPackedData); ++row) {
    const PackedData& data = kPackedData[row];
    for (std::size_t i = 0; i < published_packers().size(); ++i) {
      const auto [program, predicted] = all_efficiencies()[i][row];
      const std::string& name = published_packers()[i].name;
      const bool quoted = name.find(',') != std::string::npos;
      text += fmt::format("{},{},{},{},{:.2f},{:+.2f}\n", data.median, data.sigma, data.room,
                          quoted ? '"' + name + '"' : name, program, predicted - program);
    }
  }
  return text;
}

TEST(PublishedPackers, FillSequencesAsTheirPackingSays) {
  for (std::size_t i = 0; i < published_packers().size(); ++i) {
    for (const auto& [program, predicted] : all_efficiencies()[i]) {
      EXPECT_NEAR(predicted, program, 0.3) << published_packers()[i].name;
    }
  }
}

TEST(PublishedPackers, StandInTheTable) {
  std::ifstream file("data/packers.csv");
  const std::string table{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(table, table_of_packers());
}

}  // namespace
}  // namespace stepwright::packing
