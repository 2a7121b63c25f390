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

TEST(Constants, DevicesBelongToTheGenerationOfTheirPeak) {
  EXPECT_EQ(device_defaults(with_peak(125e12)).generation, "V100");
  EXPECT_EQ(device_defaults(with_peak(312e12)).generation, "A100");
  EXPECT_EQ(device_defaults(with_peak(756e12)).generation, "H100");
  EXPECT_EQ(device_defaults(with_peak(989.4e12)).generation, "H100");
  EXPECT_EQ(device_defaults(with_peak(2500e12)).generation, "B200");
}

TEST(Constants, AnyOtherDeviceIsPricedByTheGenericOnes) {
  EXPECT_EQ(device_defaults(with_peak(1307e12)).generation, "other device");
  EXPECT_EQ(device_defaults(with_peak(149.7e12)).generation, "other device");
  EXPECT_EQ(device_defaults(other_job().cluster.device).generation, "other device");
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
