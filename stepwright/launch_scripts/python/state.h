#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// What the names of a program hold at one moment, so that branches of an open condition can each
/// be followed from there.
class PythonState {
 public:
  using Names = std::map<std::string, PythonObject>;
  struct Frame {
    Names names;
    std::size_t file = 0;                  ///< Of its program.
    bool nested = false;                   ///< It sees the names of the one before.
    std::set<std::string> global_names{};  ///< Which it gives to all functions of its file.
  };

  PythonState() = default;
  explicit PythonState(const std::vector<Frame>& frames);

  [[nodiscard]] bool taken() const { return !frames_.empty(); }
  [[nodiscard]] std::size_t weight() const { return weight_; }
  /// Gives the names, and the lists and mappings that they share, what they held.
  void restore(std::vector<Frame>& frames) const;
  /// Leaves what this moment has, too, and makes the rest open: `name` decides.
  void merge(std::vector<Frame>& frames, const std::string& name) const;

 private:
  void keep(const PythonObject& value);

  std::vector<Frame> frames_;
  std::map<std::shared_ptr<PythonObject::Body>, PythonObject::Body> bodies_;
  std::size_t weight_ = 1;
};

}  // namespace stepwright::launch_scripts
