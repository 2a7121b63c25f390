// Tables that `stepwright sample` writes can be read by `stepwright fit`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/folder.h"

namespace stepwright::testing {
namespace {

/// Runs a command without output; returns its exit code.
int run_quietly(const std::string& arguments) {
  const std::string command = fmt::format("OMP_NUM_THREADS=1 {} {} >/dev/null 2>&1",
                                          std::getenv("STEPWRIGHT_COMMAND"), arguments);
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Sampled, OverlapIsFittedToContention) {
  const Folder folder;
  const std::string table = folder / "overlap.csv";
  const std::string profile = folder / "overlap.json";
  ASSERT_EQ(run_quietly("sample overlap --ranks 2 -o " + table), 0);
  std::set<std::string> pairs;
  std::size_t rows = 0;
  std::ifstream lines(table);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    // link, operation, computation and payload come before three times
    std::size_t end = line.size();
    for (int i = 0; i < 3; ++i) end = line.rfind(',', end - 1);
    EXPECT_TRUE(line.starts_with("inside,")) << line;
    pairs.insert(line.substr(0, end));
    ++rows;
  }
  EXPECT_EQ(pairs.size(), 2U * 3 * 3);  // computations, operations, payloads
  EXPECT_EQ(rows, 3 * pairs.size());
  ASSERT_EQ(run_quietly("fit " + table + " -o " + profile), 0);
  const auto fitted = nlohmann::json::parse(std::ifstream(profile));
  EXPECT_GE(fitted["overlap"]["beside_inside"].get<double>(), 1);
  EXPECT_LE(fitted["overlap"]["beside_inside"].get<double>(), 100);
  EXPECT_FALSE(fitted["overlap"].contains("beside_network"));
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Sampled, MessagesOfAPlanAreAskedForAndNoOthers) {
  const Folder folder;
  const std::string plan = folder / "plan.yaml";
  const std::string table = folder / "asked.csv";
  std::ofstream(plan) << "stepwright: plan/1\n"
                         "job:\n"
                         "  model: {layers: 2, hidden: 64, heads: 4, ffn: 128, vocab: 64}\n"
                         "  cluster: {name: here, device: {name: core, memory: 4e9,\n"
                         "    memory_bandwidth: 10e9, peak: {fp32: 50e9, bf16: 50e9}},\n"
                         "    devices: 2, devices_per_node: 2,\n"
                         "    levels: [{name: loopback, size: 2, bandwidth: 1e9}]}\n"
                         "  batch: {sequences: 4, length: 32}\n"
                         "  precision: fp32\n"
                         "parallel: {pipeline: 2}\n"
                         "micro_batch: 2\n";
  ASSERT_EQ(run_quietly(fmt::format("sample collectives --ranks 2 --plan {} -o {}", plan, table)),
            0);
  const auto rows = lines_of(table);
  // Bytes that a stage sends on: 2 sequences of 32 rows of 64 numbers of 4 bytes.
  EXPECT_TRUE(std::ranges::any_of(rows, [](const std::string& row) {
    return row.starts_with("gloo,send_recv,1,2,1,16384,0,");
  }));
  EXPECT_LT(rows.size(), 8U);
  const std::string asked = fmt::format("sample collectives --ranks 2 -o {} --message ", table);
  ASSERT_EQ(run_quietly(asked + "gloo:all_gather:1x2:4096 --message gloo:all_reduce:1x2:8192"), 0);
  const auto both = lines_of(table);
  ASSERT_EQ(both.size(), 3U);
  EXPECT_TRUE(both[1].starts_with("gloo,all_gather,1,2,1,4096,0,")) << both[1];
  EXPECT_TRUE(both[2].starts_with("gloo,all_reduce,1,2,1,8192,0,")) << both[2];
  for (const char* wrong :
       {"gloo:all_gather:1x2", "nccl:all_gather:1x2:4096", "gloo:gossip:1x2:4096",
        "gloo:all_gather:1x1:4096", "gloo:all_gather:2:4096", "gloo:all_gather:1x2:0",
        "gloo:all_gather:1x2:many", "ho-ring:all_to_all:1x2:4096", "gloo:all_gather:1x3:4096",
        "gloo:all_gather:1x2:4096 --world"}) {
    EXPECT_EQ(run_quietly(asked + wrong), 2) << wrong;
  }
  EXPECT_EQ(run_quietly(fmt::format("sample operators -o {} --plan {}", table, plan)), 2);
}

}  // namespace
}  // namespace stepwright::testing
