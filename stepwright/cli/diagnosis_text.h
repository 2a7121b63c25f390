#pragma once

#include <string>

#include "stepwright/diagnose/diagnosis.h"

namespace stepwright::cli {

/// Returns the text of `stepwright diagnose`: the findings with their evidence, causes and changes,
/// then a line for each file.
std::string diagnosis_text(const diagnose::Diagnosis& diagnosis);

}  // namespace stepwright::cli
