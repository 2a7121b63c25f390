#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/cli/command.h"
#include "stepwright/cli/list_tables.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

/// A thing that can be listed.
struct Listing {
  const char* name;
  Json (*json)();
  std::string (*text)(const Json& entries);
};
constexpr Listing kListings[] = {{"models", models_json, models_text},
                                 {"profiles", profiles_json, profiles_text},
                                 {"shardings", shardings_json, shardings_text},
                                 {"schedules", schedules_json, described_text},
                                 {"collectives", collectives_json, collectives_text},
                                 {"frameworks", frameworks_json, frameworks_text}};

class List : public Command {
 public:
  explicit List(CLI::App& program)
      : Command(program, "list", "List the words that jobs and plans may use",
                "  stepwright list models\n"
                "  stepwright list profiles --json\n"
                "  stepwright list models --config path/to/config.json --json") {
    std::vector<std::string> names;
    for (const Listing& listing : kListings) names.emplace_back(listing.name);
    app()
        .add_option("WHAT", what_,
                    "models, profiles, shardings, schedules, collectives or frameworks")
        ->required()
        ->check(one_of(names));
    app()
        .add_option("--config", config_, "With models: describe the model of this config.json")
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    const auto listing = std::ranges::find(kListings, what_, &Listing::name);
    const Json entries = config_.empty() ? listing->json() : configured();
    if (json()) {
      print_json(console.out, entries);
    } else {
      console.out << listing->text(entries);
    }
  }

 private:
  /// A list of the one model that the file describes.
  [[nodiscard]] Json configured() const {
    if (what_ != "models") fail_input("--config goes with `list models` only");
    return model_list_json(read_config(Document::load(config_)));
  }

  std::string what_;
  std::string config_;
};

}  // namespace

std::unique_ptr<Command> list_command(CLI::App& program) { return std::make_unique<List>(program); }

}  // namespace stepwright
