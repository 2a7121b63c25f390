#pragma once

#include <string>
#include <variant>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/core/csv.h"
#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::cli {

/// The content of a file of samples: a table, or what the PyTorch profiler exported.
using SampleFile = std::variant<CsvTable, logs::KinetoTrace>;

/// The arguments of `stepwright fit`.
struct FitRequest {
  std::vector<std::string> files;
  std::vector<SampleFile> samples;  ///< Samples of the files.
  std::string output;
  std::string device;   ///< Device of operator samples that do not say.
  std::string name;     ///< Name of the profile; empty: that of the file.
  std::string machine;  ///< Machine of collective samples that name none.
  std::string plan;     ///< File of the plan whose traces the files are; empty: they are samples.
  bool json = false;
};

/// Fits the kind of samples that the tables hold, writes the profile and says how well it fits.
/// All fail with `kInput` when a table holds something else, or no fit is left.
void fit_operator_tables(const FitRequest& request, const Console& console);
void fit_collective_tables(const FitRequest& request, const Console& console);
/// Fits the tables that `stepwright sample` wrote.
void fit_measured_tables(const FitRequest& request, const Console& console);

/// Fits a measured profile to the traces of a job of that plan (`FitRequest::plan`).
void fit_step_traces(const FitRequest& request, const Console& console);

/// Writes a fit as a measured profile and says it: `heading`, then a line for each law.
void write_measured(const fit::ClusterFit& fit, const FitRequest& request,
                    const std::string& heading, const Console& console);

/// Whether an output is a folder of profiles, which is made where it is not there.
bool names_folder(const std::string& output);

/// The names of the request's files, without folders.
std::vector<std::string> source_names(const FitRequest& request);

}  // namespace stepwright::cli
