// What `stepwright sample` writes is what `stepwright fit` reads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace stepwright::testing {
namespace {

/// The exit code of a command that is silent.
int run_quietly(const std::string& arguments) {
  const std::string command = fmt::format("OMP_NUM_THREADS=1 {} {} >/dev/null 2>&1",
                                          std::getenv("STEPWRIGHT_COMMAND"), arguments);
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Sampled, OverlapIsFittedToContention) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string table = folder / fmt::format("stepwright-overlap-{}.csv", ::getpid());
  const std::string profile = folder / fmt::format("stepwright-overlap-{}.json", ::getpid());
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
  std::filesystem::remove(table);
  std::filesystem::remove(profile);
}

}  // namespace
}  // namespace stepwright::testing
