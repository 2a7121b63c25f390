#include "stepwright/runtime/launch/room.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "tests/folder.h"

namespace stepwright::runtime {
namespace {

constexpr double kMiB = 1024.0 * 1024;

/// The files by which a machine describes itself.
class Machine {
 public:
  Machine& with(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  [[nodiscard]] std::optional<double> free() const { return free_memory_bytes(folder_.path()); }

 private:
  Folder folder_;
};

constexpr const char* kMemory =
    "MemTotal:  9000000 kB\nMemFree: 100 kB\nMemAvailable:  4096 kB\nSwapFree:  1024 kB\n";

TEST(FreeMemory, IsWhatTheKernelCallsAvailableAndSwap) {
  Machine machine;
  EXPECT_FALSE(machine.free()) << "a system that does not say";
  machine.with("proc/meminfo", kMemory);
  EXPECT_EQ(machine.free(), 5 * kMiB);
}

TEST(FreeMemory, IsBoundedByEachControlGroupAbove) {
  Machine machine;
  machine.with("proc/meminfo", kMemory).with("proc/self/cgroup", "0::/job.slice/step\n");
  const std::string own = "sys/fs/cgroup/job.slice/step/";
  machine.with(own + "memory.max", "max\n").with(own + "memory.current", "2097152\n");
  EXPECT_EQ(machine.free(), 5 * kMiB) << "no limit";
  machine.with("sys/fs/cgroup/job.slice/memory.max", "4194304\n")
      .with("sys/fs/cgroup/job.slice/memory.current", "3145728\n");
  EXPECT_EQ(machine.free(), 1 * kMiB);
  machine.with("sys/fs/cgroup/job.slice/memory.stat", "anon 1048576\nfile 2097152\n");
  EXPECT_EQ(machine.free(), 3 * kMiB) << "pages of files are given back";
  machine.with(own + "memory.max", "2097152\n");
  EXPECT_EQ(machine.free(), 0);
}

}  // namespace
}  // namespace stepwright::runtime
