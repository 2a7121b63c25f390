#pragma once

#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::cli {

/// The arguments of an export: a plan, and the framework or launcher for whose files it is
/// converted.
struct ExportRequest {
  std::string to;       ///< Target of the export, a word of `framework_files::export_words`.
  std::string release;  ///< Release of the framework; empty: the job's release, or the newest one.
  std::string plan;     ///< Path of the plan file to export.
  std::string output;   ///< Name of the file to write; empty: no file is written.
  /// True: if the framework cannot run the plan, or it does not fit, export the nearest plan that
  /// it can run and that fits.
  bool nearest = false;
  bool even_if_it_does_not_fit = false;
};

/// Returns the launch file of a plan. Logs the assumptions in it and the predicted step time of the
/// exported plan. Fails with `kUnsupported` as `export_plan`, and with `kRuntime` if the exported
/// plan does not fit in memory.
framework_files::LaunchFile export_job_file(const ExportRequest& request, const Console& console);

}  // namespace stepwright::cli
