#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "stepwright/answers/output_file.h"
#include "stepwright/core/output_file.h"

namespace stepwright::cli {

/// Writes a JSON document with indentation, followed by a line end.
void print_json(std::ostream& out, const nlohmann::ordered_json& json);

}  // namespace stepwright::cli
