#include "stepwright/answers/output_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "stepwright/core/error.h"
#include "stepwright/core/output_path.h"
#include "stepwright/core/utf8.h"

namespace stepwright::answers {
std::string json_text(const nlohmann::ordered_json& json) {
  constexpr int kIndent = 2;
  return plain_text(
             json.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         '\n';
}

void check_output(const std::string& output, const std::string& input) {
  check_writable(output);
  std::error_code error;
  if (output_target(output).is_plain && std::filesystem::equivalent(output, input, error) &&
      !error) {
    fail_input(fmt::format("{}: is the input; give the output another name", output));
  }
}

}  // namespace stepwright::answers
