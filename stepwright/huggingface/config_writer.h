#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/huggingface/families.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// Returns the `config.json` of a model in a family, as `read_config` and transformers 4 and 5 read
/// it. Properties that the family's format cannot express are left out.
nlohmann::ordered_json family_config(const model::Architecture& model, const Family& family);

/// Returns the first family whose `config.json` expresses the whole model, as reading it back
/// shows. Fails with `kUnsupported` if there is none, with the nearest family and what that one
/// cannot express.
const Family& family_of(const model::Architecture& model);

}  // namespace stepwright::huggingface
