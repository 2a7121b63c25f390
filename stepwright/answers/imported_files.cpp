#include "stepwright/answers/imported_files.h"

#include <utility>

#include "stepwright/capture/launch_record.h"
#include "stepwright/capture/record_sources.h"

namespace stepwright::answers {

framework_files::ImportedPlan import_files(const ImportRequest& request, bool as_it_is) {
  framework_files::Given given = request.given;
  std::vector<launch_scripts::SourceFile> sources;
  for (const GivenFile& file : request.files) {
    std::string text = text_of(file);
    if (!capture::is_launch_record(text)) {
      sources.push_back({file.name, std::move(text)});
      continue;
    }
    const capture::Captured captured = capture::read_launch(text, file.name);
    for (auto& source : capture::record_sources(captured, given.command, file.name)) {
      sources.push_back(std::move(source));
    }
    given.command.reset();  // Counts commands of the record, which are one script now.
  }
  framework_files::ImportedPlan imported =
      framework_files::import_sources(request.source, sources, given, as_it_is);
  if (request.strict) framework_files::check_all_read(imported.report);
  return imported;
}

}  // namespace stepwright::answers
