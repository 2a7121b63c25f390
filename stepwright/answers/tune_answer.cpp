#include "stepwright/answers/tune_answer.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "stepwright/answers/expert_answer.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/notes.h"
#include "stepwright/tune/misfit.h"

namespace stepwright::answers {
namespace {

/// Searches a job. Errors of the search begin with the name of the job's file.
tune::TuneResult search(const plan::Job& job, const TuneRequest& request,
                        const tune::SearchProgressCallback& progress) {
  tune::TuneOptions options = request.options;
  options.progress = progress;
  try {
    return tune::tune(job, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    fail_input(fmt::format("{}: {}", request.name, error.what()), {.file = request.name});
  }
}

std::optional<tune::UserPlanComparison> compared(const tune::TuneResult& result,
                                                 const TuneRequest& request,
                                                 bool attention_stated) {
  if (!request.own) return std::nullopt;
  std::optional<cluster::AttentionKernel> attention;
  if (!attention_stated) attention = request.own->job.kernels.attention;
  return tune::compare_user_plan(result, request.own->plan, request.options, attention);
}

void tune_values(tune::TuneSweep& sweep, const TuneRequest& request,
                 const TuneProgressCallback& progress) {
  TuneAnswerProgress state{.search = {}, .value = 0, .values = sweep.points.size()};
  tune::tune_sweep_values(sweep, [&](const plan::Job& job) {
    ++state.value;
    const SearchPlansOfJob search_job = [&](const plan::Job& one) {
      return search(one, request, [&](const tune::TuneProgress& now) {
        state.search = now;
        if (progress) progress(state);
      });
    };
    return choose_framework_to_launch(job, {}, search_job, request.options).result;
  });
}

/// If the job names no framework, takes that of the user's own plan. An own plan without framework
/// is compared with plans that any framework can run, as in `predict`.
void own_framework(const plan::PlannedJob& own, plan::Job& job, ReadJobForFramework& job_for) {
  const plan::TrainingFramework& framework = own.job.framework;
  if (!job.framework.name.empty() || !job_for) return;
  if (framework.name.empty()) {
    job_for = {};
    return;
  }
  const bool use_all = job.use_all;
  job = job_for(framework.variant.empty() ? framework.name : framework.variant);
  job.use_all = use_all;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TuneAnswer answer_tune_command(plan::Job job, const TuneRequest& request,
                               const TuneProgressCallback& progress) {
  const auto start = std::chrono::steady_clock::now();
  ReadJobForFramework job_for = request.job_for;
  if (request.own) {
    job.use_all = true;  // as the user's own plan does
    own_framework(*request.own, job, job_for);
  }
  const SearchPlansOfJob search_job = [&](const plan::Job& one) {
    return search(one, request, [&](const tune::TuneProgress& now) {
      if (progress) progress({.search = now});
    });
  };
  // Reports errors before the search starts.
  if (!request.sweep.empty()) tune::read_tune_sweep(job, request.sweep);
  LaunchablePlanAnswer found =
      choose_framework_to_launch(job, job_for, search_job, request.options);
  TuneAnswer answer{.result = std::move(found.result),
                    .run = request.run,
                    .launch = std::move(found.launch),
                    .refusals = std::move(found.refusals),
                    .unbound = std::move(found.unbound),
                    .plan_file = request.plan_file,
                    .started = std::move(found.started)};
  tune::TuneResult& result = answer.result;
  answer.against = compared(result, request, job.attention_stated);
  if (!request.sweep.empty()) {
    answer.sweep = tune::read_tune_sweep(found.job, request.sweep);
    tune_values(*answer.sweep, request, progress);
  }
  if (request.more_memory)
    answer.more_memory = tune::step_time_gains_of_more_memory(result, request.options);
  answer.strands = tune::gain_of_two_micro_batch_streams(result, request.options);
  if (!result.plans.front().fits) {
    answer.remedies = check::find_memory_remedies_with_flags(
        answer.best_planned_job(), {}, &answer.result, request.options.threads);
  }
  answer.with_experts = best_expert_parallel_plan(result, request.options);
  if (std::string note = uncommon_sharding_note(result.job, result.plans.front().plan);
      !note.empty()) {
    result.notes.push_back(std::move(note));
  }
  if (std::string note = plan::training_method_note(job); !note.empty()) {
    result.notes.push_back(std::move(note));
  }
  answer.best = simulate::predict_plan(answer.best_planned_job());
  answer.frameworks = find_launchable_plans(answer.started, result.plans.front().plan,
                                            tune::search_thread_count(request.options));
  if (result.plans.front().verdict == memory::MemoryFitVerdict::kDoesNotFit) {
    answer.fault =
        fmt::format("{}: {}", request.name, tune::memory_shortage_error_text(result.plans.front()));
  }
  result.seconds = seconds_since(start);
  return answer;
}

}  // namespace stepwright::answers
