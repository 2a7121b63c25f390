#include "own_lab.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "stepwright/lab/missing.h"
#include "stepwright/lab/owner.h"

namespace stepwright::lab {
namespace {

namespace fs = std::filesystem;

constexpr double kLongestRun = 300;

bool has_argument(const fs::path& process, const std::string& word) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str().find('\0' + word + '\0') != std::string::npos;
}

}  // namespace

std::string no_lab_here() {
  const std::vector<MissingRequirement> missing = missing_for_emulation();
  return missing.empty() ? "" : missing.front().what;
}

EmulatedClusterSpec small_lab(std::int64_t nodes, std::int64_t ranks_per_node, NicOwner owner) {
  return {.name = "small",
          .nodes = nodes,
          .ranks_per_node = ranks_per_node,
          .nic = rate_limited_link(25e6),
          .nic_of = owner,
          .inside = rate_limited_link(50e6)};
}

Ran run_everywhere(const EmulatedCluster& lab, const CommandLine& command) {
  std::ostringstream out;
  std::ostringstream err;
  const std::vector<CommandLine> commands(lab.spec().ranks(), command);
  Ran ran;
  ran.result =
      lab.run_programs_on_ranks(commands, {.out = out, .err = err, .timeout_s = kLongestRun});
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

Ran run_shell(const EmulatedCluster& lab, const std::string& line) {
  return run_everywhere(lab, {"sh", "-c", line});
}

std::vector<std::string> namespaces_made_by(pid_t process) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/run/netns", none)) {
    const std::string name = entry.path().filename().string();
    const auto owner = network_namespace_owner(name);
    if (owner && owner->pid == process) names.push_back(name);
  }
  return names;
}

std::string own_seconds(int whole) { return fmt::format("{}.{}", whole, ::getpid()); }

int processes_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (has_argument(entry.path(), word)) ++count;
  }
  return count;
}

bool soon(const std::function<bool()>& condition) {
  constexpr int kTries = 6000;
  for (int i = 0; i < kTries; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace stepwright::lab
