#include "stepwright/answers/diagnosis_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "stepwright/answers/imported_files.h"
#include "stepwright/answers/job_file.h"
#include "stepwright/answers/report_text.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/diagnose/diagnose.h"
#include "stepwright/diagnose/diagnose_json.h"
#include "stepwright/diagnose/slow_messages.h"
#include "stepwright/validate/rows/write_row.h"

namespace stepwright::answers {
namespace {

/// The given files, sorted by their role in a diagnosis.
struct SortedFiles {
  std::optional<UserFile> plan;
  std::optional<UserFile> job;
  std::vector<UserFile> launch;  ///< Launch files of a framework.
  std::vector<UserFile> left;    ///< Files that the job left behind.
};

void set_once(std::optional<UserFile>& place, const UserFile& file, std::string_view what) {
  if (place) {
    fail_input(fmt::format("{}: is a second {} in addition to {}; give only one", file.name, what,
                           place->name),
               {.file = file.name});
  }
  place = file;
}

SortedFiles sorted(const std::vector<UserFile>& files) {
  SortedFiles result;
  for (const UserFile& file : files) {
    switch (recognise_user_file_role(file)) {
      case JobFileRole::kPlan: set_once(result.plan, file, "plan"); break;
      case JobFileRole::kJob: set_once(result.job, file, "job"); break;
      case JobFileRole::kLaunch: result.launch.push_back(file); break;
      case JobFileRole::kLeft: result.left.push_back(file); break;
    }
  }
  if (result.left.empty()) {
    fail_input(fmt::format("{}: describes a job; also give what the job left: its logs, or dumps "
                           "of the flight recorder",
                           files.front().name),
               {.file = files.front().name});
  }
  if (result.plan && (result.job || !result.launch.empty())) {
    const std::string& other = result.job ? result.job->name : result.launch.front().name;
    fail_input(fmt::format("{}: is not needed with the plan {}, which describes the whole job; "
                           "give only one of them",
                           other, result.plan->name),
               {.file = other});
  }
  return result;
}

std::string names_of(const std::vector<UserFile>& files) {
  std::vector<std::string> names;
  for (const UserFile& file : files) names.push_back(file.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

plan::PlannedJob imported_job(const SortedFiles& files, const std::string& cluster) {
  ImportRequest request;
  request.files = files.launch;
  request.given.cluster = cluster;
  try {
    return with_resolved_schedule(import_framework_plan(request).planned,
                                  files.launch.front().name);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}\nthese files describe how the job was started: {}; "
                                          "leave them out to diagnose without a prediction",
                                          error.what(), names_of(files.launch)));
  }
}

std::optional<plan::PlannedJob> planned_job(const SortedFiles& files, const std::string& cluster) {
  if (files.plan && !cluster.empty()) {
    fail_input(
        fmt::format("--cluster: the plan {} states the cluster already; leave the option out",
                    files.plan->name));
  }
  if (files.plan) return read_plan_with_resolved_schedule(*files.plan);
  if (files.launch.empty()) return std::nullopt;
  return imported_job(files, cluster);
}

/// Returns the network of the job, if a file or `cluster` names it.
std::optional<diagnose::MessageClusterAndPlan> network_of(
    const SortedFiles& files, const std::optional<plan::PlannedJob>& planned,
    const std::string& cluster) {
  if (planned) return {{.cluster = planned->job.cluster, .plan = planned->plan}};
  if (files.job) return {{.cluster = read_job(*files.job).cluster, .plan = {}}};
  if (cluster.empty()) return std::nullopt;
  const YamlJsonDocument document = YamlJsonDocument::parse(
      fmt::format("cluster: {}", nlohmann::json(cluster).dump()), "--cluster");
  return {{.cluster = cluster::read_job_cluster(document.root().get("cluster"),
                                                std::filesystem::current_path()),
           .plan = {}}};
}

/// Adds findings about messages that are slower than the network's law predicts.
void add_messages(const diagnose::MessageClusterAndPlan& network, diagnose::Diagnosis& diagnosis) {
  std::vector<diagnose::FaultFinding> slow;
  for (const diagnose::MeasuredMessages& measured : diagnosis.messages) {
    std::ranges::move(diagnose::slow_message_findings(measured, network, diagnosis.findings),
                      std::back_inserter(slow));
  }
  std::ranges::move(slow, std::back_inserter(diagnosis.findings));
}

nlohmann::ordered_json planned_json(const PredictionAndMeasurements& planned) {
  const simulate::PlanPrediction& prediction = planned.prediction;
  nlohmann::ordered_json json;
  json["framework"] = prediction.planned.job.framework.name;
  json["step_time_s"] = prediction.step_time_s();
  json["measured_step_time_s"] = nullptr;
  if (planned.measured_s) json["measured_step_time_s"] = *planned.measured_s;
  json["peak_memory_bytes"] = prediction.memory.peak_bytes;
  json["capacity_bytes"] = prediction.memory.capacity_bytes;
  json["remedies"] = check::memory_remedies_json(planned.remedies);
  return json;
}

}  // namespace

JobDiagnosisAnswer diagnose_job_files(const std::vector<UserFile>& files,
                                      const std::string& cluster) {
  const SortedFiles given = sorted(files);
  const std::optional<plan::PlannedJob> planned = planned_job(given, cluster);
  const auto network = network_of(given, planned, cluster);
  std::vector<logs::FileByteReader> opened;
  for (const UserFile& file : given.left) {
    if (file.text) {
      opened.emplace_back(*file.text, file.name);
    } else {
      opened.emplace_back(std::filesystem::path(file.name));
    }
  }
  JobDiagnosisAnswer answer{.diagnosis = diagnose::diagnose_files(opened), .planned = {}};
  if (network) {
    add_messages(*network, answer.diagnosis);
  } else if (!answer.diagnosis.messages.empty()) {
    answer.diagnosis.notes.push_back(
        "The logs have times of messages: with --cluster, a plan or a job, they are compared with "
        "the rates of the network.");
  }
  if (planned) answer.planned = add_plan_prediction(*planned, answer.diagnosis);
  return answer;
}

std::string measured_run_row(const JobDiagnosisAnswer& answer, const std::string& table,
                             const std::string& name) {
  if (!answer.planned) {
    fail_input(
        "--row: needs the plan of the run, or the files that started it, in addition to its logs");
  }
  const auto& events = answer.diagnosis.out_of_memory;
  const bool full =
      std::ranges::find(events, false, &diagnose::OutOfMemoryReport::host) != events.end();
  if (!full && !answer.planned->measured_s) {
    fail_input(
        "--row: no log states how long a step took, or that a device ran out of memory: there is "
        "nothing to record");
  }
  const std::string& file = answer.diagnosis.files.front().path;
  const auto row = validate::run_to_table_row_cells(
      answer.planned->prediction.planned, file, full ? "oom" : "ok",
      full ? std::nullopt : answer.planned->measured_s);
  return validate::table_row_csv_line(row, table, name);
}

nlohmann::ordered_json diagnosis_answer_json(const JobDiagnosisAnswer& answer) {
  nlohmann::ordered_json json = diagnose::diagnosis_json(answer.diagnosis);
  json["plan"] = nullptr;
  if (answer.planned) json["plan"] = planned_json(*answer.planned);
  return json;
}

std::string diagnosis_report(const JobDiagnosisAnswer& answer) {
  const auto& findings = answer.diagnosis.findings;
  return command_report_page("diagnose",
                             findings.empty() ? "Nothing is found" : findings.front().what,
                             diagnosis_answer_json(answer), nlohmann::ordered_json::object());
}

}  // namespace stepwright::answers
