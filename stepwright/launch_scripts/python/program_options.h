#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Returns the attribute in which argparse stores an option: "batch_size" for "--batch-size".
std::string argparse_attribute_name(std::string_view word);

/// Options of a Python program as `argparse` reads them (docs.python.org/3/library/argparse.html):
/// values of the command line override the defaults in the program's code.
class ArgparseOptions {
 public:
  /// Reads the options of a command; `words` are the words after the program.
  explicit ArgparseOptions(const std::vector<std::string>& words = {});

  /// Sets the value of an option ("batch_size"); it overrides the command line.
  void set(std::string_view name, std::string_view value);

  /// Adds the option that a call of `add_argument` declares; `given`: the call's arguments, of
  /// which the first is the parser object.
  void add(const PythonArguments& given);
  /// Fills an object whose attributes are options, as a parser of dataclasses does; `all`: also
  /// with options that the object does not have yet.
  void fill(PythonObject& object, bool all) const;
  /// Declares a function's parameters as options, as google/python-fire does, and returns the
  /// arguments that the command line gives them.
  PythonArguments call_arguments(const std::vector<std::string>& parameters, std::uint32_t line);
  /// True if the program has an option of that name.
  [[nodiscard]] bool has_program_option(std::string_view name) const {
    return defaults_.contains(name);
  }
  /// Returns the object that the program gets from `parse_args`; an option with neither a value nor
  /// a default is an unknown attribute.
  [[nodiscard]] PythonObject parsed_arguments() const;

 private:
  /// Values of the program's options that its command line states, by option name; empty: a switch
  /// without value.
  std::map<std::string, std::string, std::less<>> said_;
  std::map<std::string, PythonObject, std::less<>> defaults_;
};

}  // namespace stepwright::launch_scripts
