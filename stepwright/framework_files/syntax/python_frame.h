#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/syntax/python_config.h"

namespace stepwright {

/// The variables of a function of Python: values, and names for parts of them.
class PythonFrame {
 public:
  /// The value of a variable or of an attribute of one; nothing where there is none.
  [[nodiscard]] std::optional<Tree> find(const std::string& path) const;
  /// `path = value`.
  void set(const std::string& path, Tree value, std::vector<PythonUnread>& unread);
  /// `name = path`: another name for the same object.
  void alias(const std::string& name, const std::string& path);
  /// Whether a path begins with a variable.
  [[nodiscard]] bool knows(const std::string& path) const;
  /// The object of a path was put into another one: what is set in it later is not followed.
  void put_away(const std::string& path) { put_away_.insert(resolved(path)); }
  /// It was only lent to a function that has ended.
  void take_back(const std::string& path) { put_away_.erase(resolved(path)); }

 private:
  [[nodiscard]] std::string resolved(std::string path) const;
  void release(const std::string& path);

  std::map<std::string, Tree> values_;
  std::map<std::string, std::string> aliases_;
  std::set<std::string> put_away_;
};

}  // namespace stepwright
