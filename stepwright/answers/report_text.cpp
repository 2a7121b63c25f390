#include "stepwright/answers/report_text.h"

#include <nlohmann/json.hpp>

#include "stepwright/report/page.h"

namespace stepwright::answers {

std::string command_report_page(std::string_view command, std::string_view title,
                                const nlohmann::ordered_json& answer,
                                const nlohmann::ordered_json& pictures) {
  return report::self_contained_report_page({{"stepwright", "report/1"},
                                             {"command", command},
                                             {"title", title},
                                             {"answer", answer},
                                             {"pictures", pictures}});
}

}  // namespace stepwright::answers
