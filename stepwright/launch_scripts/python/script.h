#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// A script of a shell whose words stand on the lines on which a program of another language has
/// them.
class PythonScript {
 public:
  void variable(const std::string& name, const PythonString& value, std::uint32_t line);
  void words(const std::vector<PythonObject>& words, std::uint32_t line);
  /// A text that a shell reads.
  void command(const PythonString& text, std::uint32_t line);

  [[nodiscard]] std::size_t commands() const { return count_; }
  /// `mentions`: names that the script has in a comment, so that they are known to be its own.
  [[nodiscard]] std::string take(const std::string& mentions) const;

 private:
  std::string placed(const PythonString& word);
  void add(const std::string& text, std::uint32_t line);

  std::map<std::uint32_t, std::string> heads_;  ///< Variables of words, by line.
  std::vector<std::pair<std::uint32_t, std::string>> commands_;
  std::map<std::pair<std::uint32_t, std::string>, std::string> names_;  ///< Of words.
  std::uint32_t last_ = 2;
  std::size_t count_ = 0;
};

}  // namespace stepwright::launch_scripts
