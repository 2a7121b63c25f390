#pragma once

#include <string>
#include <variant>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/core/csv.h"
#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::cli {

/// The content of a file of samples: a table, or a trace that the PyTorch profiler exported.
using SampleFile = std::variant<CsvTable, logs::KinetoTrace>;

/// The arguments of `stepwright fit`.
struct FitRequest {
  std::vector<std::string> files;
  std::vector<SampleFile> samples;  ///< Content of each file in `files`.
  std::string output;
  std::string device;   ///< Device of operator samples whose table does not name it.
  std::string name;     ///< Name of the profile; empty: the name of the output file.
  std::string machine;  ///< Machine of collective samples whose table does not name it.
  /// Plan file of the job whose traces `files` are; empty: the files are samples.
  std::string plan;
  bool json = false;
};

/// Fits operator (or collective) samples, writes the profile and prints its error. Both functions
/// fail with `kInput` if a table has other samples, or if no fit can be used.
void fit_operator_tables(const FitRequest& request, const Console& console);
void fit_collective_tables(const FitRequest& request, const Console& console);
/// Fits a measured profile to the tables that `stepwright sample` wrote, writes it and prints its
/// error.
void fit_measured_tables(const FitRequest& request, const Console& console);

/// Fits a measured profile to profiler traces of a job that ran the plan `FitRequest::plan`.
void fit_step_traces(const FitRequest& request, const Console& console);

/// Writes a fit as a measured profile, and prints `heading` and a line for each fitted law.
void write_measured_profile(const fit::ClusterFit& fit, const FitRequest& request,
                            const std::string& heading, const Console& console);

/// True if an output names a folder of profiles, which is created if it does not exist.
bool is_profile_folder(const std::string& output);

/// Returns the names of the request's files, without folders.
std::vector<std::string> source_names(const FitRequest& request);

}  // namespace stepwright::cli
