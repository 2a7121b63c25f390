#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/lab/spec.h"
#include "tests/plan/refusal.h"

namespace stepwright::lab {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kLab =
    "stepwright: lab/1\n"
    "nodes: 4\n"
    "ranks_per_node: 2\n"
    "nic: {rate: 400 Mbit/s}\n"
    "inside: {rate: 1.6 Gbit/s}\n";

EmulatedClusterSpec read(const YamlJsonDocument& document) {
  return read_emulated_cluster(document.root());
}

/// Returns `kLab` with one value changed.
EmulatedClusterSpec with(std::string_view path, std::string_view value) {
  return read(YamlJsonDocument::parse(kLab, "lab.yaml").copy_with_replaced_scalar(path, value));
}

std::string refused(std::string_view path, std::string_view value) {
  return plan::refusal_of(ErrorKind::kInput, [&] { static_cast<void>(with(path, value)); });
}

TEST(ReadLab, TakesRatesInBitsPerSecond) {
  const EmulatedClusterSpec lab = read(YamlJsonDocument::parse(kLab, "lab.yaml"));
  EXPECT_EQ(lab.name, "lab-4x2");
  EXPECT_EQ(lab.ranks(), 8);
  EXPECT_EQ(lab.nics_per_node(), 1);
  EXPECT_EQ(lab.nic.rate_bytes_per_s, 50e6);
  EXPECT_EQ(lab.inside.rate_bytes_per_s, 200e6);
  EXPECT_EQ(lab.device.name, "a100-sxm-80g");
  EXPECT_EQ(lab.emulated_link_capacity_bytes_per_s(), 4 * 50e6 + 4 * 200e6);
}

TEST(ReadLab, TakesRatesInBytesPerSecond) {
  EXPECT_EQ(with("nic.rate", "50e6").nic.rate_bytes_per_s, 50e6);
  EXPECT_EQ(with("nic.rate", "50 MB/s").nic.rate_bytes_per_s, 50e6);
  EXPECT_EQ(with("nic.rate", "50000000 B/s").nic.rate_bytes_per_s, 50e6);
  EXPECT_EQ(with("nic.rate", "4e8 bit/s").nic.rate_bytes_per_s, 50e6);
  EXPECT_EQ(with("nic.rate", "0.05 GB/s").nic.rate_bytes_per_s, 50e6);
}

TEST(ReadLab, GivesEveryRankItsNic) {
  const EmulatedClusterSpec lab = with("nic.per", "rank");
  EXPECT_EQ(lab.nics_per_node(), 2);
  EXPECT_EQ(lab.emulated_link_capacity_bytes_per_s(), 8 * 50e6 + 4 * 200e6);
}

TEST(ReadLab, ChoosesPacketsAndBurstsForTheRate) {
  EXPECT_EQ(rate_limited_link(50e6).packet_bytes, 9000);
  EXPECT_EQ(rate_limited_link(50e6).burst_bytes, 9014 + 5000);
  EXPECT_EQ(rate_limited_link(400e6).packet_bytes, 20000);
  EXPECT_EQ(rate_limited_link(400e6).burst_bytes, 20014 + 40000);
  EXPECT_EQ(rate_limited_link(12.5e9).packet_bytes, 65000);
  EXPECT_EQ(with("nic.burst", "64e3").nic.burst_bytes, 64000);
}

TEST(ReadLab, TakesNameAndDevice) {
  EXPECT_EQ(with("name", "mine").name, "mine");
  EXPECT_EQ(with("device", "h100-sxm-80g").device.name, "h100-sxm-80g");
}

TEST(ReadLab, RefusesUnknownKeysNamingTheNearest) {
  EXPECT_THAT(refused("node", "4"), HasSubstr("unknown key 'node'; did you mean 'nodes'?"));
  EXPECT_THAT(refused("nic.rats", "4"), HasSubstr("did you mean 'rate'?"));
  EXPECT_THAT(refused("inside.per", "rank"), HasSubstr("unknown key 'per'"));
  EXPECT_THAT(refused("device", "a100-sxm-80"), HasSubstr("did you mean 'a100-sxm-80g'?"));
  EXPECT_THAT(refused("nic.per", "ranks"), HasSubstr("did you mean 'rank'?"));
}

TEST(ReadLab, RefusesAnotherFormat) {
  EXPECT_THAT(refused("stepwright", "lab/2"), HasSubstr("must be lab/1 here; it is 'lab/2'"));
}

TEST(ReadLab, RefusesRatesThatAreNone) {
  for (const std::string_view rate :
       {"fast", "400 Mbits", "Mbit/s", "\"50e6\"", "1e999 Mbit/s", "nan Mbit/s", "''"}) {
    EXPECT_THAT(refused("nic.rate", rate),
                HasSubstr("nic.rate: must be a number of bytes/s, or one with a unit"))
        << rate;
  }
}

TEST(ReadLab, RefusesRatesThatCannotBeEmulated) {
  for (const std::string_view rate : {"-1 Mbit/s", "0 Mbit/s", "1 bit/s", "101 Gbit/s"}) {
    EXPECT_THAT(refused("nic.rate", rate),
                HasSubstr("nic.rate: must be from 125000 to 12500000000 bytes/s"))
        << rate;
  }
  EXPECT_THAT(refused("nic.rate", "0"),
              HasSubstr("nic.rate: must be a number from 125000 to 12500000000"));
}

TEST(ReadLab, RefusesNumbersOutOfRange) {
  for (const std::string_view value : {"0", "65", "-1", "1.5", "four"}) {
    EXPECT_THAT(refused("nodes", value), HasSubstr("nodes: must be an integer from 1 to 64"));
    EXPECT_THAT(refused("ranks_per_node", value), HasSubstr("ranks_per_node: must be an integer"));
  }
  EXPECT_THAT(refused("nic.burst", "9013"), HasSubstr("must be a number from 9014"));
}

TEST(ReadLab, NamesWhatIsMissing) {
  for (const std::string key : {"nodes", "ranks_per_node", "nic", "inside"}) {
    std::string text(kLab);
    const std::size_t begin = text.find("\n" + key + ":") + 1;
    text.erase(begin, text.find('\n', begin) + 1 - begin);
    EXPECT_THAT(plan::refusal_of(ErrorKind::kInput,
                                 [&] { read(YamlJsonDocument::parse(text, "lab.yaml")); }),
                HasSubstr("the key '" + key + "' is missing"));
  }
}

TEST(ReadLab, SaysThatALatencyCannotBeEmulated) {
  for (const std::string_view path : {"nic.latency", "inside.latency"}) {
    EXPECT_THAT(plan::refusal_of(ErrorKind::kUnsupported, [&] { with(path, "1e-3"); }),
                HasSubstr("latency: a latency cannot be emulated"));
  }
}

}  // namespace
}  // namespace stepwright::lab
