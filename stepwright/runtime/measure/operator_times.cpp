#include "stepwright/runtime/measure/operator_times.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/document.h"

namespace stepwright::runtime {
namespace {

constexpr double kLongest = 1e9;

std::vector<double> read_template(DocumentNode node, const step::OperatorTemplate& piece) {
  node.allow_only_keys({"name", "seconds"});
  const DocumentNode name = node.get("name");
  const DocumentNode list = node.get("seconds");
  if (name.text() != piece.name) {
    name.fail(fmt::format("is '{}', the program has '{}' here", name.text(), piece.name));
  }
  if (list.size() != piece.operators.size()) {
    list.fail(fmt::format("has {} numbers for {} operators", list.size(), piece.operators.size()));
  }
  std::vector<double> seconds;
  for (std::size_t i = 0; i < list.size(); ++i) seconds.push_back(list.at(i).number(0, kLongest));
  return seconds;
}

}  // namespace

std::string operator_times_json(const step::StepProgram& program, const OperatorTimes& times) {
  auto templates = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < times.size(); ++i) {
    templates.push_back({{"name", program.templates[i].name}, {"seconds", times[i]}});
  }
  return nlohmann::ordered_json{{"stepwright", "times/1"}, {"templates", std::move(templates)}}
      .dump();
}

OperatorTimes load_operator_times(const std::filesystem::path& path,
                                  const step::StepProgram& program) {
  const YamlJsonDocument document = YamlJsonDocument::load(path);
  const DocumentNode root = document.root();
  const DocumentNode version = root.get("stepwright");
  if (version.text() != "times/1") version.fail("this is no times/1");
  root.allow_only_keys({"stepwright", "templates"});
  const DocumentNode list = root.get("templates");
  if (list.size() != program.templates.size()) {
    list.fail(fmt::format("has {} entries, the program has {} templates", list.size(),
                          program.templates.size()));
  }
  OperatorTimes times;
  for (std::size_t i = 0; i < list.size(); ++i) {
    times.push_back(read_template(list.at(i), program.templates[i]));
  }
  return times;
}

}  // namespace stepwright::runtime
