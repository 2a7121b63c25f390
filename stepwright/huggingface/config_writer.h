#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/huggingface/families.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// The `config.json` of a model in a family, as `read_config` and transformers 4 and 5 read it. It
/// may leave out what the family cannot say.
nlohmann::ordered_json family_config(const model::Architecture& model, const Family& family);

/// The first family whose `config.json` says everything of a model, which is checked by reading it
/// back. Fails with `kUnsupported`, naming the nearest family and what it cannot say.
const Family& family_of(const model::Architecture& model);

}  // namespace stepwright::huggingface
