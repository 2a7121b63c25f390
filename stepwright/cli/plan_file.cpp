#include "stepwright/cli/plan_file.h"

#include <algorithm>

namespace stepwright::cli {

answers::UserFile read_user_file(const std::string& path, const Console& console) {
  const auto given = std::ranges::find(console.texts, path, &answers::UserFile::name);
  if (given != console.texts.end()) return *given;
  return {.name = path, .text = {}, .folder = {}};
}

plan::Job load_job_file(const std::string& path, const Console& console,
                        const std::string& framework) {
  return answers::read_job(read_user_file(path, console), framework);
}

plan::PlannedJob load_plan_file(const std::string& path, const Console& console) {
  return answers::read_plan(read_user_file(path, console));
}

plan::PlannedJob load_settled_plan(const std::string& path, const Console& console,
                                   const plan::Framework& unsaid) {
  return answers::read_resolved_plan(read_user_file(path, console), unsaid);
}

bool is_plan_file(const std::string& path, const Console& console) {
  return answers::is_plan_document(read_user_file(path, console));
}

}  // namespace stepwright::cli
