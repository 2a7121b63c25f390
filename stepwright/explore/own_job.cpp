#include "stepwright/explore/own_job.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/capture/launch_record.h"
#include "stepwright/capture/record_sources.h"
#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/json_writer.h"
#include "stepwright/core/named.h"
#include "stepwright/core/tree.h"
#include "stepwright/explore/question.h"
#include "stepwright/framework_files/brought_file.h"
#include "stepwright/framework_files/import_json.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/text.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;
using launch_scripts::SourceFile;

using framework_files::UserFileKind;

/// One of the user's files, with its recognised kind.
struct OwnFile {
  UserFileKind kind{};
  SourceFile source;
};

bool says_model_type(DocumentNode root) {
  return root.find("model_type") || root.find("text_config");
}

/// Returns the kind of a file. Unrecognised files are given to the readers of launch files, which
/// report them.
UserFileKind kind_of(const SourceFile& file) {
  const UserFileKind kind = framework_files::user_file_kind(file);
  const bool launch = kind == UserFileKind::kOther || kind == UserFileKind::kRecord;
  return launch ? UserFileKind::kLaunch : kind;
}

std::vector<OwnFile> read_files(const Json& question) {
  std::vector<OwnFile> files;
  for (const Json& file : question.value("files", Json::array())) {
    SourceFile source{file.at("name"), file.at("text")};
    if (source.text.empty()) fail_input(fmt::format("{}: is empty", source.name));
    const UserFileKind kind = kind_of(source);
    files.push_back({kind, std::move(source)});
  }
  return files;
}

/// Returns the only file of a kind; null: none. Fails if there are several.
const SourceFile* only(const std::vector<OwnFile>& files, UserFileKind kind) {
  const SourceFile* found = nullptr;
  for (const OwnFile& file : files) {
    if (file.kind != kind) continue;
    if (found != nullptr) {
      fail_input(fmt::format("{}: is a second {} in addition to {}; give only one",
                             file.source.name, name_of(framework_files::kUserFileKindNames, kind),
                             found->name));
    }
    found = &file.source;
  }
  return found;
}

/// Returns a file of the planner without its first line, in the form that it has inside a job.
Json inner_mapping(const YamlJsonDocument& document) {
  Json mapping = json_from_tree(document.root().copy_tree());
  mapping.erase("stepwright");
  return mapping;
}

/// Returns a file's model in the form that it has inside a job, and adds the reader's notes.
Json model_mapping(const SourceFile& file, std::vector<std::string>& notes) {
  const YamlJsonDocument document = YamlJsonDocument::parse(file.text, file.name);
  if (!says_model_type(document.root())) return inner_mapping(document);
  return model::inline_model_mapping(model::read_huggingface_config(document, &notes));
}

/// Returns the cluster in the form that it has inside a job: a profile with its number of nodes or
/// devices, or a mapping.
Json cluster_mapping(const Json& given) {
  Json mapping = given.at("cluster");
  if (mapping.is_string()) mapping = {{"profile", mapping}};
  for (const char* extent : {"nodes", "devices"}) {
    if (!given.contains(extent)) continue;
    mapping.erase("nodes");
    mapping.erase("devices");
    mapping[extent] = given.at(extent);
  }
  return mapping;
}

/// Returns the cluster; if its mapping has no number of nodes, with that of the job on the page.
Json with_extent(Json cluster, const Json& beside) {
  if (cluster.contains("nodes") || cluster.contains("devices")) return cluster;
  const Json sight = beside.value("cluster", Json::object());
  cluster["nodes"] = sight.is_object() ? sight.value("nodes", std::int64_t{1}) : std::int64_t{1};
  return cluster;
}

/// Returns a job from a model, a cluster and a batch; absent parts come from the job on the page.
Json composed_job(const Json& given, const Json& beside) {
  Json job = {{"stepwright", "job/2"}};
  job.update(beside);
  job["stepwright"] = "job/2";
  if (given.contains("model")) job["model"] = given.at("model");
  if (given.contains("cluster")) job["cluster"] = with_extent(cluster_mapping(given), beside);
  if (given.contains("batch")) job["batch"].update(given.at("batch"));
  return job;
}

Json model_json(const plan::Job& job) {
  return model::model_list_entry_json(job.model, job.length);
}

/// Describes the model of a job in a sentence.
std::string model_sentence(const plan::Job& job) {
  return fmt::format("{}: {} parameters in {}", job.model_name,
                     format_count(model::count_parameters(job.model)),
                     count_with_noun(job.model.layers, "layer"));
}

Json empty_lists() {
  return {{"read", Json::array()}, {"assumed", Json::array()}, {"not_read", Json::array()}};
}

/// Answers for a model or a cluster that was given as a file or in a form.
Json described(UserFileKind kind, const Json& given, const Json& question,
               std::vector<std::string> notes) {
  const Json job = composed_job(given, question.value("beside", Json::object()));
  const plan::Job read = plan::read_job(YamlJsonDocument::parse(job.dump(), "the job"), {});
  notes.insert(notes.end(), read.notes.begin(), read.notes.end());
  const cluster::Cluster& cluster = read.cluster;
  Json answer = {{"kind", name_of(framework_files::kUserFileKindNames, kind)},
                 {"about", fmt::format("{}, on {} of {} {}", model_sentence(read),
                                       count_with_noun(cluster.nodes, "node"),
                                       cluster.devices_per_node, cluster.device.name)},
                 {"job", job},
                 {"model", model_json(read)}};
  answer.update(empty_lists());
  answer["notes"] = std::move(notes);
  return answer;
}

/// Answers for a job or plan file, which contains everything itself.
Json taken_as_it_is(UserFileKind kind, const SourceFile& file) {
  const YamlJsonDocument document = YamlJsonDocument::parse(file.text, file.name);
  const std::string name(name_of(framework_files::kUserFileKindNames, kind));
  const plan::Job job =
      kind == UserFileKind::kJob ? plan::read_job(document, {}) : plan::read_plan(document, {}).job;
  Json answer = {{"kind", name},
                 {"about", fmt::format("A {} of Stepwright. {}", name, model_sentence(job))},
                 {name, json_from_tree(document.root().copy_tree())},
                 {"model", model_json(job)}};
  answer.update(empty_lists());
  answer["notes"] = job.notes;
  return answer;
}

/// Reads the facts that the user states beside the files of a framework.
framework_files::UserFacts given_beside(const Json& given) {
  framework_files::UserFacts facts;
  if (given.contains("model")) {
    const YamlJsonDocument document =
        YamlJsonDocument::parse(Json{{"model", given.at("model")}}.dump(), "model");
    facts.model = given.at("model").is_string() ? given.at("model").get<std::string>() : "given";
    facts.known_model = model::read_job_model(document.root().get("model"), {});
  }
  if (given.contains("cluster")) {
    const Json& cluster = given.at("cluster");
    const bool word = cluster.is_string();
    facts.cluster = word ? cluster.get<std::string>() : cluster_mapping(given).dump();
    if (word && given.contains("nodes")) facts.nodes = given.at("nodes");
    if (word && given.contains("devices")) facts.devices = given.at("devices");
  }
  if (given.contains("batch")) facts.batch = given.at("batch").dump();
  for (const Json& setting : given.value("settings", Json::array())) {
    facts.settings.push_back(setting);
  }
  facts.function = given.value("function", "");
  if (given.contains("command")) facts.command = given.at("command");
  return facts;
}

/// The user's own job: launch files, and the facts and other files given with them.
struct Brought {
  std::vector<SourceFile> launch;
  Json given = Json::object();
  bool model = false;    ///< True if a file has the model.
  bool cluster = false;  ///< True if a file has the cluster.
  std::vector<std::string> notes;
};

/// Adds a launch file; a record of `stepwright capture` is replaced by its commands and their
/// files.
void add_launch(const SourceFile& file, Brought& brought) {
  if (!capture::is_capture_record(file.text)) return brought.launch.push_back(file);
  std::optional<std::int64_t> command;
  if (brought.given.contains("command")) command = brought.given.at("command");
  brought.given.erase("command");  // It counted commands of the record, which are one script now.
  const capture::ScriptCaptureResult captured = capture::read_capture_record(file.text, file.name);
  for (SourceFile& source : capture::capture_record_as_sources(captured, command, file.name)) {
    brought.launch.push_back(std::move(source));
  }
}

Brought sorted(const std::vector<OwnFile>& files, const Json& question) {
  Brought brought;
  brought.given = question.value("given", Json::object());
  if (const SourceFile* file = only(files, UserFileKind::kModel)) {
    brought.given["model"] = model_mapping(*file, brought.notes);
    if (brought.given.contains("name")) brought.given["model"]["name"] = brought.given["name"];
    brought.model = true;
  }
  if (const SourceFile* file = only(files, UserFileKind::kCluster)) {
    brought.given["cluster"] = inner_mapping(YamlJsonDocument::parse(file->text, file->name));
    brought.cluster = true;
  }
  for (const OwnFile& file : files) {
    if (file.kind == UserFileKind::kLaunch) add_launch(file.source, brought);
  }
  return brought;
}

framework_files::ImportedPlan imported_plan(const Brought& brought) {
  return framework_files::import_plan_files(brought.given.value("source", ""), brought.launch,
                                            given_beside(brought.given), true);
}

/// Answers for files that start a job with a framework.
Json imported_json(const Brought& brought) {
  const framework_files::ImportedPlan plan = imported_plan(brought);
  const auto& data = framework_files::launch_target_description(plan.target);
  Json answer = {{"kind", name_of(framework_files::kUserFileKindNames, UserFileKind::kLaunch)},
                 {"about", fmt::format("{}. {}", data.about, model_sentence(plan.planned.job))},
                 {"model", model_json(plan.planned.job)}};
  answer.update(framework_files::imported_plan_json(plan));
  for (const std::string& note : brought.notes) answer["notes"].push_back(note);
  if (plan.refused) answer["refused"] = plan.refused->message;
  return answer;
}

/// Reads the plan in the `text` of a question, and the rule that it breaks, if any.
framework_files::ImportedPlan stated_plan(const Json& question) {
  framework_files::ImportedPlan stated{
      .target = {}, .planned = plan_of_explorer_question(question), .report = {}, .refused = {}};
  stated.refused = plan::find_plan_rejection(stated.planned.job, stated.planned.plan);
  return stated;
}

Json text_of(const SourceFile& file) { return {{"text", file.text}, {"name", file.name}}; }

}  // namespace

Json job_from_user_files_json(const Json& question) {
  const std::vector<OwnFile> files = read_files(question);
  for (const UserFileKind kind : {UserFileKind::kPlan, UserFileKind::kJob}) {
    if (const SourceFile* file = only(files, kind)) return taken_as_it_is(kind, *file);
  }
  Brought brought = sorted(files, question);
  if (!brought.launch.empty()) return imported_json(brought);
  if (brought.given.empty()) fail_input("there is no file to read");
  const bool cluster_alone = brought.cluster && !brought.model;
  return described(cluster_alone ? UserFileKind::kCluster : UserFileKind::kModel, brought.given,
                   question, std::move(brought.notes));
}

framework_files::ImportedPlan import_explorer_plan(const Json& question) {
  const std::vector<OwnFile> files = read_files(question);
  if (const SourceFile* file = only(files, UserFileKind::kPlan)) return stated_plan(text_of(*file));
  if (files.empty()) return stated_plan(question);
  const Brought brought = sorted(files, question);
  if (brought.launch.empty()) {
    fail_input(fmt::format("{}: contains no plan to check; plan the job first, then check the plan",
                           files.front().source.name));
  }
  return imported_plan(brought);
}

}  // namespace stepwright::explore
