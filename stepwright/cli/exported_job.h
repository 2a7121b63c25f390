#pragma once

#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::cli {

/// Arguments of `stepwright export`: a plan, and the framework or launcher for which files are
/// written.
struct ExportRequest {
  std::string
      to;  ///< Framework or launcher to export to; one of `framework_files::export_target_names`.
  /// Release of the framework; empty: the release that the job names, or the newest one.
  std::string release;
  std::string plan;    ///< Path of the plan file to export.
  std::string output;  ///< Path of the file to write; empty: no file is written.
  /// True: if the framework cannot run the plan, or if the plan does not fit in memory, export the
  /// nearest plan that runs and fits.
  bool nearest = false;
  bool even_if_it_does_not_fit = false;
};

/// Returns the launch file that runs a plan in a framework. Logs the assumptions and the predicted
/// step time. Fails with `kUnsupported` if the framework cannot run the plan, with `kRuntime` if
/// the plan does not fit in memory, unless `even_if_it_does_not_fit`.
framework_files::LaunchFile export_launch_file(const ExportRequest& request,
                                               const Console& console);

}  // namespace stepwright::cli
