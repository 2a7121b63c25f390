#include "stepwright/capture/capture_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "stepwright/capture/bash_startup.h"
#include "stepwright/capture/keeper.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/error.h"
#include "stepwright/core/output_file.h"

namespace stepwright::capture {
namespace {

void make_links(const std::filesystem::path& folder, const std::filesystem::path& program) {
  for (const char* name : {"bin", "writers", "tools", "scratch"}) {
    std::filesystem::create_directory(folder / name);
  }
  for (const ProgramWithStandIn& tool : programs_replaced_in_capture()) {
    if (tool.kind == ProgramStandInKind::kWriter) continue;
    std::filesystem::create_symlink(program, folder / "bin" / tool.name);
  }
  for (const std::string_view name :
       {kSupervisorProgramName, std::string_view("stepwright-too-deep"),
        std::string_view("stepwright-not-run"), std::string_view("stepwright-ran")}) {
    std::filesystem::create_symlink(program, folder / "tools" / name);
  }
}

}  // namespace

void add_file_writer_stand_ins(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path program =
      std::filesystem::read_symlink(folder / "tools" / kSupervisorProgramName, ignored);
  for (const ProgramWithStandIn& tool : programs_replaced_in_capture()) {
    if (tool.kind != ProgramStandInKind::kWriter) continue;
    std::filesystem::create_symlink(program, folder / "writers" / tool.name, ignored);
  }
}

ScriptCaptureFolder::ScriptCaptureFolder(const std::filesystem::path& program,
                                         const ScriptCaptureSettings& settings) {
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(ignored);
  std::string name =
      ((ignored ? std::filesystem::path("/tmp") : parent) / "stepwright-capture-XXXXXX").string();
  if (name.find(':') != std::string::npos) name = "/tmp/stepwright-capture-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(ErrorKind::kRuntime, fmt::format("cannot make a temporary folder {}: {}", name,
                                                 std::generic_category().message(errno)));
  }
  path_ = std::filesystem::canonical(name, ignored);
  if (ignored) path_ = name;
  try {
    make_links(path_, program);
    if (settings.only_launchers) add_file_writer_stand_ins(path_);
    write_capture_settings(settings, path_);
    write_file(bash_startup_file_path(), bash_startup_file_text(path_));
  } catch (const std::filesystem::filesystem_error& error) {
    std::filesystem::remove_all(path_, ignored);
    throw Error(ErrorKind::kRuntime, fmt::format("cannot fill the folder {}: {}", path_.string(),
                                                 error.code().message()));
  } catch (const Error&) {
    std::filesystem::remove_all(path_, ignored);
    throw;
  }
}

ScriptCaptureFolder::~ScriptCaptureFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path ScriptCaptureFolder::supervisor_program_path() const {
  return path_ / "tools" / kSupervisorProgramName;
}

std::filesystem::path ScriptCaptureFolder::bash_startup_file_path() const {
  return path_ / "bash_startup.sh";
}

}  // namespace stepwright::capture
