#include "functions.h"

#include <fmt/format.h>

#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "stepwright/answers/check_answer.h"
#include "stepwright/answers/comparison_answer.h"
#include "stepwright/answers/memory_answer.h"
#include "stepwright/answers/output_file.h"
#include "stepwright/answers/own_plan.h"
#include "stepwright/answers/own_runs.h"
#include "stepwright/answers/phases_answer.h"
#include "stepwright/answers/prediction_answer.h"
#include "stepwright/answers/run_answer.h"
#include "stepwright/answers/trace_file.h"
#include "stepwright/answers/traffic_answer.h"
#include "stepwright/answers/tune_answer.h"
#include "stepwright/core/error.h"
#include "stepwright/core/named_file.h"
#include "stepwright/core/output_file.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/run_keys.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/step/program_json.h"

namespace stepwright::python {
namespace {

constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max();

/// A file that a function writes in addition to its answer.
class Output {
 public:
  Output(const Keywords& given, const std::string& argument)
      : file_{argument, given.text(argument)} {}

  [[nodiscard]] bool wanted() const { return !file_.path.empty(); }
  [[nodiscard]] const CommandLineFile& file() const { return file_; }

  /// Writes a content (a text, or a function that writes to a stream) and logs that.
  template <class Content>
  void write(std::string_view what, const Content& content, Reply& reply) const {
    write_file(file_.path, content);
    reply.messages.emplace_back("info", fmt::format("wrote {} to {}", what, file_.path));
  }

 private:
  CommandLineFile file_;
};

/// Checks, before the work starts, that all outputs of a function can be written.
void check_outputs(std::initializer_list<Output> outputs, const CommandLineFile& input) {
  std::vector<CommandLineFile> files;
  for (const Output& output : outputs) files.push_back(output.file());
  for (const CommandLineFile& file : files) check_option_output_writable(file);
  check_distinct_output_files(files, {&input, 1});
}

[[noreturn]] void fail_run(const std::string& message) {
  throw Error(ErrorKind::kRuntime, message);
}

void tune_function(const Keywords& given, const tune::SearchProgressCallback& tell, Reply& reply) {
  const answers::UserFile& file = given.file("job");
  plan::Job job = answers::read_job(file, given.one_of("framework", plan::framework_field_words()));
  given.reserve().replace_memory_margin_of_job(job);
  const Output output(given, "output"), report(given, "report");
  check_outputs({output, report}, {"job", file.name});
  answers::TuneRequest request{
      .name = file.name,
      .options = {.threads = given.threads(), .exhaustive = given.has("exhaustive")},
      .sweep = given.text("sweep"),
      .run = given.training_run(),
      .more_memory = true,
      .job_for =
          [&](const std::string& framework) {
            plan::Job other = answers::read_job(file, framework);
            given.reserve().replace_memory_margin_of_job(other);
            return other;
          },
      .plan_file = given.text("output")};
  if (const auto top = given.whole("top", 1, answers::kMaxRequestedPlans)) {
    request.options.top = static_cast<std::size_t>(*top);
  }
  for (const answers::UserFile& own : given.files("against")) {
    request.own = answers::read_user_plan(own, file.name, job);
  }
  const answers::TuneAnswer answer = answers::answer_tune_command(
      std::move(job), request,
      [&](const answers::TuneAnswerProgress& state) { tell(state.search); });
  if (answer.fault.empty() && output.wanted()) {
    output.write("the best plan", plan::plan_yaml(answer.best_planned_job()), reply);
  }
  if (report.wanted()) {
    report.write("the report", answers::tune_report(answer, request.options.threads), reply);
  }
  reply.text = answers::indented_json_text(answers::tune_answer_json(answer));
  if (!answer.fault.empty()) fail_run(answer.fault);
}

void advise_function(const Keywords& given, const tune::SearchProgressCallback& tell,
                     Reply& reply) {
  const answers::UserFile& file = given.file("job");
  const answers::MeasuredRunsRequest request{
      .name = file.name,
      .runs = given.text("runs"),
      .candidates = given.text("candidates"),
      .next = given.whole("next", 0, answers::kMaxPlansToMeasureNext).value_or(1)};
  const learn::MeasuredRunsVerdict loop = answers::calibrate_and_rank_by_measured_runs(
      answers::read_job(file), request, {.threads = given.threads(), .progress = tell});
  reply.text = answers::indented_json_text(learn::measured_runs_verdict_json(loop));
  if (const std::string fault = answers::no_trainable_plan_reason(loop, request); !fault.empty())
    fail_run(fault);
}

void predict_function(const Keywords& given, const tune::SearchProgressCallback&, Reply& reply) {
  const answers::UserFile& file = given.file("plan");
  const Output trace(given, "trace"), program(given, "program"), report(given, "report");
  check_outputs({trace, program, report}, {"plan", file.name});
  const answers::PredictionAnswer answer = answers::predict_step_time_and_memory(
      answers::read_plan(file), {.name = file.name,
                                 .changes = given.texts("set"),
                                 .run = given.training_run(),
                                 .reserve = given.reserve(),
                                 .timeline = trace.wanted()});
  if (trace.wanted()) {
    const auto write = [&](std::ostream& out) {
      answers::write_predicted_step_trace(answer.prediction, out);
    };
    trace.write("the timeline", write, reply);
  }
  if (program.wanted()) {
    program.write("the program",
                  answers::indented_json_text(step::step_program_json(answer.prediction.program)),
                  reply);
  }
  if (report.wanted()) report.write("the report", answers::prediction_report(answer), reply);
  reply.text = answers::indented_json_text(answers::prediction_answer_json(answer));
}

void run_function(const Keywords& given, const tune::SearchProgressCallback& tell, Reply& reply) {
  const answers::UserFile& file = given.file("plan");
  answers::TrainingRunRequest request{
      .name = file.name,
      .settings = {},
      .reserve = given.reserve(),
      .played = given.whole("simulate", 1, answers::kMaxSimulatedTrainingRuns),
      .search = {.threads = given.threads(), .progress = tell}};
  request.seed = static_cast<std::uint64_t>(given.whole("seed", 0, kMostWhole).value_or(1));
  for (const plan::TrainingRunSettingKey& key : plan::kRunKeys) {
    request.settings.emplace(key.key, given.text(key.key));
  }
  request.settings.emplace(plan::kCheckpointsKey, given.text(plan::kCheckpointsKey));
  const answers::TrainingRunAnswer answer =
      answers::file_contains_plan(file)
          ? answers::predict_whole_run(answers::read_plan_with_resolved_schedule(file), request)
          : answers::answer_job_run(answers::read_job(file), request);
  reply.text = answers::indented_json_text(answers::whole_run_answer_json(answer));
}

void phases_function(const Keywords& given, const tune::SearchProgressCallback& tell,
                     Reply& reply) {
  const answers::UserFile& file = given.file("plan");
  const answers::StepPhasesRequest request{
      .name = file.name, .reserve = given.reserve(), .threads = given.threads(), .progress = tell};
  const answers::StepPhasesAnswer answer =
      answers::file_contains_plan(file)
          ? answers::predict_step_phases(answers::read_plan_with_resolved_schedule(file), request)
          : answers::find_best_device_split(answers::read_job(file), request);
  reply.text = answers::indented_json_text(answers::step_phases_answer_json(answer));
}

void traffic_function(const Keywords& given, const tune::SearchProgressCallback&, Reply& reply) {
  const answers::UserFile& file = given.file("plan");
  const Output matrix(given, "matrix");
  check_outputs({matrix}, {"plan", file.name});
  const answers::PlanTrafficAnswer answer = answers::list_plan_messages(
      answers::read_plan(file), {.name = file.name,
                                 .changes = given.texts("set"),
                                 .rank = given.whole("rank", -kMostWhole, kMostWhole),
                                 .links = given.has("links")});
  if (matrix.wanted()) {
    const auto write = [&](std::ostream& out) {
      traffic::write_traffic_matrix(out, answer.matrix, answer.rank);
    };
    matrix.write("the matrix", write, reply);
  }
  reply.text = answers::indented_json_text(answers::traffic_answer_json(answer));
}

void memory_function(const Keywords& given, const tune::SearchProgressCallback&, Reply& reply) {
  const answers::UserFile& file = given.file("plan");
  const answers::PlanMemoryAnswer answer = answers::compute_plan_peak_memory(
      answers::read_plan(file),
      {.name = file.name, .changes = given.texts("set"), .reserve = given.reserve()});
  reply.text = answers::indented_json_text(answers::memory_answer_json(answer));
}

void compare_function(const Keywords& given, const tune::SearchProgressCallback&, Reply& reply) {
  const answers::UserFile& file = given.file("plan");
  const Output report(given, "report");
  check_outputs({report}, {"plan", file.name});
  const answers::LogComparisonAnswer answer = answers::compare_plan_with_logs(
      answers::read_plan_with_resolved_schedule(file), given.texts("log"));
  if (report.wanted()) report.write("the report", answers::log_comparison_report(answer), reply);
  reply.text = answers::indented_json_text(answers::log_comparison_answer_json(answer));
  if (!answer.fault.empty()) fail_run(answer.fault);
}

void check_function(const Keywords& given, const tune::SearchProgressCallback&, Reply& reply) {
  answers::JobCheckRequest request{
      .job = {.files = given.files("configurations"),
              .source = given.one_of("from", framework_files::import_target_names()),
              .strict = given.has("strict")},
      .gain = given.text("gain"),
      .logs = given.texts("log"),
      .reserve = given.reserve()};
  framework_files::UserFacts& said = request.job.given;
  said.model = given.text("model");
  said.cluster = given.text("cluster");
  said.nodes = given.whole("nodes", -kMostWhole, kMostWhole);
  said.devices = given.whole("gpus", -kMostWhole, kMostWhole);
  said.settings = given.texts("set");
  said.function = given.text("function");
  said.command = given.whole("command", 1, kMostWhole);
  said.batch = given.text("batch");
  const std::string first = given.file("configurations").name;
  const answers::JobCheckAnswer answer = answers::check_job_before_queueing(request);
  reply.text = answers::indented_json_text(answers::check_command_answer_json(answer));
  if (!answer.fault.empty()) fail_run(fmt::format("{}: {}", first, answer.fault));
}

}  // namespace

std::vector<std::pair<std::string, Function>> functions() {
  return {{"tune", tune_function},     {"advise", advise_function},   {"predict", predict_function},
          {"run", run_function},       {"phases", phases_function},   {"traffic", traffic_function},
          {"memory", memory_function}, {"compare", compare_function}, {"check", check_function}};
}

}  // namespace stepwright::python
