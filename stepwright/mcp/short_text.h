#pragma once

#include <string>

namespace stepwright::mcp {

/// Returns an answer, a JSON text, as JSON of about 3,000 characters at most.
///
/// Lists keep their first entries and say how many more there are, mappings far inside become the
/// number of their keys. Texts and numbers stay as they are, so one long text can exceed the
/// length.
std::string short_text(const std::string& answer);

}  // namespace stepwright::mcp
