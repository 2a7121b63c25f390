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

/// Names the kind of a file that holds no document, by its first bytes, and says what to do with
/// it. Empty: the file may hold a document.
std::string other_kind(const std::string& start, const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"%PDF", "a PDF"},
      {"\x89PNG", "a picture"},
      {"\xFF\xD8\xFF", "a picture"},
      {"PK\x03\x04", "an archive"},
      {"\x1F\x8B", "compressed"},
      {"\x7F"
       "ELF",
       "a program"}};
  for (const auto& [begin, kind] : kKinds) {
    if (start.starts_with(begin))
      return fmt::format("is {}; jobs and plans are YAML or JSON", kind);
  }
  if (!launch_scripts::is_shell_script({name, start})) return "";
  return fmt::format(
      "is a launch script: `stepwright import {0}` makes a plan of it, `stepwright check {0}` says "
      "whether it starts",
      quoted_for_shell(name));
}

/// Fails where a file is of a kind that holds no document.
void refuse_other_kind(const std::string& name) {
  constexpr std::size_t kStart = 4096;
  const std::string kind = other_kind(start_if_plain(name, kStart).value_or(""), name);
  if (!kind.empty()) fail_input(fmt::format("{}: {}", name, kind), {.file = name});
}

Document loaded(const std::string& name) try { return Document::load(name); } catch (const Error&) {
  refuse_other_kind(name);
  throw;
}

Document document_of(const GivenFile& file) {
  if (file.text) return Document::parse(*file.text, file.name);
  Document document = loaded(file.name);
  if (!document.root().is_mapping()) refuse_other_kind(file.name);
  return document;
}

fs::path folder_of(const GivenFile& file) {
  return file.text ? file.folder : fs::path(file.name).parent_path();
}

/// True if a text says that it is a file of a kind.
bool says(const std::string& text, std::string_view kind) {
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

std::string text_of(const GivenFile& file) {
  return file.text ? *file.text : framework_files::read_text_file(file.name);
}

plan::Job read_job(const GivenFile& file, const std::string& framework) {
  Document document = document_of(file);
  if (plan::is_file_of(document, "plan")) {
    fail_input(
        fmt::format("{0}: is a plan, and tune looks for one: give it a job, or ask what this plan "
                    "costs with `stepwright predict {1}`",
                    file.name, quoted_for_shell(file.name)),
        {.file = file.name});
  }
  if (!framework.empty()) document = with_framework(std::move(document), framework);
  return plan::read_job(document, folder_of(file));
}

plan::PlannedJob read_plan(const GivenFile& file, const plan::Framework& unsaid) {
  const Document document = document_of(file);
  if (plan::is_file_of(document, "job")) {
    fail_input(
        fmt::format("{0}: is a job, and a plan is needed: run `stepwright tune {1} -o plan.yaml`, "
                    "then give plan.yaml",
                    file.name, quoted_for_shell(file.name)),
        {.file = file.name});
  }
  return plan::read_plan(document, folder_of(file), unsaid);
}

plan::PlannedJob settled_plan(plan::PlannedJob planned, const std::string& file) {
  if (const auto refused = plan::illegal(planned.job, planned.plan)) {
    plan::fail_refused(*refused, file);
  }
  return simulate::with_order(std::move(planned));
}

plan::PlannedJob read_settled_plan(const GivenFile& file, const plan::Framework& unsaid) {
  return settled_plan(read_plan(file, unsaid), file.name);
}

bool is_plan(const GivenFile& file) { return plan::is_file_of(document_of(file), "plan"); }

bool says_plan(const GivenFile& file) { return says(text_of(file), "plan"); }

bool says_job(const GivenFile& file) { return says(text_of(file), "job"); }

}  // namespace stepwright::answers
