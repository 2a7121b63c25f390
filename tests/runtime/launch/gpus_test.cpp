#include "stepwright/runtime/launch/gpus.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>

#include "tests/folder.h"

namespace stepwright::runtime {
namespace {

namespace fs = std::filesystem;

/// Provides the folder that a GPU driver fills, while this object lives.
class Driver {
 public:
  void add(const std::string& address, const std::string& information) const {
    fs::create_directories(folder_ / "gpus" / address);
    std::ofstream(folder_ / "gpus" / address / "information") << information;
  }
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }

 private:
  Folder folder_;
};

TEST(Gpus, AreNamedByTheirDriverInOrderOfTheirAddress) {
  const Driver driver;
  driver.add("0000:8b:00.0", "Model: \t\t NVIDIA H200\nIRQ: 5\n");
  driver.add("0000:1a:00.0", "IRQ: 4\nModel: \t\t NVIDIA H100 80GB HBM3\n");
  EXPECT_THAT(nvidia_gpu_names(driver.path()),
              testing::ElementsAre("NVIDIA H100 80GB HBM3", "NVIDIA H200"));
}

TEST(Gpus, WithoutANameStillCount) {
  const Driver driver;
  driver.add("0000:1a:00.0", "IRQ: 4\n");
  EXPECT_EQ(nvidia_gpu_names(driver.path()).size(), 1);
}

TEST(Gpus, AreNoneWithoutADriver) {
  EXPECT_THAT(nvidia_gpu_names("/nowhere/at/all"), testing::IsEmpty());
}

}  // namespace
}  // namespace stepwright::runtime
