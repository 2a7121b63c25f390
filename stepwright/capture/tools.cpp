#include "stepwright/capture/tools.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/named.h"

namespace stepwright::capture {

/// Returns the file tools.yaml, which is compiled into the program.
std::span<const EmbeddedFile> embedded_tools();

namespace {

using enum ProgramStandInKind;

constexpr Named<ProgramStandInKind> kToolKinds[] = {
    {kLaunch, "launch"},   {kPython, "python"}, {kCarrier, "carrier"},
    {kSubmit, "submit"},   {kAnswer, "answer"}, {kIdle, "idle"},
    {kWrapper, "wrapper"}, {kShell, "shell"},   {kWriter, "writer"}};

constexpr std::array<std::string_view, 9> kShells = {"bash", "sh",  "dash", "ash", "ksh",
                                                     "zsh",  "csh", "tcsh", "fish"};

std::vector<ProgramWithStandIn> read_tools() {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(embedded_tools().front().text, "tools.yaml");
  std::vector<ProgramWithStandIn> tools;
  for (const auto& [kind, word] : kToolKinds) {
    for (std::string& name : document.root().get(word).as_text_list()) {
      tools.push_back({std::move(name), kind});
    }
  }
  return tools;
}

}  // namespace

std::span<const ProgramWithStandIn> programs_replaced_in_capture() {
  static const std::vector<ProgramWithStandIn> kTools = read_tools();
  return kTools;
}

std::optional<ProgramStandInKind> find_stand_in_kind(std::string_view name) {
  const auto found =
      std::ranges::find(programs_replaced_in_capture(), name, &ProgramWithStandIn::name);
  if (found != programs_replaced_in_capture().end()) return found->kind;
  return std::nullopt;
}

bool is_launching_program_kind(ProgramStandInKind kind) {
  return kind == kLaunch || kind == kPython || kind == kCarrier || kind == kSubmit;
}

bool is_shell_program_name(std::string_view name) {
  return std::ranges::find(kShells, name) != kShells.end();
}

}  // namespace stepwright::capture
