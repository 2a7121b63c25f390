#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stepwright::answers {

/// Returns the HTML page that a command's `--report` writes: a title, the document of `--json`, and
/// further data for charts (docs/formats.md, "Report").
std::string command_report_page(std::string_view command, std::string_view title,
                                const nlohmann::ordered_json& answer,
                                const nlohmann::ordered_json& pictures);

}  // namespace stepwright::answers
