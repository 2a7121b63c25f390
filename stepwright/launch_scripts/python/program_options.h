#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Returns the name under which a program finds an option: "batch_size" of "--batch-size".
std::string name_of_option(std::string_view word);

/// Options of a Python program as `argparse` reads them (docs.python.org/3/library/argparse.html):
/// the values of its command line over the defaults of its own code.
class ProgramOptions {
 public:
  /// `words` stand behind the program in its command.
  explicit ProgramOptions(const std::vector<std::string>& words = {});

  /// Gives an option a value by its name ("batch_size"), in the place of what the command says.
  void set(std::string_view name, std::string_view value);

  /// Takes a call of `add_argument`, whose first argument is the parser.
  void add(const PythonArguments& given);
  /// True if the program has an option of that name.
  [[nodiscard]] bool has(std::string_view name) const { return defaults_.contains(name); }
  /// The result of `parse_args`: unknown is what has neither a value nor a default.
  [[nodiscard]] PythonObject parsed() const;

 private:
  std::map<std::string, std::string, std::less<>> said_;  ///< By name; empty: a switch.
  std::map<std::string, PythonObject, std::less<>> defaults_;
};

}  // namespace stepwright::launch_scripts
