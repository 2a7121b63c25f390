#include "stepwright/answers/output_file.h"

#include <nlohmann/json.hpp>

#include "stepwright/core/utf8.h"

namespace stepwright::answers {
std::string indented_json_text(const nlohmann::ordered_json& json) {
  constexpr int kIndent = 2;
  return terminal_safe_text(
             json.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         '\n';
}

}  // namespace stepwright::answers
