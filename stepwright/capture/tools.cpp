#include "stepwright/capture/tools.h"

#include <algorithm>
#include <array>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/named.h"

namespace stepwright::capture {

/// Returns the file tools.yaml, which is compiled into the program.
std::span<const EmbeddedFile> embedded_tools();

namespace {

using enum ToolKind;

constexpr Named<ToolKind> kToolKinds[] = {
    {kLaunch, "launch"},   {kPython, "python"}, {kCarrier, "carrier"},
    {kSubmit, "submit"},   {kAnswer, "answer"}, {kIdle, "idle"},
    {kWrapper, "wrapper"}, {kShell, "shell"},   {kWriter, "writer"}};

constexpr std::array<std::string_view, 9> kShells = {"bash", "sh",  "dash", "ash", "ksh",
                                                     "zsh",  "csh", "tcsh", "fish"};

std::vector<Tool> read_tools() {
  const Document document = Document::parse(embedded_tools().front().text, "tools.yaml");
  std::vector<Tool> tools;
  for (const auto& [kind, word] : kToolKinds) {
    const Node names = document.root().get(word);
    for (std::size_t i = 0; i < names.size(); ++i) tools.push_back({names.at(i).text(), kind});
  }
  return tools;
}

}  // namespace

std::span<const Tool> all_tools() {
  static const std::vector<Tool> kTools = read_tools();
  return kTools;
}

std::optional<ToolKind> find_tool(std::string_view name) {
  const auto found = std::ranges::find(all_tools(), name, &Tool::name);
  if (found != all_tools().end()) return found->kind;
  return std::nullopt;
}

bool is_launcher(ToolKind kind) {
  return kind == kLaunch || kind == kPython || kind == kCarrier || kind == kSubmit;
}

bool is_shell(std::string_view name) { return std::ranges::find(kShells, name) != kShells.end(); }

}  // namespace stepwright::capture
