#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/launch_scripts/python/program.h"

namespace stepwright::launch_scripts {

/// Facts about a program whose configurations are Python functions.
struct PythonWords {
  std::string_view root;  ///< The class of a configuration: "Trainer.Config".
  /// Returns what a function that stands in none of the files gives, called in one of them;
  /// nullopt: unknown.
  std::function<std::optional<Tree>(const std::string& function, const Tree& arguments,
                                    const std::string& file)>
      known;
  /// Returns what a function gives by the name of a value of the files, which `value` finds; asked
  /// before all others.
  std::function<std::optional<Tree>(
      const std::string& function, const Tree& arguments,
      const std::function<std::optional<Tree>(const std::string& name)>& value)>
      chosen{};
  /// Methods that give what they are called of.
  std::vector<std::string_view> same{};
  /// Functions that are values themselves: "squared_relu".
  std::vector<std::string_view> themselves{};
};

/// A place of a configuration whose value no literal says.
struct PythonUnread {
  std::string name;        ///< Place in the configuration: "training.steps".
  std::string expression;  ///< As it was written.
  std::uint32_t line = 0;  ///< 0: of another text than the first.
};

/// A configuration that a Python function returns.
struct PythonConfig {
  Tree tree;                         ///< Calls as mappings, with the name under `()`.
  std::string function;              ///< Empty: no function, but the first call of the text.
  std::vector<PythonUnread> unread;  ///< Values that are no literals, and statements passed over.
  /// Imported functions that were called, that no file has and of which nothing is known, as
  /// "module.function".
  std::vector<std::string> elsewhere;
};

/// The values of a tree that are no literals, by their places; at most 1,000.
std::vector<PythonUnread> unread_values(const Tree& tree);

/// The configuration that a function of the first text returns, of "name" or
/// "name(precision='fp8')"; without `function` the only one that does. Assignments are followed in
/// their order, into functions and classes of the same text too, and into those of the other texts
/// where it has none of that name, whose values have no lines; conditions on known values are
/// decided. Nothing is executed. Fails with `kInput` where several functions return configurations
/// (naming them), where `function` is none of them, where what it returns is not followed, and as
/// `PythonProgram` and `python_tree` do.
PythonConfig read_python_config(std::span<const PythonText> texts, const PythonWords& words,
                                const std::string& function);

}  // namespace stepwright::launch_scripts
