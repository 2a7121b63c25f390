#include "stepwright/cli/plan_file.h"

#include <algorithm>

namespace stepwright::cli {

answers::UserFile read_file_or_console_text(const std::string& path, const Console& console) {
  const auto given = std::ranges::find(console.texts, path, &answers::UserFile::name);
  if (given != console.texts.end()) return *given;
  return {.name = path, .text = {}, .folder = {}};
}

plan::Job load_job_file(const std::string& path, const Console& console,
                        const std::string& framework) {
  return answers::read_job(read_file_or_console_text(path, console), framework);
}

plan::PlannedJob load_plan_file(const std::string& path, const Console& console) {
  return answers::read_plan(read_file_or_console_text(path, console));
}

plan::PlannedJob load_settled_plan(const std::string& path, const Console& console,
                                   const plan::TrainingFramework& unsaid) {
  return answers::read_plan_with_resolved_schedule(read_file_or_console_text(path, console),
                                                   unsaid);
}

bool is_plan_file(const std::string& path, const Console& console) {
  return answers::file_contains_plan(read_file_or_console_text(path, console));
}

}  // namespace stepwright::cli
