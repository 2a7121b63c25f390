#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/given_file.h"
#include "stepwright/answers/planned_diagnosis.h"
#include "stepwright/diagnose/diagnosis.h"

namespace stepwright::answers {

/// The diagnosis of a job, with its plan where that was given.
struct DiagnosisAnswer {
  diagnose::Diagnosis diagnosis;
  std::optional<PlannedDiagnosis> planned;  ///< nullopt: no file is a plan or starts a job.
};

/// Diagnoses a job from what it left (`diagnose::diagnose`). Files that say what the job is may
/// stand among the others, told apart by their content (`job_file_of`): its plan, what `check`
/// reads, or its job, of which the cluster counts. `cluster`: what it ran on, where no file says
/// it; a profile, PROFILE:NODES or a file. Fails with `kInput` where files contradict each other,
/// or where no file is one that a job leaves.
DiagnosisAnswer answer_diagnosis(const std::vector<GivenFile>& files,
                                 const std::string& cluster = "");

/// The row of the run for `tune --runs` (docs/formats.md, Own runs), as the next line of a table
/// whose text is `table`; `name` stands for the table in messages. Fails with `kInput` without a
/// plan, where the logs say neither a step nor a device without memory, and as
/// `validate::row_line`.
std::string run_row(const DiagnosisAnswer& answer, const std::string& table,
                    const std::string& name);

/// The document of `diagnose --json` (docs/formats.md).
nlohmann::ordered_json diagnosis_answer_json(const DiagnosisAnswer& answer);

/// The page of `diagnose --report`.
std::string diagnosis_report(const DiagnosisAnswer& answer);

}  // namespace stepwright::answers
