#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// Callbacks that read and set the shell variables of an arithmetic expression.
struct ShellArithmeticVariables {
  /// Returns the text of a shell variable, in which unknown parts are marked; empty if the variable
  /// is unset.
  std::function<std::string(const std::string&)> value;
  std::function<void(const std::string&, std::int64_t)> set;
};

/// The value of a shell's arithmetic expression, as between `$((` and `))`.
struct ShellArithmeticResult {
  std::int64_t value = 0;
  bool known = true;  ///< False if `value` depends on an unknown part, which counts as 0.
};

/// Returns the value of an integer expression, as bash computes it; nullopt for text that is no
/// such expression, a number beyond 64 bits and a division by zero.
std::optional<ShellArithmeticResult> shell_arithmetic_value(std::string_view text,
                                                            const ShellArithmeticVariables& names);

}  // namespace stepwright::launch_scripts
