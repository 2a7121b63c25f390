#include "stepwright/answers/imported_files.h"

namespace stepwright::answers {

framework_files::ImportedPlan import_files(const ImportRequest& request, bool as_it_is) {
  std::vector<launch_scripts::SourceFile> sources;
  for (const GivenFile& file : request.files) sources.push_back({file.name, text_of(file)});
  framework_files::ImportedPlan imported =
      framework_files::import_sources(request.source, sources, request.given, as_it_is);
  if (request.strict) framework_files::check_all_read(imported.report);
  return imported;
}

}  // namespace stepwright::answers
