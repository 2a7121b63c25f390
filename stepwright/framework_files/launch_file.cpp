#include "stepwright/framework_files/launch_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/text_check.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/telling_names.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/methods.h"
#include "stepwright/framework_files/read_back.h"
#include "stepwright/launch_scripts/capture_advice.h"
#include "stepwright/launch_scripts/carriers.h"
#include "stepwright/launch_scripts/python/command_start.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/file_words.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/frameworks/release.h"
#include "stepwright/plan/frameworks/runnable_attention.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::framework_files {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::size_t kLargestLog = std::size_t{64} << 20;

const LaunchTarget& target_of(std::string_view word) {
  const auto targets = launch_targets();
  const auto found =
      std::ranges::find(targets, plan::file_word_of_framework(word), &LaunchTarget::word);
  if (found == targets.end())
    fail_input(fmt::format("there is no target '{}'", one_line_printable_text(word)));
  return *found;
}

/// Fails if a file is a Python program that starts commands. `started` is the file that a person
/// starts.
void refuse_command_start(const SourceFile& file, std::string_view started) {
  if (!file.name.ends_with(".py")) return;
  if (const auto start = launch_scripts::first_python_command_start(file)) {
    fail_unsupported(
        fmt::format("{}:{}: {} starts a command, which reading alone does not follow{}", file.name,
                    start->line, one_line_printable_text(start->call),
                    launch_scripts::started_command_capture_advice(start->call, started)));
  }
}

/// Fails if a file is a Python program that has a service run another program.
void refuse_hosted_program(const SourceFile& file) {
  const auto service = hosting_service(file);
  if (!service) return;
  fail_unsupported(fmt::format(
      "{}: has {} run a command, which reading alone does not follow: write the command that runs "
      "there into a script, and give that script with the files that it names",
      file.name, *service));
}

/// Advice for jobs of frameworks that are not read.
constexpr std::string_view kDescribeJob = "describe its job by hand (stepwright init)";

/// Returns the framework of a command that cannot be read, by the names of the command's words, or
/// by the configurations that were given with it; nullopt if none is known.
std::optional<std::string> unread_owner(const TrainingCommandCandidate& look, Sources files) {
  if (auto owner = unreadable_framework_of_program(look.program)) return owner;
  if (auto word = find_unsupported_program_word(look.words)) return std::move(word->second);
  for (const SourceFile& file : files) {
    if (is_shell_script(file) || file.name.ends_with(".py")) continue;
    if (auto owner = unread_file(file)) return owner;
  }
  return std::nullopt;
}

[[noreturn]] void fail_unread(const SourceFile& script, const TrainingCommandCandidate& look,
                              Sources files) {
  std::optional<std::string> owner = unread_owner(look, files);
  for (const SourceFile& file : files) {
    if (last_path_part(file.name) != last_path_part(look.program)) continue;
    refuse_command_start(file, script.name);
    if (!owner) owner = unread_file(file);
  }
  std::string program = look.program;
  if (const auto word = find_unsupported_program_word(look.words); word && program.empty())
    program = word->first;
  const bool own = !owner && program.ends_with(".py");
  std::string advice =
      own ? fmt::format("where it makes TrainingArguments itself, give {}, too; else ",
                        one_line_printable_text(last_path_part(program)))
          : "";
  if (look.takes_script_arguments) {
    advice.insert(0,
                  "some of its arguments are the script's, of which --set 1=VALUE is the first; ");
  }
  fail_unsupported(fmt::format(
      "{}: starts {}{} in {}, which is of no framework that is read: {}; {}{}", script.name,
      one_line_printable_text(program), owner ? fmt::format(" (of {})", *owner) : "", look.place,
      fmt::join(import_target_names(), ", "), advice, kDescribeJob));
}

/// True if the files given with a script show that it belongs to another target
/// (`LaunchTargetDescription::file_decides`).
bool is_denied(const LaunchTarget& target, Sources files) {
  if (!target.data->file_decides) return false;
  bool others = false;
  for (const SourceFile& file : files) {
    if (is_shell_script(file)) continue;
    if (is_target_file(target, file)) return false;
    others = true;
  }
  return others;
}

/// Returns the target (framework) whose program a command starts, unless the given files rule it
/// out; null if there is none. Targets with a lower `LaunchTargetDescription::order` are preferred.
const LaunchTarget* target_of(Words words, Sources files) {
  const LaunchTarget* found = nullptr;
  for (const LaunchTarget& target : launch_targets()) {
    const bool earlier = found == nullptr || target.data->order < found->data->order;
    if (earlier && command_starts_target_program(target, words) && !is_denied(target, files))
      found = &target;
  }
  return found;
}

/// False if a command may start a program that does not train, such as data preparation, which
/// takes configurations, too.
bool is_sure(const LaunchTarget& target, const TrainingCommandCandidate& look) {
  if (is_data_preparation_program(look.program)) return false;
  return !target.data->unsure_starts || command_matches_target_rules(target.word, look.words);
}

/// Returns the target (framework) whose program a script starts; `likely` are the targets that the
/// script's text suggests. Fails if the program is of no framework that is read.
const LaunchTarget& started_target(Sources files, const UserFacts& given,
                                   const std::vector<const LaunchTarget*>& likely) {
  std::vector<SourceFile> scripts;
  for (const SourceFile& file : files) {
    if (is_shell_script(file)) scripts.push_back(file);
  }
  const TrainingCommandCandidate* unread = nullptr;
  const std::vector<TrainingCommandCandidate> looks = find_training_commands(scripts, given);
  const LaunchTarget* unsure = nullptr;
  for (const TrainingCommandCandidate& look : looks) {
    const LaunchTarget* target = target_of(look.words, files);
    const bool agrees = likely.empty() || std::ranges::find(likely, target) != likely.end();
    if (target != nullptr && agrees && is_sure(*target, look)) return *target;
    // The arguments look like a known trainer's, but the program is one that no reader supports.
    const bool others =
        target != nullptr && agrees && !command_matches_target_rules(target->word, look.words);
    if (others && unread_owner(look, files)) fail_unread(scripts.front(), look, files);
    if (target != nullptr && agrees && unsure == nullptr) unsure = target;
    const bool named = !look.program.empty() || find_unsupported_program_word(look.words);
    if (unread == nullptr && named) unread = &look;
  }
  if (unsure != nullptr) return *unsure;
  if (!likely.empty()) return *likely.front();
  if (unread != nullptr) fail_unread(scripts.front(), *unread, files);
  // An undetermined condition can hide the command, or a script that runs others, which the message
  // then names.
  const std::string all = fmt::format("{}", fmt::join(import_target_names(), ", "));
  const StartedProgramRule any{
      .framework = "any framework that is read",
      .arguments = all,
      .starts = [&](Words words) { return target_of(words, files) != nullptr; },
      .has_argument = is_name_value_argument};
  ImportReport report;
  const StartedCommand command = find_started_command(scripts, given, any, report);
  std::vector<ShellWord> words = command.launchers;
  words.insert(words.end(), command.words.begin(), command.words.end());
  const LaunchTarget* target = target_of(words, files);
  if (target == nullptr) fail_input(fmt::format("{}: starts no training", files.front().name));
  return *target;
}

/// Returns the target of a Python program that was given with a script that names it; null if there
/// is none.
const LaunchTarget* target_of_program(Sources files) {
  for (const SourceFile& file : files.subspan(1)) {
    if (!file.name.ends_with(".py") ||
        !file_contains_text(files.front(), last_path_part(file.name)))
      continue;
    for (const LaunchTarget& target : launch_targets()) {
      const bool programs = target.data->python_files && target.recognises != nullptr;
      if (programs && target.recognises(file)) return &target;
    }
  }
  return nullptr;
}

/// Returns the target that the files belong to: the first one that their contents show. A script
/// belongs to a target whose program it may start, whatever files it writes.
const LaunchTarget& recognised(Sources files, const UserFacts& given) {
  const bool started = is_shell_script(files.front());
  const LaunchTarget* program = started ? target_of_program(files) : nullptr;
  if (program != nullptr) return *program;
  for (const SourceFile& file : files) {
    const bool script = is_shell_script(file);
    std::vector<const LaunchTarget*> likely;
    for (const LaunchTarget& target : launch_targets()) {
      const bool may =
          !script || (can_recognise_target_command(target) && !is_denied(target, files));
      if (may && is_target_file(target, file)) likely.push_back(&target);
    }
    // Comments of a Python program can contain other frameworks' words.
    const auto is_python = [](const LaunchTarget* one) { return one->data->python_files; };
    if (file.name.ends_with(".py") && std::ranges::any_of(likely, is_python)) {
      std::erase_if(likely, std::not_fn(is_python));
    }
    if (likely.size() == 1 || (!script && !likely.empty())) return *likely.front();
    if (script && (started || !likely.empty())) return started_target(files, given, likely);
  }
  const SourceFile& first = files.front();
  if (const auto owner = unread_file(first)) {
    fail_unsupported(fmt::format("{}: a {} of {}, which is of no framework that is read: {}; {}",
                                 first.name,
                                 first.name.ends_with(".py") ? "program" : "configuration", *owner,
                                 fmt::join(import_target_names(), ", "), kDescribeJob));
  }
  fail_input(fmt::format("{}: its content does not show the framework: state it with --from {}",
                         files.front().name, fmt::join(import_target_names(), "|")));
}

std::vector<std::string> target_words(bool (*is)(const LaunchTarget&)) {
  std::vector<std::string> words;
  for (const LaunchTarget& target : launch_targets()) {
    if (is(target)) words.emplace_back(target.word);
  }
  return words;
}

/// True if a variant of a framework has files of its own, and so is a separate target.
bool is_of_target(std::string_view variant) {
  return std::ranges::find(launch_targets(), variant, &LaunchTarget::variant) !=
         launch_targets().end();
}

/// Returns the framework for which a target writes: the job's if the target writes for it, else the
/// target's own, in the requested release.
plan::TrainingFramework framework_for(const LaunchTarget& target, const plan::Job& job,
                                      const std::string& release) {
  plan::TrainingFramework framework = job.framework;
  if (!can_framework_run_target(target, framework.name)) {
    framework = {.name = std::string(target.framework), .version = ""};
  }
  if (!target.variant.empty() || is_of_target(framework.variant)) {
    framework.variant = target.variant;
  }
  if (!release.empty()) framework.version = release;
  return framework;
}

/// Sets the framework's variant to the program that the target's files start, if the framework has
/// such a variant and the reader has set no other.
void take_variant(const LaunchTarget& target, plan::TrainingFramework& framework) {
  if (!framework.variant.empty()) return;
  const std::vector<std::string_view> known = plan::framework_variant_names(framework.name);
  if (std::ranges::find(known, target.variant) != known.end()) framework.variant = target.variant;
}

std::string nearest_text(const plan::TrainingFramework& framework,
                         const plan::PlannedJob& planned) {
  const auto nearest = plan::nearest_runnable_plan(framework, planned.job, planned.plan);
  if (!nearest) return "it runs no similar plan";
  return fmt::format(
      "the nearest plan that it can run has {}",
      plan::differing_choices_text(plan::canonical_plan(planned.plan, planned.job), *nearest));
}

/// Selects the framework's default attention kernel if it does not run the plan with the requested
/// one.
void settle_attention(plan::PlannedJob& planned, std::vector<std::string>& notes) {
  plan::Job& job = planned.job;
  const cluster::AttentionKernel kernel = plan::runnable_attention_kernel(job, planned.plan);
  if (kernel == job.kernels.attention) return;
  notes.push_back(fmt::format(
      "The file uses attention {}, not {}, with which {} does not run this plan.",
      name_of(cluster::kAttentionKernelNames, kernel),
      name_of(cluster::kAttentionKernelNames, job.kernels.attention), job.framework.name));
  job.kernels.attention = kernel;
}

/// Changes the plan to the nearest one that the framework runs, or fails.
void settle_runs(const plan::TrainingFramework& framework, plan::PlannedJob& planned,
                 bool take_nearest, std::vector<std::string>& notes) {
  const std::vector<std::string> reasons = framework_refusal_reasons(framework, planned);
  if (reasons.empty()) return;
  const auto nearest = plan::nearest_runnable_plan(framework, planned.job, planned.plan);
  if (!take_nearest || !nearest) {
    fail_unsupported(fmt::format("{}; {}{}", fmt::join(reasons, "; "),
                                 nearest_text(framework, planned),
                                 nearest ? ": --nearest writes this plan" : ""));
  }
  notes.push_back(fmt::format(
      "The nearest plan that {} runs was written; it has {}.",
      framework.variant.empty() ? framework.name : framework.variant,
      plan::differing_choices_text(plan::canonical_plan(planned.plan, planned.job), *nearest)));
  planned.plan = *nearest;
}

/// Returns the position of an error; for an error without one, the plan's file.
InputErrorPlace placed(const Error& error, std::string_view plan_file) {
  InputErrorPlace place = error.place();
  if (place.file.empty()) place.file = plan_file;
  return place;
}

/// Fails if NCCL's environment cannot express the plan's algorithms, or leaves them to NCCL. Adds
/// notes for variables that a file cannot set.
void settle_environment(const LaunchTarget& target, plan::PlannedJob& planned, bool take_nearest,
                        std::vector<std::string>& notes) {
  std::vector<EnvironmentSetting> settings;
  try {
    settings = needed_environment_settings(planned);
  } catch (const Error&) {
    if (!take_nearest) throw;
    planned.plan.collectives = {};
    settings = needed_environment_settings(planned);
    notes.push_back(
        "Collectives are left to the library, because the environment cannot express the plan's.");
  }
  if (target.data->sets_environment) return;
  for (const auto& [name, value, reason] : settings) {
    notes.push_back(value.empty() ? fmt::format("{} must not be set: {}.", name, reason)
                                  : fmt::format("Set {}={}: {}.", name, value, reason));
  }
}

std::vector<std::string> header_of(const LaunchTarget& target, const plan::PlannedJob& planned,
                                   const std::vector<std::string>& notes) {
  std::vector<std::string> lines = {
      fmt::format("{}, written by stepwright", target.data->about),
      fmt::format("checked against: {}", target.data->checked),
      fmt::format("assumes: {}", target.data->assumes),
      fmt::format("model: {}, on {} x {} {}", planned.job.model_name, planned.job.cluster.nodes,
                  planned.job.cluster.devices_per_node, planned.job.cluster.device.name)};
  for (const std::string& note : notes) lines.push_back(fmt::format("note: {}", note));
  return lines;
}

}  // namespace

std::vector<std::string> export_target_names() {
  return target_words([](const LaunchTarget& target) { return target.write != nullptr; });
}

std::vector<std::string> import_target_names() {
  return target_words([](const LaunchTarget& target) { return target.read != nullptr; });
}

plan::TrainingFramework framework_of_export_target(std::string_view word,
                                                   const std::string& release) {
  const LaunchTarget& target = target_of(word);
  if (!release.empty()) {
    const std::string fault = plan::invalid_release_reason(release);
    if (!fault.empty()) fail_input("--release: " + fault);
  }
  if (target.framework.empty()) return {};
  return {.name = std::string(target.framework),
          .version = release,
          .variant = std::string(target.variant)};
}

plan::TrainingFramework framework_for_exported_job(std::string_view word, const plan::Job& job) {
  return framework_for(target_of(word), job, "");
}

LaunchFile export_plan(std::string_view word, plan::PlannedJob planned, const std::string& release,
                       bool nearest, std::string_view where) try {
  const LaunchTarget& target = target_of(word);
  if (!release.empty() && target.framework.empty() && planned.job.framework.name.empty()) {
    fail_input(fmt::format("--release: {} starts any framework, and the job names none", word));
  }
  planned.job.framework = framework_for(target, planned.job, release);
  LaunchFile file;
  check_training_method_supported(target, planned.job, file.notes);
  const bool narrow = planned.job.kernels.masters == plan::MasterWeights::kNone;
  planned.job.kernels = plan::configured_kernels(planned.job);
  const bool widened = narrow && planned.job.kernels.masters != plan::MasterWeights::kNone;
  if (widened) {
    file.notes.emplace_back(
        "The file cannot express that updates compute in 16 bits (`kernels.masters: none`): the "
        "framework uses fp32.");
  }
  const cluster::AttentionKernel attention = planned.job.kernels.attention;
  settle_attention(planned, file.notes);
  settle_runs(planned.job.framework, planned, nearest, file.notes);
  planned.plan = plan::canonical_plan(planned.plan, planned.job);
  settle_environment(target, planned, nearest, file.notes);
  if (target.read != nullptr) {
    const bool alike = write_and_read_back_plan(target, planned, nearest, file.notes);
    file.as_it_is = alike && !widened && planned.job.kernels.attention == attention;
    const std::vector<std::string> reasons =
        framework_refusal_reasons(planned.job.framework, planned);
    if (!reasons.empty()) {
      fail_unsupported(
          fmt::format("{}: its files cannot express this plan, and it does not run the nearest: {}",
                      target.word, fmt::join(reasons, "; ")));
    }
  }
  file.started = planned;
  if (const std::string lack = target.lacks ? target.lacks(planned) : ""; !lack.empty()) {
    file.notes.push_back(lack + ".");
    file.as_it_is = false;
  }
  file.text = target.write(planned, header_of(target, planned, file.notes));
  file.notes.insert(file.notes.begin(),
                    {fmt::format("The file was checked against {}.", target.data->checked),
                     fmt::format("The file assumes {}.", target.data->assumes)});
  return file;
} catch (const Error& error) {
  throw Error(error.kind(), fmt::format("{}: {}", where, error.what()), placed(error, where));
}

namespace {

/// Rethrows an error; if it is about a value that a script does not set, adds the option that
/// states the value, and the scripts that were not given and can set it.
[[noreturn]] void fail_with_open_value(const Error& error, const ImportReport& report) {
  for (const auto& [value, how] : report.open_values) {
    if (value.empty() || value != error.place().value) continue;
    std::string missing;
    for (const auto& [path, place] : report.missing) {
      missing += fmt::format("{}{} in {}", missing.empty() ? "" : ", ", path, place);
    }
    if (!missing.empty()) missing = fmt::format(" (or give the script that sets it: {})", missing);
    throw Error(error.kind(),
                fmt::format("{}; the script does not set it: {}{}", error.what(), how, missing),
                error.place());
  }
  throw error;  // The error continues unchanged.
}

/// Reads files as a target does, and then the environment variables that its reader did not read.
PlanDraft read_target(const LaunchTarget& target, Sources files, const UserFacts& given,
                      ImportReport& report) try {
  PlanDraft draft;
  draft.framework.name = target.framework;
  draft = target.read(files, given, std::move(draft), report);
  const StartedTrainingProgram& start = draft.start;
  if (!start.environment.empty()) {
    read_environment_settings(
        {.file = start.source, .launchers = start.launchers, .environment = start.environment},
        draft, draft.extent, report);
  }
  return draft;
} catch (const UnsetValueError&) {
  throw;
} catch (const Error& error) {
  fail_with_open_value(error, report);
}

/// True if a Python file is itself a configuration, not a program that starts a command.
bool is_python_form(std::string_view word, const SourceFile& file) {
  return std::ranges::any_of(launch_targets(), [&](const LaunchTarget& target) {
    return target.data->python_files && (word == target.word || is_target_file(target, file));
  });
}

/// True if a file name is not one of a script, program or configuration, whose lines are read one
/// by one.
bool is_log_name(const std::filesystem::path& path) {
  static constexpr std::string_view kRead[] = {".sh",   ".bash", ".slurm", ".sbatch", ".py",
                                               ".yaml", ".yml",  ".json",  ".toml"};
  return std::ranges::find(kRead, path.extension().string()) == std::end(kRead);
}

/// Fails for a file above 1 MiB unless it is a log of a framework whose large logs are read.
void check_large_log(const SourceFile& file) {
  std::vector<std::string_view> programs;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.data->large_logs.empty()) continue;
    if (target.recognises != nullptr && target.recognises(file)) return;
    programs.emplace_back(target.data->large_logs);
  }
  fail_input(fmt::format("{}: is larger than 1 MiB, and no log of {}", file.name,
                         fmt::join(programs, ", ")));
}

}  // namespace

namespace {

/// Fails if the user gave `--function` or `--command`, and no file has Python functions or is a
/// shell script.
void refuse_unused(const LaunchTarget& target, std::span<const SourceFile> files,
                   const UserFacts& given) {
  const std::string& name = files.front().name;
  const auto is_python = [](const SourceFile& file) {
    return file.name.ends_with(".py") || file.text.find("def ") != std::string::npos;
  };
  if (!given.function.empty() &&
      !(target.data->functions && std::ranges::any_of(files, is_python))) {
    fail_input(fmt::format(
        "--function: is only for files of Python whose functions make a configuration (torchtitan, "
        "bridge); {} is none",
        name));
  }
  if (given.command && std::ranges::none_of(files, launch_scripts::is_shell_script)) {
    fail_input(
        fmt::format("--command: is only for a script that starts several; {} is none", name));
  }
}

/// Fails for a refused plan; if the number of training devices is unknown, the message says so
/// first.
[[noreturn]] void fail_refused_import(const plan::PlanRejection& refused,
                                      const JobRankCounts& extent, const std::string& name) {
  if (extent.given_extent || extent.open_extents.empty()) plan::fail_rejected_plan(refused, name);
  try {
    plan::fail_rejected_plan(refused, name);
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("{}: {}; on one assumed number of devices the plan is refused: {}",
                            name, unknown_device_count_message(extent), error.what()),
                error.place());
  }
}

/// Adds a note for each key that occurs twice in a configuration, where programs read the last one.
void note_repeated_keys(std::span<const SourceFile> sources, ImportReport& report) {
  for (const SourceFile& file : sources) {
    const bool read =
        file.name.ends_with(".yaml") || file.name.ends_with(".yml") || file.name.ends_with(".json");
    if (!read || launch_scripts::is_shell_script(file)) continue;
    std::vector<RepeatedKey> repeated;
    try {
      parse_like_python_yaml(file.text, file.name, &repeated);
    } catch (const Error&) {
      continue;
    }
    for (const RepeatedKey& one : repeated) {
      report.notes.push_back(fmt::format("{}: the key {} is in lines {} and {}: the last counts.",
                                         file.name, one_line_printable_text(one.key),
                                         one.first_line, one.line));
    }
  }
}

/// Reads files as those of a target. If the user named the target and nothing in the files belongs
/// to it, an error says so, too.
ImportedPlan import_as(const LaunchTarget& target, std::span<const SourceFile> sources,
                       const UserFacts& given, bool as_it_is) {
  refuse_unused(target, sources, given);
  ImportReport report;
  const UserFacts full = with_named_model_loaded(given);
  PlanDraft draft = read_target(target, sources, full, report);
  const JobRankCounts extent = draft.extent;
  const std::optional<plan::PlanRejection> refusal = draft.refused;
  // The variant is needed before defaults, some of which belong to one variant only.
  take_variant(target, draft.framework);
  note_repeated_keys(sources, report);
  const std::string& name = sources.front().name;
  ImportedPlan imported{
      .target = std::string(target.word),
      .planned = stated_plan_without_legality_check(std::move(draft), report, full, name),
      .report = {},
      .refused = {}};
  imported.refused = find_start_rejection(refusal, imported.planned);
  if (imported.refused && !as_it_is) fail_refused_import(*imported.refused, extent, name);
  if (!imported.refused)
    imported.planned = plan_with_effective_choices(std::move(imported.planned));
  imported.report = std::move(report);
  mark_suspicious_settings(imported.report);
  complete_import_report(imported.planned, imported.report);
  return imported;
}

/// Returns an error with the addition that nothing in the files belongs to the target that the user
/// named.
Error with_doubt(const Error& error, const LaunchTarget& target, const SourceFile& file) {
  const auto owner = unread_file(file);
  return {
      error.kind(),
      fmt::format(
          "{}; nothing in {} shows that it is a file of {}: {}", error.what(), file.name,
          target.word,
          owner ? fmt::format("it is a configuration of {}, which Stepwright does not read", *owner)
                : "without --from the content decides which framework's file it is"),
      error.place()};
}

}  // namespace

std::vector<std::string> framework_refusal_reasons(const plan::TrainingFramework& framework,
                                                   const plan::PlannedJob& planned) {
  std::vector<std::string> reasons;
  if (framework.name.empty()) return reasons;
  for (const plan::UnsupportedChoice& what :
       plan::choices_unsupported_by_framework(framework, planned.job, planned.plan)) {
    // Each framework has attention kernels of its own; the kernel is compared when the file is read
    // back.
    if (what.ability != plan::FrameworkProperty::kAttention) reasons.push_back(what.message);
  }
  return reasons;
}

ImportedPlan import_plan_files(std::string_view word, std::span<const SourceFile> files,
                               const UserFacts& given, bool as_it_is) {
  std::vector<SourceFile> sources;
  for (const SourceFile& file : files) {
    auto script = launch_scripts::shell_script_of_scheduler_job_file(file);
    std::vector<SourceFile> inside = launch_scripts::config_map_files(file);
    if (script || inside.empty()) sources.push_back(script ? std::move(*script) : file);
    std::ranges::move(inside, std::back_inserter(sources));
  }
  if (!is_python_form(word, sources.front())) {
    refuse_hosted_program(sources.front());
    refuse_command_start(sources.front(), sources.front().name);
  }
  const LaunchTarget& target = word.empty() ? recognised(sources, given) : target_of(word);
  const auto marked = [&](const auto& file) { return is_target_file(target, file); };
  const bool script = launch_scripts::is_shell_script(sources.front());
  if (word.empty() || script || std::ranges::any_of(sources, marked)) {
    return import_as(target, sources, given, as_it_is);
  }
  try {
    return import_as(target, sources, given, as_it_is);
  } catch (const Error& error) {
    throw with_doubt(error, target, sources.front());
  }
}

std::string read_text_file(const std::filesystem::path& path) {
  SourceFile file{path.string(), read_file_or_standard_input(path, kLargestLog)};
  if (file.text.empty()) fail_input(fmt::format("{}: is empty", file.name));
  // Logs contain carriage returns for progress bars.
  is_log_name(path) ? check_utf8(file.text, file.name) : check_file_text(file.text, file.name);
  if (file.text.size() > kLargestFile) check_large_log(file);
  return std::move(file.text);
}

}  // namespace stepwright::framework_files
