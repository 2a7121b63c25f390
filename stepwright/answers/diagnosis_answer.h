#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/given_file.h"
#include "stepwright/answers/planned_diagnosis.h"
#include "stepwright/diagnose/diagnosis.h"

namespace stepwright::answers {

/// The diagnosis of a job, and its plan if the files contain one.
struct JobDiagnosisAnswer {
  diagnose::Diagnosis diagnosis;
  /// Comparison with the plan; nullopt: no file is a plan or a launch script.
  std::optional<PlannedDiagnosis> planned;
};

/// Diagnoses a job from the files that it left (`diagnose::diagnose`). Files that describe the job
/// may be among them and are recognised by content (`job_file_role`): its plan, files that `check`
/// reads, or its job, of which only the cluster is used. `cluster`: the cluster on which the job
/// ran, if no file has it: a profile, PROFILE:NODES or a file. Fails with `kInput` if files
/// contradict each other, or if no file is one that a job leaves.
JobDiagnosisAnswer diagnose_job_files(const std::vector<UserFile>& files,
                                      const std::string& cluster = "");

/// Returns a row for `tune --runs` about the diagnosed run (docs/formats.md, Own runs), as the next
/// line of a table. `table`: its text so far; `name`: its name in messages. Fails with `kInput`
/// without a plan, if the logs show neither a step time nor a device that ran out of memory, and as
/// `validate::row_line`.
std::string measured_run_row(const JobDiagnosisAnswer& answer, const std::string& table,
                             const std::string& name);

/// Returns the document of `diagnose --json` (docs/formats.md).
nlohmann::ordered_json diagnosis_answer_json(const JobDiagnosisAnswer& answer);

/// Returns the HTML page of `diagnose --report`.
std::string diagnosis_report(const JobDiagnosisAnswer& answer);

}  // namespace stepwright::answers
