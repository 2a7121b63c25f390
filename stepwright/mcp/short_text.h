#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::mcp {

/// Returns an answer as a JSON text of about 3,000 characters at most.
///
/// Lists keep their first entries and say how many more there are, mappings far inside become the
/// number of their keys. Texts and numbers stay as they are, so one long text can exceed the
/// length.
std::string short_text(const nlohmann::ordered_json& answer);

}  // namespace stepwright::mcp
