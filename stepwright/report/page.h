#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stepwright::report {

/// Returns a self-contained HTML page that shows the JSON document `content` (docs/formats.md,
/// "Report") by the scripts of `web/`. Text in it cannot act as markup: every `<` is escaped.
std::string self_contained_report_page(const nlohmann::ordered_json& content);

/// Returns the HTML page of reports without any content.
std::string_view empty_report_page();

}  // namespace stepwright::report
