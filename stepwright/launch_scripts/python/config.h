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

/// Facts about a training framework whose configurations are Python functions: its configuration
/// class, and the results of its own functions.
struct FrameworkPythonFacts {
  /// Name of the class of the framework's configurations: "Trainer.Config".
  std::string_view root;
  /// A callback that returns the result of a framework's function that none of the read files
  /// defines; `file`: the file with the call; nullopt: the result is unknown.
  std::function<std::optional<DocumentTree>(const std::string& function,
                                            const DocumentTree& arguments, const std::string& file)>
      known;
  /// A callback, asked before any definition in the read files, that returns the result of a
  /// framework's function which depends on a value of these files (`value` looks it up by name);
  /// nullopt: not such a function.
  std::function<std::optional<DocumentTree>(
      const std::string& function, const DocumentTree& arguments,
      const std::function<std::optional<DocumentTree>(const std::string& name)>& value)>
      chosen{};
  /// Names of the framework's methods that return the object on which they are called.
  std::vector<std::string_view> same{};
  /// Names of the framework's functions that configurations use as values, without calling them:
  /// "squared_relu".
  std::vector<std::string_view> themselves{};
};

/// A configuration value that is not a literal, so that it is unknown unless the Python code is
/// run.
struct UnknownPythonValue {
  std::string name;        ///< Key of the unknown value in the configuration: "training.steps".
  std::string expression;  ///< The Python expression of the unknown value, as it was written.
  /// Line of the unknown value's expression in the first file, from 1; 0: it is in another file.
  std::uint32_t line = 0;
};

/// A configuration that a Python function returns.
struct PythonConfig {
  /// The configuration as a tree; a call of a class is a mapping with the class name under the key
  /// `()`.
  DocumentTree tree;
  /// Name of the function that returns the configuration; empty: the configuration is the first
  /// call in the text.
  std::string function;
  /// Configuration values that are not literals, so that they are unknown, and statements that were
  /// skipped.
  std::vector<UnknownPythonValue> unread;
  /// Imported functions that the configuration calls, but that no read file defines and whose
  /// result is unknown, as "module.function".
  std::vector<std::string> elsewhere;
};

/// Returns the values of a configuration that are not literals, so that they are unknown, with
/// their keys; at most 1,000.
std::vector<UnknownPythonValue> unknown_python_values(const DocumentTree& tree);

/// Returns the configuration that a function of the first text returns. `function` is "name" or
/// "name(precision='fp8')"; empty: the only function that returns a configuration.
/// Interprets assignments in order, also inside functions and classes of this text or, for names
/// that this text lacks, of the other texts (values from there have no lines). Conditions on known
/// values are decided. Executes nothing.
/// Fails with `kInput` if `function` is empty and several functions return configurations (their
/// names are in the message), if `function` is unknown, if its result cannot be interpreted, and in
/// the cases of `PythonProgram` and `yaml_tree_of_python_value`.
PythonConfig read_python_config(std::span<const PythonFileText> texts,
                                const FrameworkPythonFacts& words, const std::string& function);

}  // namespace stepwright::launch_scripts
