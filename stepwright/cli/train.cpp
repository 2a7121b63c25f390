#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "stepwright/checkpoint/directory.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/core/error.h"
#include "stepwright/core/named_file.h"
#include "stepwright/core/signal_recorder.h"
#include "stepwright/huggingface/exporter.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/data/tokens.h"
#include "stepwright/runtime/launch/executable.h"
#include "stepwright/runtime/launch/launch.h"
#include "stepwright/runtime/launch/room.h"
#include "stepwright/runtime/launch/train_flags.h"
#include "stepwright/runtime/measure/operator_times.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::cli {
namespace {

/// When one rank has failed, the seconds for the other ranks to report what they waited for.
constexpr std::chrono::seconds kGrace{10};

void check_ranks(const std::string& file, std::int64_t planned, std::int64_t started,
                 std::string_view how) {
  if (started == planned) return;
  fail_input(fmt::format("{}: the plan has {} ranks, but {} {}", file, planned, how, started));
}

/// Returns the path of an in-memory file with a text; it exists as long as this process and those
/// that inherit it.
std::string file_of(const std::string& text) {
  const int file = ::memfd_create("stepwright", 0);
  for (std::size_t at = 0; file >= 0 && at < text.size();) {
    const ssize_t written = ::write(file, text.data() + at, text.size() - at);
    if (written <= 0) throw Error(ErrorKind::kRuntime, "no memory for what ranks read");
    at += static_cast<std::size_t>(written);
  }
  if (file < 0) throw Error(ErrorKind::kRuntime, "no memory for what ranks read");
  return fmt::format("/proc/self/fd/{}", file);
}

/// Returns such a file with the plan, its schedule order already chosen, because ranks have no
/// prices for choosing it.
std::string file_of_plan(plan::PlannedJob planned) {
  for (std::string* path : {&planned.job.conditions, &planned.job.measured}) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).string();
  }
  return file_of(plan::plan_yaml(planned));
}

class Train : public Subcommand {
 public:
  explicit Train(CLI::App& program)
      : Subcommand(program, "train", "Train a plan on this machine, or as a rank of a launcher",
                   "  stepwright train plan.yaml --data text.txt --steps 100\n"
                   "  stepwright train plan.yaml --data tokens.bin --ranks 4 --ledger sent.json\n"
                   "  stepwright train plan.yaml --hold --scale 100\n"
                   "  torchrun --no-python --nproc-per-node 4 stepwright train plan.yaml --data "
                   "tokens.bin") {
    runtime::add_train_options(app(), options_);
  }

  void run_subcommand(const Console& console) override {
    runtime::check_train_options(options_);
    const plan::PlannedJob given = load_plan_file(options_.plan, console);
    const plan::PlannedJob planned = with_resolved_schedule(given, options_.plan);
    if (!options_.hold) runtime::check_runtime_supports_plan(planned);
    runtime::check_train_options_for_plan(options_, planned);
    const std::filesystem::path program = runtime::find_rank_program_path();
    const auto place = runtime::rank_from_launcher_environment();
    if (!place || place->rank == 0) {
      check_outputs();
      if (!options_.checkpoint.empty()) tell_of_adapters(planned.job.model, console);
    }
    const std::int64_t ranks = planned.plan.parallel.ranks();
    const std::int64_t wanted = options_.ranks > 0 ? options_.ranks : ranks;
    check_ranks(options_.plan, ranks, place ? place->size : wanted,
                place ? place->launcher + " started" : "--ranks says");
    const std::vector<std::string> words = arguments(planned, planned.plan != given.plan);
    if (place) runtime::exec_program_without_return(program, words);
    if (!options_.hold) check_data(planned.job);
    if (!options_.hold) runtime::check_tensors_fit_in_memory(planned, options_);
    finish(runtime::run_rank_programs(program, words, wanted, kGrace), console);
  }

 private:
  /// Reports how an incomplete run ended, and how to continue it.
  void finish(const runtime::RankProcessesOutcome& ending, const Console& console) const {
    if (ending.interrupted != 0) {
      console.log.error("interrupted" + how_to_go_on());
      end_process_by_signal(ending.interrupted);
    }
    if (ending.killed) {
      throw Error(ErrorKind::kRuntime,
                  "training failed: " + killed_rank_text(*ending.killed) + how_to_go_on());
    }
    if (ending.code == 0) return;
    const ErrorKind kind = ending.code == 2   ? ErrorKind::kInput
                           : ending.code == 3 ? ErrorKind::kUnsupported
                                              : ErrorKind::kRuntime;
    throw Error(kind, "training failed; see the error of a rank above" +
                          (kind == ErrorKind::kRuntime ? how_to_go_on() : ""));
  }

  /// Returns a remark about the checkpoint of a run that has ended, and how to continue from it.
  [[nodiscard]] std::string how_to_go_on() const {
    if (options_.hold) return "";
    if (options_.checkpoint.empty()) return "; no checkpoint was saved (use --checkpoint DIR)";
    const auto last = checkpoint::last_checkpoint(options_.checkpoint);
    if (!last) return fmt::format("; {} holds no checkpoint yet", options_.checkpoint);
    return fmt::format("; {} is saved: {} continues from it", last->string(),
                       options_.resume ? "the same command" : "the same command with --resume");
  }

  void check_outputs() const {
    const std::vector<CommandLineFile> outputs = runtime::files_written_by_training(options_);
    for (const CommandLineFile& output : outputs) check_option_output_writable(output);
    const CommandLineFile inputs[] = {{"PLAN", options_.plan}, {"--data", options_.data}};
    check_distinct_output_files(outputs, inputs);
  }

  /// Warns before a run about formats to which its checkpoints cannot be converted.
  void tell_of_adapters(const model::ModelArchitecture& model, const Console& console) const try {
    if (model.adapters) huggingface::check_lora_exportable(model, options_.weights_from);
  } catch (const Error& error) {
    console.log.info(fmt::format(
        "`checkpoint convert --format peft` will refuse the trained adapters: {}", error.what()));
  }

  /// Checks the data once here, so that not every rank reports the same fault.
  void check_data(const plan::Job& job) const {
    const runtime::TokenFile tokens(
        options_.data, runtime::data_file_token_format(options_.data, options_.data_format),
        job.model.vocabulary);
    const runtime::ShuffledSamples samples(tokens, job.length, options_.seed, options_.data);
  }

  [[nodiscard]] std::vector<std::string> arguments(const plan::PlannedJob& planned,
                                                   bool found) const {
    const simulate::PlanPrediction prediction = simulate::predict_plan(planned);
    runtime::TrainOptions options = options_;
    if (found) options.plan = file_of_plan(planned);
    std::vector<std::string> words = runtime::rank_program_arguments(options);
    words.insert(words.end(),
                 {"--predicted", fmt::format("{}", prediction.step_time_s() / options_.scale)});
    words.insert(
        words.end(),
        {"--times", file_of(runtime::operator_times_json(
                        prediction.program, simulate::isolated_operator_seconds(prediction)))});
    return words;
  }

  runtime::TrainOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> train_command(CLI::App& program) {
  return std::make_unique<Train>(program);
}

}  // namespace stepwright::cli
