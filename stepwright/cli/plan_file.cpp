#include "stepwright/cli/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/found_order.h"

namespace stepwright::cli {
namespace {

namespace fs = std::filesystem;

/// A document, and the folder that its relative paths start from.
struct Source {
  Document document;
  fs::path folder;
};

Source load_source(const std::string& path, const Console& console) {
  for (const NamedText& given : console.texts) {
    if (given.name == path) return {Document::parse(given.text, given.name), given.folder};
  }
  return {Document::load(path), fs::path(path).parent_path()};
}

/// Whether a text says that it is a file of a kind.
bool begins_as(const std::string& text, std::string_view kind) {
  return text.find(fmt::format("stepwright: {}/", kind)) != std::string::npos ||
         text.find(fmt::format("\"stepwright\": \"{}/", kind)) != std::string::npos;
}

/// A release or variant of another framework goes with it.
Document with_framework(Document document, const std::string& framework) {
  const auto own = document.root().find("framework");
  if (!own || own->is_scalar()) return document.with("framework", framework);
  Tree tree = document.root().tree();
  tree.set("framework", framework);
  return Document::from(std::move(tree), document.name());
}

}  // namespace

plan::Job load_job_file(const std::string& path, const Console& console,
                        const std::string& framework) {
  auto [document, folder] = load_source(path, console);
  if (plan::is_file_of(document, "plan")) {
    fail_input(
        fmt::format("{}: is a plan, and tune looks for one: give it a job, or ask what this plan "
                    "costs with `stepwright predict {}`",
                    path, path),
        {.file = path});
  }
  if (!framework.empty()) document = with_framework(std::move(document), framework);
  return plan::read_job(document, folder);
}

plan::PlannedJob load_plan_file(const std::string& path, const Console& console,
                                const plan::Framework& unsaid) {
  const auto [document, folder] = load_source(path, console);
  if (plan::is_file_of(document, "job")) {
    fail_input(
        fmt::format("{}: is a job, and a plan is needed: run `stepwright tune {} -o plan.yaml`, "
                    "then give plan.yaml",
                    path, path),
        {.file = path});
  }
  return plan::read_plan(document, folder, unsaid);
}

bool is_plan_file(const std::string& path, const Console& console) {
  return plan::is_file_of(load_source(path, console).document, "plan");
}

std::string file_text(const std::string& path, const Console& console) {
  const auto given = std::ranges::find(console.texts, path, &NamedText::name);
  return given != console.texts.end() ? given->text : framework_files::read_text_file(path);
}

bool holds_plan(const std::string& path, const Console& console) {
  return begins_as(file_text(path, console), "plan");
}

bool holds_job(const std::string& path, const Console& console) {
  return begins_as(file_text(path, console), "job");
}

plan::PlannedJob settled_plan(plan::PlannedJob planned, const std::string& path) {
  if (const auto refused = plan::illegal(planned.job, planned.plan)) {
    plan::fail_refused(*refused, path);
  }
  return simulate::with_order(std::move(planned));
}

plan::PlannedJob load_settled_plan(const std::string& path, const Console& console,
                                   const plan::Framework& unsaid) {
  return settled_plan(load_plan_file(path, console, unsaid), path);
}

}  // namespace stepwright::cli
