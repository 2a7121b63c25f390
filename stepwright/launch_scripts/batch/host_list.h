#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// Returns the hosts of a list in Slurm's notation: "a[01-03,7],b" gives a01, a02, a03, a7, b. A
/// list with unbalanced brackets, or with more than eight pairs, is returned as one host. Returns
/// at most 100,000 hosts.
std::vector<std::string> expand_slurm_host_list(std::string_view list);

/// Returns made-up names for the hosts of an allocation: node001, node002, ...
std::vector<std::string> placeholder_host_names(std::int64_t nodes);

/// Returns the made-up host names of `nodes` nodes in Slurm's notation: "node001", "node[001-016]".
std::string placeholder_host_list(std::int64_t nodes);

}  // namespace stepwright::launch_scripts
