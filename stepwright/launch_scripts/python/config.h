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

/// Knowledge about a framework whose configurations are Python functions.
struct PythonWords {
  std::string_view root;  ///< Class of the framework's configurations: "Trainer.Config".
  /// Returns the result of a function that none of the files defines, called in `file`; nullopt:
  /// unknown.
  std::function<std::optional<Tree>(const std::string& function, const Tree& arguments,
                                    const std::string& file)>
      known;
  /// Returns the result of a function that depends on a value of the files, which `value` looks up
  /// by name; nullopt: not such a function. It is asked before anything else.
  std::function<std::optional<Tree>(
      const std::string& function, const Tree& arguments,
      const std::function<std::optional<Tree>(const std::string& name)>& value)>
      chosen{};
  /// Methods that return the object they are called on.
  std::vector<std::string_view> same{};
  /// Functions that are used as values, without being called: "squared_relu".
  std::vector<std::string_view> themselves{};
};

/// A value of a configuration that is not a literal, so that reading alone cannot tell it.
struct PythonUnread {
  std::string name;        ///< Key of the value in the configuration: "training.steps".
  std::string expression;  ///< The expression as it was written.
  std::uint32_t line = 0;  ///< Line of the expression in the first text; 0: in another text.
};

/// A configuration that a Python function returns.
struct PythonConfig {
  /// The configuration; calls are mappings with the class name under `()`.
  Tree tree;
  /// Name of the function; empty: the configuration is the first call in the text.
  std::string function;
  /// Values that are not literals, and statements that were skipped.
  std::vector<PythonUnread> unread;
  /// Imported functions that were called but that no file defines and nothing is known about, as
  /// "module.function".
  std::vector<std::string> elsewhere;
};

/// Returns the values of a tree that are not literals, with their keys; at most 1,000.
std::vector<PythonUnread> unread_values(const Tree& tree);

/// Returns the configuration that a function of the first text returns. `function` is "name" or
/// "name(precision='fp8')"; empty: the only function that returns a configuration.
/// Interprets assignments in order, also inside functions and classes of this text or, for names
/// that this text lacks, of the other texts (values from there have no lines). Conditions on known
/// values are decided. Executes nothing.
/// Fails with `kInput` if `function` is empty and several functions return configurations (their
/// names are in the message), if `function` is unknown, if its result cannot be interpreted, and in
/// the cases of `PythonProgram` and `python_tree`.
PythonConfig read_python_config(std::span<const PythonText> texts, const PythonWords& words,
                                const std::string& function);

}  // namespace stepwright::launch_scripts
