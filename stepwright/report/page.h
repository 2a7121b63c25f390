#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stepwright::report {

/// A page of HTML that stands alone and draws `content` (docs/formats.md, "Report") with the
/// scripts of `web/`. What the content holds is data to it, never markup: every `<` of it is
/// escaped.
std::string report_page(const nlohmann::ordered_json& content);

/// The page without content, as `web/` builds it.
std::string_view empty_report_page();

}  // namespace stepwright::report
