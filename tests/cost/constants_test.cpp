#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "stepwright/cost/cost_model.h"
#include "stepwright/cost/device_defaults.h"
#include "tests/cost/jobs.h"

namespace stepwright {
namespace {

Device with_peak(double flops) { return {.name = "device", .peak_flops = {{DType::kFp16, flops}}}; }

TEST(Constants, AreAllInTheDocument) {
  std::ostringstream text;
  text << std::ifstream("docs/models.md").rdbuf();
  const std::string document = text.str();
  for (const double peak : {125e12, 312e12, 989e12, 2250e12, 50e12}) {
    Job job = a100_job();
    job.cluster.device = with_peak(peak);
    job.cluster.device.memory_bandwidth_bytes_per_s = 1e12;
    const auto messages = listed(CollectiveCost(job.cluster).constants());
    for (const std::string& line : CostModel(job).constants()) {
      if (std::ranges::find(messages, line) != messages.end()) continue;
      EXPECT_NE(document.find("- " + line + "\n"), std::string::npos) << "- " << line;
    }
  }
}

TEST(Constants, ADeviceHasThoseOfTheGenerationThatItStates) {
  Device device = with_peak(312e12);
  device.generation = Generation::kB200;
  EXPECT_EQ(device_defaults(device).generation, Generation::kB200);
  device.generation = Generation::kOther;
  EXPECT_EQ(device_defaults(device).generation, Generation::kOther);
}

TEST(Constants, ADeviceThatStatesNoGenerationHasThoseOfItsPeak) {
  EXPECT_EQ(device_defaults(with_peak(125e12)).generation, Generation::kV100);
  EXPECT_EQ(device_defaults(with_peak(312e12)).generation, Generation::kA100);
  EXPECT_EQ(device_defaults(with_peak(756e12)).generation, Generation::kH100);
  EXPECT_EQ(device_defaults(with_peak(989.4e12)).generation, Generation::kH100);
  EXPECT_EQ(device_defaults(with_peak(2500e12)).generation, Generation::kB200);
  EXPECT_EQ(device_defaults(with_peak(1307e12)).generation, Generation::kOther);
  EXPECT_EQ(device_defaults(other_job().cluster.device).generation, Generation::kOther);
  EXPECT_EQ(sixteen_bit_flops(other_job().cluster.device), 10e12);
}

TEST(Constants, SharesAreShares) {
  for (const double peak : {125e12, 312e12, 989e12, 2250e12, 50e12}) {
    const DeviceDefaults& defaults = device_defaults(with_peak(peak));
    for (const double share :
         {defaults.matrix_share, defaults.flash1_share, defaults.flash2_share,
          defaults.flash3_share, defaults.cudnn_share, defaults.network_share}) {
      EXPECT_GT(share, 0);
      EXPECT_LT(share, 1);
    }
  }
}

}  // namespace
}  // namespace stepwright
