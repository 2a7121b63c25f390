#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::mcp {

/// Returns a JSON answer as text for an AI agent, shortened to about 3,000 characters.
///
/// Long lists are cut after their first entries, followed by the number of the rest; deeply nested
/// mappings are replaced by the number of their keys. Texts and numbers are never shortened, so one
/// long text can exceed the length.
std::string json_answer_for_ai_agent(const nlohmann::ordered_json& answer);

}  // namespace stepwright::mcp
