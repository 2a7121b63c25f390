#pragma once

#include <string>

#include "stepwright/diagnose/diagnosis.h"

namespace stepwright::cli {

/// Returns a diagnosis as text for people: the findings with their evidence, causes and changes,
/// then a line for each file.
std::string diagnosis_text(const diagnose::Diagnosis& diagnosis);

}  // namespace stepwright::cli
