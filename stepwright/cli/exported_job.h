#pragma once

#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::cli {

/// A plan to write as the files of a framework or launcher.
struct ExportRequest {
  std::string to;        ///< A word of `framework_files::export_words`.
  std::string release;   ///< Release of its framework; empty: that of the job, else the newest.
  std::string plan;      ///< Path of the plan's file.
  std::string output;    ///< The name of the file that is written; empty: none.
  bool nearest = false;  ///< Writes the nearest plan that runs and fits where the plan does not.
  bool even_if_it_does_not_fit = false;
};

/// Makes the file of a plan, and tells what it assumes and how long a step takes as it starts.
/// Fails with `kUnsupported` as `export_plan`, and with `kRuntime` where what would start does not
/// fit in memory.
framework_files::LaunchFile exported_job(const ExportRequest& request, const Console& console);

}  // namespace stepwright::cli
