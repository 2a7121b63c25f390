// A held run (`train --hold`) in a lab: real messages over rate-limited links between ranks of two
// nodes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "own_lab.h"
#include "tests/folder.h"

namespace stepwright::lab {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPlan =
    "stepwright: plan/1\njob:\n"
    "  model: {layers: 4, hidden: 256, heads: 4, ffn: 512, vocab: 1000}\n"
    "  cluster: {name: lab, device: {name: slow, memory: 16e9, memory_bandwidth: 1e9, "
    "peak: {bf16: 1e10, fp32: 1e10}}, nodes: 2, devices_per_node: 2, nics_per_node: 1, nic: 25e6, "
    "levels: [{name: bus, size: 2, bandwidth: 25e6}]}\n"
    "  batch: {sequences: 8, length: 128}\n"
    "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nmicro_batch: 2\n"
    "sharding: {states: NNG}\n";

TEST(HeldInALab, SendsWhatIsPredicted) {
  SKIP_WITHOUT_LAB();
  const Folder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  std::ofstream(file("plan.yaml")) << kPlan;
  const std::string command = std::filesystem::absolute(std::getenv("STEPWRIGHT_COMMAND")).string();
  const EmulatedCluster lab(small_lab(2, 2));
  const Ran ran = run_everywhere(
      lab, {command, "train", file("plan.yaml"), "--hold", "--scale", "10", "--steps", "2",
            "--metrics", file("metrics"), "--ledger", file("ledger.json")});
  ASSERT_EQ(ran.result.failure, "") << ran.err;
  const std::string compare = fmt::format("{} compare {} --log {} >{}", command, file("plan.yaml"),
                                          file("ledger.json"), file("out"));
  EXPECT_EQ(std::system(compare.c_str()), 0);
  std::ostringstream out;
  out << std::ifstream(file("out")).rdbuf();
  EXPECT_THAT(out.str(), HasSubstr("; the run differs in 0."));
}

}  // namespace
}  // namespace stepwright::lab
