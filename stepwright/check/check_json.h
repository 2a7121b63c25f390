#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/check/check.h"

namespace stepwright::check {

/// The document of `check --json`; keys as in docs/formats.md, "Check".
nlohmann::ordered_json check_json(const JobCheck& check, const std::string& fault);

}  // namespace stepwright::check
