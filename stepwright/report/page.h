#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stepwright::report {

/// Returns a self-contained HTML page that draws `content` (docs/formats.md, "Report") with the
/// scripts of `web/`. The content is embedded as data and never as markup: every `<` in it is
/// escaped.
std::string report_page(const nlohmann::ordered_json& content);

/// Returns the page without content, as `web/` builds it.
std::string_view empty_report_page();

}  // namespace stepwright::report
