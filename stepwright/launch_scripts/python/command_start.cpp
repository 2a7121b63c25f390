#include "stepwright/launch_scripts/python/command_start.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "stepwright/core/trimmed.h"
#include "stepwright/launch_scripts/python/source.h"
#include "stepwright/launch_scripts/python/statement.h"

namespace stepwright::launch_scripts {
namespace {

bool starts_command(std::string_view path) {
  // Helpers of slime (THUDM/slime slime/utils/external_utils/command_utils.py) and its forks.
  const std::string_view name = last_python_name(path);
  const bool of_slime = name == "execute_train" || name == "exec_command";
  static constexpr std::array<std::string_view, 9> kCalls = {"subprocess.run",
                                                             "subprocess.call",
                                                             "subprocess.Popen",
                                                             "subprocess.check_call",
                                                             "subprocess.check_output",
                                                             "subprocess.getoutput",
                                                             "subprocess.getstatusoutput",
                                                             "os.system",
                                                             "os.popen"};
  static constexpr std::array<std::string_view, 3> kFamilies = {"os.exec", "os.spawn",
                                                                "asyncio.create_subprocess_"};
  return std::ranges::find(kCalls, path) != kCalls.end() || of_slime ||
         std::ranges::any_of(kFamilies,
                             [&](std::string_view head) { return path.starts_with(head); });
}

/// Imported names of a program, and the full name of each.
class ImportedNames {
 public:
  /// Adds the names of a statement "import ..." or "from ... import ...".
  void add(std::string_view statement) {
    std::string module;
    if (starts_python_word(statement, "from")) {
      const std::size_t end = std::min(statement.find(" import "), statement.size());
      module = std::string(trimmed(statement.substr(4, end - 4))) + ".";
    }
    for (const auto& [name, there] : python_imported_names(statement))
      names_[name] = module + there;
  }

  [[nodiscard]] std::string full(std::string_view path) const {
    const std::string_view head = path.substr(0, path.find('.'));
    const auto found = names_.find(head);
    if (found == names_.end()) return std::string(path);
    return found->second + std::string(path.substr(head.size()));
  }

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

bool begins_line(std::string_view text, std::size_t at) {
  const std::size_t before = text.find_last_not_of(" \t", at - 1);
  return at == 0 || before == std::string_view::npos || text[before] == '\n';
}

/// Returns the end of an import: the end of its line, or the bracket that closes its list of names.
std::size_t end_of_import(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const std::size_t open = text.substr(0, end).find('(', at);
  return open == std::string_view::npos ? end : std::min(text.find(')', open), text.size());
}

std::size_t end_of_path(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_python_name_char(text[at]) || text[at] == '.')) ++at;
  return at;
}

}  // namespace

std::optional<PythonCommandStart> first_python_command_start(const SourceFile& file) {
  const std::string_view text = file.text;
  ImportedNames names;
  std::string_view before;  // The word before the current one.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '"' || text[at] == '\'') {
      at = end_of_python_string(text, at);
    } else if (!is_python_name_char(text[at])) {
      ++at;
    } else {
      at = end_of_path(text, at);
      const std::string_view path = text.substr(begin, at - begin);
      const bool imports = (path == "import" || path == "from") && begins_line(text, begin);
      if (imports) names.add(text.substr(begin, end_of_import(text, begin) - begin));
      if (imports) at = end_of_import(text, begin);
      const bool called = at < text.size() && text[at] == '(' && before != "def";
      if (!imports && called && starts_command(names.full(path))) {
        const auto line = 1 + std::ranges::count(text.substr(0, begin), '\n');
        return PythonCommandStart{std::string(path), static_cast<std::uint32_t>(line)};
      }
      before = path;
    }
  }
  return std::nullopt;
}

}  // namespace stepwright::launch_scripts
