#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/given_file.h"
#include "stepwright/answers/planned_diagnosis.h"
#include "stepwright/diagnose/diagnosis.h"

namespace stepwright::answers {

/// The result of the command `diagnose`: the diagnosis of a job, with its prediction if the files
/// contain a plan.
struct JobDiagnosisAnswer {
  diagnose::Diagnosis diagnosis;
  /// Prediction of the job's plan beside the measurements; nullopt: no file is a plan or a launch
  /// script.
  std::optional<PredictionAndMeasurements> planned;
};

/// Diagnoses a job from the files that it left (logs, dumps, traces, snapshots). `files` may also
/// hold the job's plan or launch files, which are recognised by content. `cluster`: the cluster
/// used if no file states one, as a profile, PROFILE:NODES or a file. Fails with `kInput` if files
/// contradict each other, or if none was left by a job.
JobDiagnosisAnswer diagnose_job_files(const std::vector<UserFile>& files,
                                      const std::string& cluster = "");

/// Returns the diagnosed run as the next line of a CSV table for `tune --runs` (docs/formats.md,
/// Own runs). `table`: text of the table so far; `name`: name of the table in messages. Fails with
/// `kInput` if there is no plan, or if the logs show neither a step time nor an out-of-memory.
std::string measured_run_row(const JobDiagnosisAnswer& answer, const std::string& table,
                             const std::string& name);

/// Returns the JSON document that `diagnose --json` prints (docs/formats.md).
nlohmann::ordered_json diagnosis_answer_json(const JobDiagnosisAnswer& answer);

/// Returns the HTML page that `diagnose --report` writes.
std::string diagnosis_report(const JobDiagnosisAnswer& answer);

}  // namespace stepwright::answers
