#include "stepwright/answers/given_file.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/launch_scripts/text.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/found_order.h"

namespace stepwright::answers {
namespace {

namespace fs = std::filesystem;

/// Fails if a file is a launch script, which is no document; the message says which command reads
/// it.
void refuse_script(const std::string& name) {
  constexpr std::size_t kStart = 4096;
  const std::string start = read_first_bytes_of_regular_file(name, kStart).value_or("");
  if (!launch_scripts::is_shell_script({name, start})) return;
  fail_input(fmt::format("{0}: is a launch script: `stepwright import {1}` turns it into a plan, "
                         "`stepwright check {1}` tells whether it starts",
                         name, quoted_for_shell(name)),
             {.file = name});
}

YamlJsonDocument loaded(const std::string& name) try {
  return YamlJsonDocument::load(name);
} catch (const Error&) {
  refuse_script(name);
  throw;
}

YamlJsonDocument document_of(const UserFile& file) {
  if (file.text) return YamlJsonDocument::parse(*file.text, file.name);
  YamlJsonDocument document = loaded(file.name);
  if (!document.root().is_mapping()) refuse_script(file.name);
  return document;
}

fs::path folder_of(const UserFile& file) {
  return file.text ? file.folder : fs::path(file.name).parent_path();
}

/// True if a text declares itself a file of a kind ("plan", "job").
bool says(const std::string& text, std::string_view kind) {
  return text.find(fmt::format("stepwright: {}/", kind)) != std::string::npos ||
         text.find(fmt::format("\"stepwright\": \"{}/", kind)) != std::string::npos;
}

/// Replaces the framework; a release or variant of another framework is removed.
YamlJsonDocument with_framework(YamlJsonDocument document, const std::string& framework) {
  const auto own = document.root().find("framework");
  if (!own || own->is_scalar()) return document.copy_with_replaced_scalar("framework", framework);
  DocumentTree tree = document.root().copy_tree();
  tree.set("framework", framework);
  return YamlJsonDocument::from_tree(std::move(tree), document.document_name());
}

}  // namespace

std::string read_user_file_text(const UserFile& file) {
  return file.text ? *file.text : framework_files::read_text_file(file.name);
}

plan::Job read_job(const UserFile& file, const std::string& framework) {
  YamlJsonDocument document = document_of(file);
  if (plan::is_stepwright_file_of_kind(document, "plan")) {
    fail_input(fmt::format("{0}: is a plan, but tune searches for a plan: give tune a job, or "
                           "predict this plan with `stepwright predict {1}`",
                           file.name, quoted_for_shell(file.name)),
               {.file = file.name});
  }
  if (!framework.empty()) document = with_framework(std::move(document), framework);
  return plan::read_job(document, folder_of(file));
}

plan::PlannedJob read_plan(const UserFile& file, const plan::TrainingFramework& unsaid) {
  const YamlJsonDocument document = document_of(file);
  if (plan::is_stepwright_file_of_kind(document, "job")) {
    fail_input(
        fmt::format("{0}: is a job, but a plan is needed: run `stepwright tune {1} -o plan.yaml`, "
                    "then give plan.yaml",
                    file.name, quoted_for_shell(file.name)),
        {.file = file.name});
  }
  return plan::read_plan(document, folder_of(file), unsaid);
}

plan::PlannedJob with_resolved_schedule(plan::PlannedJob planned, const std::string& file) {
  if (const auto refused = plan::find_plan_rejection(planned.job, planned.plan)) {
    plan::fail_rejected_plan(*refused, file);
  }
  return simulate::resolve_schedule_order(std::move(planned));
}

plan::PlannedJob read_plan_with_resolved_schedule(const UserFile& file,
                                                  const plan::TrainingFramework& unsaid) {
  return with_resolved_schedule(read_plan(file, unsaid), file.name);
}

bool file_contains_plan(const UserFile& file) {
  return plan::is_stepwright_file_of_kind(document_of(file), "plan");
}

bool declares_plan(const UserFile& file) { return says(read_user_file_text(file), "plan"); }

bool declares_job(const UserFile& file) { return says(read_user_file_text(file), "job"); }

}  // namespace stepwright::answers
