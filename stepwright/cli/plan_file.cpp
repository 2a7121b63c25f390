#include "stepwright/cli/plan_file.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/legality.h"

namespace stepwright {
namespace {

namespace fs = std::filesystem;

/// Whether a file says that it is of this kind ("job/"), in whatever version.
bool says(const Document& document, std::string_view kind) {
  const Node root = document.root();
  if (!root.is_mapping()) return false;
  const auto version = root.find("stepwright");
  return version && version->is_scalar() && version->text().starts_with(kind);
}

}  // namespace

Job load_job_file(const std::string& path) {
  const Document document = Document::load(path);
  if (says(document, "plan/")) {
    fail_input(
        fmt::format("{}: is a plan, and tune looks for one: give it a job, or ask what this plan "
                    "costs with `stepwright predict {}`",
                    path, path));
  }
  return read_job(document, fs::path(path).parent_path());
}

PlannedJob load_plan_file(const std::string& path) {
  const Document document = Document::load(path);
  if (says(document, "job/")) {
    fail_input(
        fmt::format("{}: is a job, and a plan is needed: run `stepwright tune {} -o plan.yaml`, "
                    "then give plan.yaml",
                    path, path));
  }
  return read_plan(document, fs::path(path).parent_path());
}

bool is_plan_file(const std::string& path) { return says(Document::load(path), "plan/"); }

PlannedJob load_legal_plan(const std::string& path) {
  PlannedJob planned = load_plan_file(path);
  if (const auto refused = illegal(planned.job, planned.plan)) {
    fail_refused(*refused, path);
  }
  return planned;
}

}  // namespace stepwright
