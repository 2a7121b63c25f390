#pragma once

#include <string>
#include <variant>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/core/csv.h"
#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::cli {

/// Content of a file of measurements: a table, or a trace exported by the PyTorch profiler.
using SampleFile = std::variant<CsvTable, logs::KinetoTrace>;

/// Arguments of `stepwright fit`, which fits profiles to measurements.
struct ProfileFitRequest {
  std::vector<std::string> files;
  /// Content of each file of measurements in `files`, in the same order.
  std::vector<SampleFile> samples;
  std::string output;
  /// Device that operator samples were measured on, for tables that do not name it.
  std::string device;
  std::string name;  ///< Name of the profile to write; empty: the name of the output file.
  /// Machine that collective samples were measured on, for tables that do not name it.
  std::string machine;
  /// If `files` are profiler traces, the plan file of the traced job; empty: they are tables.
  std::string plan;
  bool json = false;
};

/// Fits a device profile to operator samples, writes it and prints its error;
/// `fit_collective_sample_tables` fits a machine's collective constants to collective samples. Both
/// fail with `kInput` if a table has other samples, or if no fit can be used.
void fit_operator_sample_tables(const ProfileFitRequest& request, const Console& console);
void fit_collective_sample_tables(const ProfileFitRequest& request, const Console& console);
/// Fits a measured profile of this machine to the tables that `stepwright sample` wrote, writes the
/// profile and prints its error.
void fit_measured_sample_tables(const ProfileFitRequest& request, const Console& console);

/// Fits a measured profile to profiler traces of a job that ran the plan in
/// `ProfileFitRequest::plan`, writes the profile and prints its error.
void fit_profile_to_step_traces(const ProfileFitRequest& request, const Console& console);

/// Writes a fit as a measured profile to the output file, and prints `heading` and a line for each
/// fitted law.
void write_measured_profile(const fit::OwnClusterFit& fit, const ProfileFitRequest& request,
                            const std::string& heading, const Console& console);

/// True if an output path names a folder for profiles. It does if it ends in '/' or the folder
/// exists.
bool is_profile_folder(const std::string& output);

/// Returns the names of the request's input files, without folders.
std::vector<std::string> profile_fit_input_file_names(const ProfileFitRequest& request);

}  // namespace stepwright::cli
