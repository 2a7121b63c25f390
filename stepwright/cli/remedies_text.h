#pragma once

#include <string>
#include <vector>

#include "stepwright/check/remedies.h"

namespace stepwright::cli {

/// The table of what lets a job fit, under a title; empty without remedies.
std::string remedies_table(const std::vector<check::SaidRemedy>& remedies);

}  // namespace stepwright::cli
