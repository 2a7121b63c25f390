#include "stepwright/answers/imported_files.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "stepwright/capture/launch_record.h"
#include "stepwright/capture/record_sources.h"
#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright::answers {

void reject_options_redundant_with_plan(const ImportRequest& request) {
  const framework_files::UserFacts& given = request.given;
  const std::pair<std::string_view, bool> said[] = {
      {"--from", !request.source.empty()},     {"--model", !given.model.empty()},
      {"--cluster", !given.cluster.empty()},   {"--nodes", given.nodes.has_value()},
      {"--gpus", given.devices.has_value()},   {"--set", !given.settings.empty()},
      {"--function", !given.function.empty()}, {"--command", given.command.has_value()},
      {"--batch", !given.batch.empty()}};
  for (const auto& [option, is_said] : said) {
    if (!is_said) continue;
    fail_input(
        fmt::format("{}: is only for files of a framework; {} is a plan, which states this itself",
                    option, one_line_printable_text(request.files.front().name)));
  }
  if (request.files.size() > 1) {
    fail_input(fmt::format("{}: is a plan, which needs no other file; leave out {}",
                           one_line_printable_text(request.files.front().name),
                           one_line_printable_text(request.files[1].name)));
  }
}

framework_files::ImportedPlan import_framework_plan(const ImportRequest& request, bool as_it_is) {
  framework_files::UserFacts given = request.given;
  std::vector<launch_scripts::SourceFile> sources;
  for (const UserFile& file : request.files) {
    std::string text = read_user_file_text(file);
    if (!capture::is_capture_record(text)) {
      sources.push_back({file.name, std::move(text)});
      continue;
    }
    const capture::ScriptCaptureResult captured = capture::read_capture_record(text, file.name);
    for (auto& source : capture::capture_record_as_sources(captured, given.command, file.name)) {
      sources.push_back(std::move(source));
    }
    given.command.reset();  // It counted commands of the record, which are one script now.
  }
  framework_files::ImportedPlan imported =
      framework_files::import_plan_files(request.source, sources, given, as_it_is);
  if (request.strict) framework_files::check_all_settings_read(imported.report);
  return imported;
}

}  // namespace stepwright::answers
