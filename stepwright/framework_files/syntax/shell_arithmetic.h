#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepwright {

/// The value of whole numbers joined by + - * / % and parentheses, as between `$((` and `))`;
/// nothing for any other text, and where a number leaves 64 bits or divides by less than one.
std::optional<std::int64_t> arithmetic_value(std::string_view text);

}  // namespace stepwright
