#include "stepwright/cli/parse_error_text.h"

#include <fmt/format.h>

#include <regex>

namespace stepwright::cli {
namespace {

/// Removes zeros at the end of a number: "0.001" for "0.001000".
std::string without_zeros(const std::string& number) {
  return std::regex_replace(number, std::regex(R"(\.0+$|(\.\d*[1-9])0+$)"), "$1");
}

}  // namespace

std::string argument_error_text(const std::string& message) {
  std::smatch parts;
  if (std::regex_match(message, parts, std::regex("(.+): Value (.*) not in range (.+) to (.+)"))) {
    return fmt::format("{}: must be a number from {} to {}; it is '{}'", parts[1].str(),
                       without_zeros(parts[3]), without_zeros(parts[4]), parts[2].str());
  }
  if (std::regex_match(message, parts, std::regex("Could not convert: (.+) = (.*)"))) {
    return fmt::format("{}: must be a number; it is '{}'", parts[1].str(), parts[2].str());
  }
  const std::regex twice("(.+): At Most 1 required but received ([0-9]+)");
  if (std::regex_match(message, parts, twice)) {
    return fmt::format("{}: is given {} times; one is allowed", parts[1].str(), parts[2].str());
  }
  if (std::regex_match(message, parts, std::regex("(.+): [0-9]+ required .* missing"))) {
    return fmt::format("{}: needs a value", parts[1].str());
  }
  return message;
}

}  // namespace stepwright::cli
