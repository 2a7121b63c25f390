#pragma once

#include <string>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns the full dotted path in a plan file of a field that the user sets by `--set` (`job.` may
/// be left out). Fails with `kInput` for an unknown field, with the nearest known one, and for a
/// field that no result depends on (`search`, `cluster.source`, `imbalance` of a dense model).
/// `name` starts the message.
std::string full_path_of_settable_field(std::string_view field, const Job& job,
                                        const std::string& name);

/// True if setting the field `path` replaces the value that an earlier setting of the field
/// `earlier` (the same or another one) has given.
bool overrides_earlier_setting(std::string_view path, std::string_view earlier);

/// True if a plan file that states no `job.kernels` gets other kernels when the field changes: the
/// framework, the cluster and its device.
bool decides_default_kernels(std::string_view path);

}  // namespace stepwright::plan
