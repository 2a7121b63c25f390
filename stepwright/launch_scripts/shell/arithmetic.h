#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// The variables that an expression reads and sets.
struct ArithmeticNames {
  std::function<std::string(const std::string&)> value;  ///< A text; open or empty if it is unset.
  std::function<void(const std::string&, std::int64_t)> set;
};

/// Value of an expression between `$((` and `))`.
struct ArithmeticResult {
  std::int64_t value = 0;
  bool known = true;  ///< Not where it hangs on something open, which counts as 0.
};

/// The value of an expression of whole numbers, as bash has it; nothing for any other text, and
/// where a number leaves 64 bits or is divided by zero.
std::optional<ArithmeticResult> arithmetic_value(std::string_view text,
                                                 const ArithmeticNames& names);

}  // namespace stepwright::launch_scripts
