#include "stepwright/lab/missing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "stepwright/core/error.h"
#include "stepwright/lab/owner.h"
#include "stepwright/lab/tool.h"
#include "stepwright/lab/warden.h"

namespace stepwright::lab {
namespace {

/// A feature of the kernel, and a command that fails without it.
struct Feature {
  const char* name;
  CommandLine attempt;
};

constexpr const char* kNetworkRemedy =
    "use a kernel with it (modprobe bridge veth sch_tbf); a container needs `docker run "
    "--privileged`";

std::vector<MissingRequirement> missing_network_features() {
  const std::string scratch =
      emulated_cluster_name(find_process_identity(::getpid()).value(), 0) + "-probe";
  const Feature features[] = {
      {"network namespaces", {"ip", "netns", "add", scratch}},
      {"bridges", {"ip", "-n", scratch, "link", "add", "rail0", "type", "bridge"}},
      {"veth links", {"ip", "-n", scratch, "link", "add", "nic0", "type", "veth"}},
      {"the token bucket filter of tc (sch_tbf)",
       traffic_control_command(scratch, "lo", rate_limited_link(1e6))}};
  std::vector<MissingRequirement> missing;
  for (const Feature& feature : features) {
    const auto complaint = run_program_for_error_text(feature.attempt);
    if (!complaint) continue;
    missing.push_back({fmt::format("{} ({})", feature.name, *complaint), kNetworkRemedy});
    // the commands of the others need the first feature
    if (&feature == &features[0]) return missing;
  }
  static_cast<void>(run_program_for_error_text({"ip", "netns", "del", scratch}));
  return missing;
}

}  // namespace

std::vector<MissingRequirement> missing_for_emulation() {
  std::vector<MissingRequirement> missing;
  if (::geteuid() != 0) {
    missing.push_back({"root, the only user who may create networks", "run it with sudo"});
  }
  for (const char* program : {"ip", "tc"}) {
    if (const auto complaint = run_program_for_error_text({program, "-V"})) {
      missing.push_back(
          {fmt::format("the program {} of the package iproute2 ({})", program, *complaint),
           "install it (apt-get install iproute2); it lies in /usr/sbin, which PATH must name"});
    }
  }
  if (!missing.empty()) return missing;
  missing = missing_network_features();
  try {
    const NamespaceWarden warden;
  } catch (const Error& error) {
    missing.push_back({fmt::format("process namespaces ({})", error.what()),
                       "run it where `unshare --pid --fork true` works; a container "
                       "needs `docker run --privileged`"});
  }
  return missing;
}

void run_emulation_commands(std::span<const CommandLine> commands) {
  try {
    run_system_programs(commands);
  } catch (const Error&) {
    std::string words;
    for (const MissingRequirement& lack : missing_for_emulation())
      words += (words.empty() ? "" : "; ") + lack.what;
    if (words.empty()) throw;
    fail_unsupported(fmt::format("this machine lacks what a lab needs: {}", words));
  }
}

}  // namespace stepwright::lab
