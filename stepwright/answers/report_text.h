#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stepwright::answers {

/// The page of `--report` of a command: its title, the answer as `--json` prints it, and what the
/// pictures need beside it (docs/formats.md, "Report").
std::string report_text(std::string_view command, std::string_view title,
                        const nlohmann::ordered_json& answer,
                        const nlohmann::ordered_json& pictures);

}  // namespace stepwright::answers
