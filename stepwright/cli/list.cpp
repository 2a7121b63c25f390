#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/cli/command.h"
#include "stepwright/cli/list_tables.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/huggingface/weights.h"
#include "stepwright/model/catalog.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A kind of entries that `stepwright list` can show.
struct Listing {
  const char* name;
  Json (*json)();
  std::string (*text)(const Json& entries);
};
constexpr Listing kListings[] = {{"models", models_json, models_text},
                                 {"profiles", profiles_json, profiles_text},
                                 {"shardings", shardings_json, shardings_text},
                                 {"schedules", schedules_json, schedule_list_text},
                                 {"collectives", collectives_json, collective_algorithms_table},
                                 {"frameworks", frameworks_json, framework_table_text}};

/// Returns names and shapes of the weights in files of transformers.
Json tensors_json(const YamlJsonDocument& config, const model::ModelArchitecture& model) {
  Json tensors = Json::object();
  // `operator[]` would search all earlier members.
  auto& members = tensors.get_ref<Json::object_t&>();
  for (const huggingface::HuggingFaceTensor& tensor :
       huggingface::huggingface_tensors(model, huggingface::weight_format_of_config(config))) {
    members.emplace_back(tensor.name, tensor.shape());
  }
  return tensors;
}

class List : public Subcommand {
 public:
  explicit List(CLI::App& program)
      : Subcommand(program, "list", "List the words that jobs and plans may use",
                   "  stepwright list models\n"
                   "  stepwright list profiles --json\n"
                   "  stepwright list models --config path/to/config.json --json") {
    std::vector<std::string> names;
    for (const Listing& listing : kListings) names.emplace_back(listing.name);
    app()
        .add_option("WHAT", what_,
                    "models, profiles, shardings, schedules, collectives or frameworks")
        ->required()
        ->transform(one_of_words_validator(names));
    app()
        .add_option("--config", config_, "With models: describe the model of this config.json")
        ->type_name("FILE");
    app()
        .add_option("--length", length_,
                    "With --config: tokens of a sequence, as 4096 or 4k, for FLOPs per token")
        ->transform(runtime::token_count_validator(1, model::kMaxModelDimension));
    app().add_flag("--tensors", tensors_,
                   "With --config and --json: also list the tensors of its weight files");
  }

  void run_subcommand(const Console& console) override {
    const auto listing = std::ranges::find(kListings, what_, &Listing::name);
    check_options();
    const Json entries = config_.empty() ? listing->json() : configured(console);
    if (wants_json_output()) {
      print_json(console.out, entries);
    } else {
      console.out << listing->text(entries);
    }
  }

 private:
  void check_options() const {
    if (!config_.empty() && what_ != "models") fail_input("--config is only for `list models`");
    if (length_ > 0 && config_.empty()) fail_input("--length is only for --config");
    if (tensors_ && (config_.empty() || !wants_json_output())) {
      fail_input("--tensors needs both --config and --json");
    }
  }

  /// Returns the list with the one model that the file describes.
  [[nodiscard]] Json configured(const Console& console) const {
    const YamlJsonDocument config = YamlJsonDocument::load(config_);
    std::vector<std::string> notes;
    const model::ModelArchitecture model = model::read_huggingface_config(config, &notes);
    for (const std::string& note : notes) console.log.info(note);
    Json entries = model_list_json(model, length_);
    if (!notes.empty()) entries.front()["notes"] = notes;
    if (tensors_) entries.front()["tensors"] = tensors_json(config, model);
    return entries;
  }

  std::string what_;
  std::string config_;
  std::int64_t length_ = 0;
  bool tensors_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> list_command(CLI::App& program) {
  return std::make_unique<List>(program);
}

}  // namespace stepwright::cli
