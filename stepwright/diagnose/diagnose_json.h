#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/diagnose/diagnosis.h"

namespace stepwright::diagnose {

/// Returns the JSON document that `stepwright diagnose --json` prints (docs/formats.md).
nlohmann::ordered_json diagnosis_json(const Diagnosis& diagnosis);

}  // namespace stepwright::diagnose
