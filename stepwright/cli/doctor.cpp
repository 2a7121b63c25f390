#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/lack.h"
#include "stepwright/lab/missing.h"
#include "stepwright/runtime/launch/gpus.h"
#include "stepwright/runtime/launch/launch.h"
#include "stepwright/serve/explorer_file.h"

namespace stepwright::cli {
namespace {

/// Something that the command can do if nothing needed for it is missing.
struct Capability {
  std::string name;
  std::string purpose;
  std::vector<std::string> found;
  std::vector<MissingRequirement> missing;
};

Capability planning() {
  return {.name = "plan",
          .purpose = "find plans, predict them, draw reports, write launch files",
          .found = {},
          .missing = {}};
}

Capability exploring() {
  Capability ability{.name = "serve",
                     .purpose = "open the explorer in a browser (serve)",
                     .found = {},
                     .missing = {}};
  if (auto lack = serve::missing_explorer_error()) ability.missing.push_back(*std::move(lack));
  return ability;
}

Capability training() {
  Capability ability{.name = "train",
                     .purpose = "run a plan on this machine (train, sample)",
                     .found = {},
                     .missing = {}};
  if (auto lack = runtime::missing_rank_program()) ability.missing.push_back(*std::move(lack));
  return ability;
}

Capability emulating() {
  return {.name = "lab",
          .purpose = "emulate a cluster on this machine (lab run)",
          .found = {},
          .missing = lab::missing_for_emulation()};
}

Capability computing() {
  Capability ability{.name = "gpu",
                     .purpose = "run a plan on GPUs (train --device cuda)",
                     .found = runtime::nvidia_gpu_names(),
                     .missing = {}};
  if (ability.found.empty()) {
    ability.missing.push_back({"this machine has no NVIDIA GPU with a driver",
                               "use a machine that has one; a container shows it with "
                               "`docker run --gpus all`"});
  }
  if (!STEPWRIGHT_CUDA) {
    ability.missing.push_back(
        {"this build has no PyTorch with CUDA",
         "install a PyTorch with CUDA into .venv, and CUDA's toolkit, and build again "
         "(cmake --preset release && cmake --build --preset release --target "
         "stepwright stepwright-rank)"});
  }
  return ability;
}

nlohmann::ordered_json ability_json(const Capability& ability) {
  auto missing = nlohmann::ordered_json::array();
  for (const auto& [what, remedy] : ability.missing) {
    missing.push_back({{"what", what}, {"remedy", remedy}});
  }
  return {{"name", ability.name},
          {"purpose", ability.purpose},
          {"ready", ability.missing.empty()},
          {"found", ability.found},
          {"missing", std::move(missing)}};
}

std::string ability_text(const Capability& ability) {
  std::string text = fmt::format("{:5}  {:9}  {}\n", ability.name,
                                 ability.missing.empty() ? "ready" : "not ready", ability.purpose);
  for (const std::string& found : ability.found) text += fmt::format("       found:   {}\n", found);
  for (const auto& [what, remedy] : ability.missing) {
    text += fmt::format("       missing: {}\n       do:      {}\n", what, remedy);
  }
  return text;
}

class Doctor : public Subcommand {
 public:
  explicit Doctor(CLI::App& program)
      : Subcommand(program, "doctor",
                   "Show what this machine can do, and what is missing for the rest",
                   "  stepwright doctor\n"
                   "  stepwright doctor --json") {}

  void run_subcommand(const Console& console) override {
    const Capability abilities[] = {planning(), exploring(), training(), emulating(), computing()};
    if (wants_json_output()) {
      auto list = nlohmann::ordered_json::array();
      for (const Capability& ability : abilities) list.push_back(ability_json(ability));
      return print_json(console.out, {{"version", STEPWRIGHT_VERSION}, {"abilities", list}});
    }
    console.out << "stepwright " STEPWRIGHT_VERSION "\n\n";
    for (const Capability& ability : abilities) console.out << ability_text(ability);
  }
};

}  // namespace

std::unique_ptr<Subcommand> doctor_command(CLI::App& program) {
  return std::make_unique<Doctor>(program);
}

}  // namespace stepwright::cli
