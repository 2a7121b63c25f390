#include "stepwright/lab/namespaces.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "stepwright/core/input_file.h"
#include "stepwright/lab/missing.h"
#include "stepwright/lab/owner.h"
#include "stepwright/lab/tool.h"
#include "stepwright/lab/topology.h"

namespace stepwright::lab {
namespace {

/// Returns the path at which `ip netns` keeps a name.
std::filesystem::path path_of(const std::string& name) {
  return std::filesystem::path("/run/netns") / name;
}

/// Returns the first lab name of this process that is not in use.
std::string free_lab_name() {
  const ProcessIdentity owner = find_process_identity(::getpid()).value();
  int number = 0;
  while (path_exists(path_of(switch_namespace(emulated_cluster_name(owner, number))))) ++number;
  return emulated_cluster_name(owner, number);
}

void remove_namespace(const std::string& name) {
  if (!path_exists(path_of(name))) return;
  static_cast<void>(run_program_for_error_text({"ip", "netns", "del", name}));
}

}  // namespace

NodeNamespaces::NodeNamespaces(const EmulatedClusterSpec& spec)
    : lab_(free_lab_name()), names_(cluster_namespace_names(spec, lab_)) {
  try {
    run_emulation_commands(namespace_network_commands(spec, lab_));
  } catch (...) {
    remove_all();
    throw;
  }
}

NodeNamespaces::~NodeNamespaces() { remove_all(); }

void NodeNamespaces::remove_all() const {
  for (const std::string& name : names_) remove_namespace(name);
}

std::vector<std::string> remove_abandoned_network_namespaces() {
  std::vector<std::string> left;
  std::error_code none_yet;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(""), none_yet)) {
    const std::string name = entry.path().filename().string();
    const std::optional<ProcessIdentity> owner = network_namespace_owner(name);
    if (owner && find_process_identity(owner->pid) != owner) left.push_back(name);
  }
  std::ranges::sort(left);
  for (const std::string& name : left) remove_namespace(name);
  return left;
}

}  // namespace stepwright::lab
