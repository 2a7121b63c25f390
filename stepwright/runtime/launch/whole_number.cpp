#include "stepwright/runtime/launch/whole_number.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>

#include "stepwright/core/utf8.h"

namespace stepwright::runtime {

CLI::Validator whole_number() {
  const auto fault = [](const std::string& given) -> std::string {
    std::uint64_t number = 0;
    const char* end = given.data() + given.size();
    const auto [read, error] = std::from_chars(given.data(), end, number);
    if (error == std::errc() && read == end) return "";
    return fmt::format("must be a whole number from 0 to {}; it is '{}'",
                       std::numeric_limits<std::uint64_t>::max(), printable(given));
  };
  return {fault, ""};
}

}  // namespace stepwright::runtime
