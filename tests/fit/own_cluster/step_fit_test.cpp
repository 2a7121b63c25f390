#include "stepwright/fit/own_cluster/step_fit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/fit/own_cluster/message_law_fit.h"
#include "stepwright/fit/own_cluster/planned_work.h"
#include "stepwright/logs/readers/kineto.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::fit {
namespace {

using testing::HasSubstr;

std::string event(std::string_view category, std::string_view name, double start_us,
                  double length_us, std::string_view args = "", int thread = 1) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{{}}}}},)",
      category, name, thread, start_us, length_us, args);
}

/// Returns a step of 2000 us: a product and its two gradients, a norm, an update, a wait for a
/// message, and gaps. The sizes are those of a model of width 8 with 16 rows.
std::string step_at(double at) {
  const auto op = [at](std::string_view name, double start_us, double length_us,
                       std::string_view args) {
    return event("cpu_op", name, at + start_us, length_us, args);
  };
  const std::string node = "autograd::engine::evaluate_function: MmBackward0";
  return event("user_annotation", "ProfilerStep#1", at, 2000) +
         op("aten::mul", 10, 40, R"("Input Dims":[[2,8,8],[8]],"Sequence number":1)") +
         op("aten::linear", 50, 120, R"("Input Dims":[[2,8,8],[24,8]],"Sequence number":2)") +
         op("aten::mm", 60, 100, R"("Input Dims":[[16,8],[8,24]],"Sequence number":2)") +
         op(node, 200, 250, R"("Sequence number":2)") +
         op("aten::mm", 210, 110, R"("Input Dims":[[16,24],[24,8]])") +
         op("aten::mm", 330, 120, R"("Input Dims":[[24,16],[16,8]])") +
         event("user_annotation", "gloo:all_reduce", at + 500, 900, "", 2) +
         event("user_annotation", "Optimizer.step#AdamW.step", at + 1500, 300) +
         op("aten::addcmul_", 1520, 260, R"("Input Dims":[[24,8]])");
}

logs::KinetoTrace trace_of(const std::string& events) {
  std::string text = R"({"traceEvents":[)" + events + R"({"ph":"i","name":"end"}]})";
  logs::FileByteReader bytes(text, "trace.0.json");
  logs::CommunicationLog log;
  return logs::read_kineto_host_trace(bytes, log);
}

TensorWidths widths() { return {.hidden = {8}, .inner = {20}, .vocabulary = {64}, .head = {4, 2}}; }

double busy_us(const HostThreadStep& step, step::OperatorKind kind, step::Phase phase) {
  const auto found = step.kinds.find({kind, phase});
  return found == step.kinds.end() ? 0 : 1e6 * found->second.busy;
}

TEST(HostSteps, EveryMomentOfAStepIsOfSomething) {
  const RankHostTrace trace = read_host_trace_steps(trace_of(step_at(0) + step_at(2000)), widths());
  ASSERT_EQ(trace.steps.size(), 2U);
  const HostThreadStep& step = trace.steps.front();
  double sum = step.waiting + step.dispatch + step.unknown;
  for (const auto& [key, seconds] : step.kinds) sum += seconds.busy + seconds.host;
  EXPECT_NEAR(sum, 2000e-6, 1e-12);
  EXPECT_NEAR(step.waiting, 900e-6, 1e-12);
  EXPECT_NEAR(busy_us(step, step::OperatorKind::kNorm, step::Phase::kForward), 40, 1e-6);
  EXPECT_NEAR(busy_us(step, step::OperatorKind::kLinear, step::Phase::kForward), 120, 1e-6);
  EXPECT_NEAR(busy_us(step, step::OperatorKind::kLinear, step::Phase::kDataGradient), 110, 1e-6);
  EXPECT_NEAR(busy_us(step, step::OperatorKind::kLinear, step::Phase::kWeightGradient), 120, 1e-6);
  EXPECT_NEAR(busy_us(step, step::OperatorKind::kOptimizer, step::Phase::kOptimizer), 260, 1e-6);
}

TEST(HostSteps, TheInnermostProductCounts) {
  const RankHostTrace trace = read_host_trace_steps(trace_of(step_at(0) + step_at(2000)), widths());
  ASSERT_EQ(trace.products.size(), 6U);
  EXPECT_EQ(trace.products[0].shape.columns, 24);
  EXPECT_EQ(trace.products[1].phase, step::Phase::kDataGradient);
  EXPECT_EQ(trace.products[2].phase, step::Phase::kWeightGradient);
}

TEST(HostSteps, TheProfilersEmptyLastStepIsNone) {
  const std::string empty = event("user_annotation", "ProfilerStep#2", 2000, 3);
  EXPECT_EQ(read_host_trace_steps(trace_of(step_at(0) + empty), widths()).steps.size(), 1U);
}

std::string steps_refusal(const std::string& events) {
  try {
    read_host_trace_steps(trace_of(events), widths());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "nothing";
}

TEST(HostSteps, RefusesATraceWithoutSteps) {
  EXPECT_THAT(steps_refusal(event("cpu_op", "aten::mm", 0, 10)), HasSubstr("marks no step"));
}

TEST(HostSteps, RefusesAStepOfMoreThanADay) {
  const std::string product = event("cpu_op", "aten::mm", 0, 10);
  EXPECT_THAT(steps_refusal(event("user_annotation", "ProfilerStep#7", 0, 1e13) + product),
              HasSubstr("trace.0.json: ProfilerStep#7: dur: 1e+13 us; a step takes less than"));
  EXPECT_EQ(steps_refusal(event("user_annotation", "ProfilerStep#7", 0, 8e10) + product),
            "nothing");
}

TEST(HostSteps, RefusesOperatorsThatAllLackADuration) {
  const std::string mark = event("user_annotation", "ProfilerStep#1", 0, 2000);
  for (const double length_us : {0.0, -5.0}) {
    EXPECT_THAT(steps_refusal(mark + event("cpu_op", "aten::mm", 10, length_us) +
                              event("cpu_op", "aten::mul", 20, length_us)),
                HasSubstr("trace.0.json: dur: no operator lasts longer than 0 us"));
  }
}

TEST(HostSteps, ANegativeDurationIsNone) {
  const RankHostTrace trace =
      read_host_trace_steps(trace_of(step_at(0) + event("cpu_op", "aten::mm", 1900, -5,
                                                        R"("Input Dims":[[16,8],[8,24]])")),
                            widths());
  ASSERT_EQ(trace.products.size(), 4U);
  EXPECT_EQ(trace.products.back().seconds, 0);
}

plan::PlannedJob planned(std::int64_t hidden, const std::string& sharding = "NNN") {
  const std::string text = fmt::format(R"(stepwright: plan/2
job:
  model: {{layers: 1, hidden: {}, heads: 2, ffn: 20, vocab: 64}}
  cluster: {{profile: dgx-h100, devices: 2}}
  batch: {{sequences: 4, length: 8}}
  precision: fp32
  framework: fsdp
parallel: {{data: 2}}
micro_batch: 2
sharding: {}
)",
                                       hidden, sharding);
  return plan::read_plan(YamlJsonDocument::parse(text, "plan.yaml"), ".");
}

/// Returns a trace of a step that runs exactly the products of a plan at `seconds_per_flop`, then
/// waits.
RankHostTrace trace_of_plan(const plan::PlannedJob& job, double seconds_per_flop) {
  const step::StepProgram program = step::build_step_program(job.job, job.plan);
  RankHostTrace trace;
  HostThreadStep step;
  for (const step::OperatorTemplate& piece : program.templates) {
    for (const step::Operator& op : piece.operators) {
      if (op.kind != step::OperatorKind::kLinear) continue;
      const double rows = static_cast<double>(op.shape.rows * op.shape.columns * op.shape.inner);
      const double seconds = 2 * rows * seconds_per_flop;
      trace.products.push_back({.phase = op.phase, .shape = op.shape, .seconds = seconds});
      step.kinds[{op.kind, op.phase}].busy += seconds;
      step.seconds += seconds;
    }
  }
  step.kinds[{step::OperatorKind::kNorm, step::Phase::kForward}] = {.busy = 30e-6, .host = 6e-6};
  step.seconds += 36e-6;
  trace.steps = {step};
  return trace;
}

TEST(MeasuredStepFit, LawsSumUpToTheStepsOfTheTrace) {
  const plan::PlannedJob job = planned(8);
  const MeasuredStepFit fitted = fit_measured_steps(job, {trace_of_plan(job, 1e-9)}, {});
  const step::StepProgram program = step::build_step_program(job.job, job.plan);
  const WorkByKind work = planned_computations(program, program.stages.front());
  double sum = 0;
  for (const auto& one : fitted.fit.computations) {
    const PlannedComputations& of = work.at({one.law.kind, one.law.phase});
    sum += of.operators * one.law.start_s + of.flops * one.law.s_per_flop +
           of.bytes * one.law.s_per_byte;
  }
  EXPECT_NEAR(sum, fitted.step_s, 1e-9);
}

std::string fit_refusal(const plan::PlannedJob& job, const RankHostTrace& trace,
                        const logs::CommunicationLog& log = {}) {
  try {
    fit_measured_steps(job, {trace}, log);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "nothing";
}

TEST(MeasuredStepFit, RefusesProductsOfAPhaseThatAllLackATime) {
  const plan::PlannedJob job = planned(8);
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  for (HostMatrixProduct& product : trace.products) {
    if (product.phase == step::Phase::kForward) product.seconds = 0;
  }
  logs::CommunicationLog log;
  log.sources = {{.file = "trace.0.json"}, {.file = "trace.1.json"}};
  EXPECT_THAT(fit_refusal(job, trace, log),
              HasSubstr("trace.0.json, trace.1.json: dur: no product of the forward lasts"));
}

/// A coarse timer shows a time of 0 for the shortest product.
TEST(MeasuredStepFit, FitsTheProductsThatHaveATime) {
  const plan::PlannedJob job = planned(8);
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  const step::OperatorShape first = trace.products.front().shape;
  for (HostMatrixProduct& product : trace.products) {
    if (product.shape == first) product.seconds = 0;
  }
  EXPECT_EQ(fit_refusal(job, trace), "nothing");
}

/// As in tables of overlap, a slow-down above the limit counts as kMaxSlowdownFactor.
TEST(MeasuredStepFit, OverlapHasTheLimitsOfTables) {
  const plan::PlannedJob job = planned(8);
  const auto slower = [&job](double alone, double beside) {
    RankHostTrace trace = trace_of_plan(job, 1e-9);
    const HostThreadStep step = trace.steps.front();
    const std::vector<HostMatrixProduct> products = trace.products;
    trace.products.clear();
    for (int run = 0; run < 6; ++run) {
      if (run > 0) trace.steps.push_back(step);
      for (HostMatrixProduct product : products) {
        product.beside = run % 2 == 1;
        product.seconds *= product.beside ? beside : alone;
        trace.products.push_back(product);
      }
    }
    return fit_measured_steps(job, {trace}, {}).fit.overlap.beside_inside;
  };
  EXPECT_DOUBLE_EQ(slower(1, 1.5), 1.5);
  EXPECT_DOUBLE_EQ(slower(1, 1000), cost::kMaxMeasuredSlowdownFactor);
  EXPECT_DOUBLE_EQ(slower(1, 0.5), 1);
}

TEST(MeasuredStepFit, AKindThatTookNoTimeHasNoLaw) {
  const plan::PlannedJob job = planned(8);
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  const auto norms = [&job](const RankHostTrace& of) {
    return std::ranges::count_if(fit_measured_steps(job, {of}, {}).fit.computations,
                                 [](const auto& one) {
                                   return one.law.kind == step::OperatorKind::kNorm &&
                                          one.law.phase == step::Phase::kForward;
                                 });
  };
  EXPECT_EQ(norms(trace), 1);
  trace.steps.front().kinds[{step::OperatorKind::kNorm, step::Phase::kForward}] = {};
  EXPECT_EQ(norms(trace), 0);
}

TEST(MeasuredStepFit, NamesATraceOfAnotherModel) {
  try {
    fit_measured_steps(planned(16), {trace_of_plan(planned(8), 1e-9)}, {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("of another model, batch or layout"));
  }
}

/// A trace whose products have as many FLOPs, but other widths.
TEST(MeasuredStepFit, NamesATraceOfAnotherLayoutWithAsManyFlops) {
  const plan::PlannedJob job = planned(8);
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  for (HostMatrixProduct& product : trace.products) {
    if (product.phase != step::Phase::kForward) continue;
    product.shape.inner *= 2;
    product.shape.rows /= 2;
  }
  EXPECT_THROW(fit_measured_steps(job, {trace}, {}), Error);
}

TEST(MeasuredStepFit, NamesTracesOfSomeRanksAlone) {
  const plan::PlannedJob job = planned(8);
  const RankHostTrace trace = trace_of_plan(job, 1e-9);
  logs::CommunicationLog log;
  log.sources.push_back({.file = "trace.0.json", .world = 2});
  log.records.push_back(
      {.rank = 0, .payload_bytes = 8, .operation = logs::LoggedOperation::kAllReduce});
  try {
    fit_measured_steps(job, {trace}, log);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("from 1 of 2 ranks"));
  }
}

TEST(MeasuredStepFit, NamesTracesOfAnotherNumberOfRanks) {
  const plan::PlannedJob job = planned(8);
  const RankHostTrace trace = trace_of_plan(job, 1e-9);
  logs::CommunicationLog log;
  log.sources.push_back({.file = "trace.0.json", .world = 4});
  try {
    fit_measured_steps(job, {trace}, log);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("trace.0.json: is from a job of 4 ranks, but the plan has 2"));
  }
}

TEST(MeasuredStepFit, OneLawOfSocketsServesOperationsThatWereNotSent) {
  const plan::PlannedJob job = planned(8);
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  logs::CommunicationLog log;
  log.communicators.push_back({.name = "world", .size = 2, .ranks = {0, 1}});
  log.sources.emplace_back();
  for (const std::int64_t bytes : {std::int64_t{1} << 10, std::int64_t{1} << 26}) {
    log.records.push_back({.payload_bytes = bytes,
                           .enqueued_s = 0,
                           .start_s = 0,
                           .duration_s = 1e-4 + 1e-9 * static_cast<double>(bytes),
                           .communicator = 0,
                           .operation = logs::LoggedOperation::kAllReduce});
  }
  const MeasuredStepFit fitted = fit_measured_steps(job, {trace}, log);
  ASSERT_EQ(fitted.fit.messages.size(), static_cast<std::size_t>(cost::kCollectives));
  const auto& reduce = fitted.fit.messages.at(collective::CollectiveOperation::kAllReduce);
  const auto& gather = fitted.fit.messages.at(collective::CollectiveOperation::kAllGather);
  EXPECT_EQ(reduce.rows, 2U);
  EXPECT_EQ(gather.rows, 0U);
  EXPECT_FALSE(reduce.held_out_error);  // nothing was left out
  EXPECT_NEAR(gather.law.law.inside_s_per_byte / reduce.law.law.inside_s_per_byte, 1, 1e-3);
}

/// Two ranks, one of which arrives late at each of two messages and so never waits.
TEST(MeasuredStepFit, WaitingForTheLastRankIsOfComputationsAndNotOfBytes) {
  const plan::PlannedJob job = planned(8);
  const double transfers_s[] = {1e-3, 21e-3};
  constexpr double kWait_s = 5e-3;
  std::vector<RankHostTrace> ranks(2, trace_of_plan(job, 1e-6));
  const double computed_s = ranks[0].steps[0].seconds;
  logs::CommunicationLog log;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    HostThreadStep& step = ranks[static_cast<std::size_t>(rank)].steps[0];
    log.sources.push_back({.world = 2});
    for (int i = 0; i < 2; ++i) {
      const double duration_s = transfers_s[i] + (rank == 0 ? kWait_s : 0);
      step.waiting += duration_s;
      step.seconds += duration_s;
      log.records.push_back({.rank = rank,
                             .payload_bytes = i == 0 ? 8 : 1 << 24,
                             .enqueued_s = 0,
                             .duration_s = duration_s,
                             .source = rank,
                             .operation = logs::LoggedOperation::kAllReduce});
    }
  }
  const MeasuredStepFit fitted = fit_measured_steps(job, ranks, log);
  const cost::GlooCostLaw& law =
      fitted.fit.messages.at(collective::CollectiveOperation::kAllReduce).law.law;
  EXPECT_EQ(law.hop_s, 0);
  EXPECT_NEAR(law.start_s, 1e-3, 2e-5);
  const step::StepProgram program = step::build_step_program(job.job, job.plan);
  const WorkByKind work = planned_computations(program, program.stages.front());
  double sum = 0;
  for (const auto& one : fitted.fit.computations) {
    const PlannedComputations& of = work.at({one.law.kind, one.law.phase});
    sum += of.operators * one.law.start_s + of.flops * one.law.s_per_flop +
           of.bytes * one.law.s_per_byte;
  }
  EXPECT_NEAR(sum, computed_s + kWait_s, 1e-9);  // of two waits, each half of the ranks
}

TEST(MeasuredStepFit, NamesTracesOfAnotherSharding) {
  const plan::PlannedJob whole = planned(8);
  const plan::PlannedJob sharded = planned(8, "GGG");
  logs::CommunicationLog log;
  log.records.push_back({.payload_bytes = 4096, .operation = logs::LoggedOperation::kAllReduce});
  EXPECT_NO_THROW(fit_measured_steps(whole, {trace_of_plan(whole, 1e-9)}, log));
  try {
    fit_measured_steps(sharded, {trace_of_plan(sharded, 1e-9)}, log);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the plan has all_gather, the run none"));
  }
  log.records.push_back({.payload_bytes = 4096, .operation = logs::LoggedOperation::kAllGather});
  EXPECT_THROW(fit_measured_steps(whole, {trace_of_plan(whole, 1e-9)}, log), Error);
}

const cost::MessageHostOverheadLaw* handling_of(const MeasuredStepFit& fitted,
                                                step::ParallelismScheme scheme,
                                                collective::CollectiveOperation operation) {
  const auto found = std::ranges::find_if(fitted.fit.host_overhead, [&](const auto& one) {
    return one.law.scheme == scheme && one.law.operation == operation;
  });
  return found == fitted.fit.host_overhead.end() ? nullptr : &found->law;
}

TEST(MeasuredStepFit, CopiesOfFsdpAreOfItsMessagesBesideTheirTransfer) {
  const plan::PlannedJob job = planned(8, "GGG");
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  trace.steps[0].kinds[{step::OperatorKind::kAllGather, step::Phase::kForward}] = {.busy = 40e-3,
                                                                                   .host = 6e-3};
  logs::CommunicationLog log;
  log.sources.push_back({.world = 2});
  for (const std::int64_t bytes : {std::int64_t{1} << 10, std::int64_t{1} << 26}) {
    log.records.push_back({.payload_bytes = bytes,
                           .enqueued_s = 0,
                           .duration_s = 1e-4 + 1e-9 * static_cast<double>(bytes),
                           .operation = logs::LoggedOperation::kAllGather});
  }
  log.records.push_back(
      {.payload_bytes = 1 << 20, .operation = logs::LoggedOperation::kReduceScatter});
  const MeasuredStepFit fitted = fit_measured_steps(job, {trace}, log);
  EXPECT_TRUE(fitted.notes.empty());
  const OwnCollectiveSample sample{.operation = collective::CollectiveOperation::kAllGather,
                                   .group = {.nodes = 1, .members = 2, .groups = 1},
                                   .payload_bytes = 1 << 26};
  EXPECT_NEAR(
      predicted_s(fitted.fit.messages.at(collective::CollectiveOperation::kAllGather).law, sample),
      1e-4 + 1e-9 * (1 << 26), 2e-3);
  const step::StepProgram program = step::build_step_program(job.job, job.plan);
  const PlannedMessages gathers =
      planned_messages(program, program.stages.front())
          .at({step::ParallelismScheme::kData, collective::CollectiveOperation::kAllGather});
  const cost::MessageHostOverheadLaw* law = handling_of(
      fitted, step::ParallelismScheme::kData, collective::CollectiveOperation::kAllGather);
  ASSERT_NE(law, nullptr);
  EXPECT_NEAR(gathers.calls * law->start_s, 6e-3, 1e-9);
  EXPECT_NEAR(gathers.bytes * law->s_per_byte, 40e-3, 1e-9);
  // Messages that are absent from the trace take longer on this host by the same factor.
  const plan::MessageHostOverhead usual = plan::framework_defaults(job.job.framework).host_overhead;
  const cost::MessageHostOverheadLaw* assumed = handling_of(
      fitted, step::ParallelismScheme::kTensor, collective::CollectiveOperation::kAllReduce);
  ASSERT_NE(assumed, nullptr);
  EXPECT_DOUBLE_EQ(assumed->start_s, usual.tensor_s * law->start_s / usual.data_s);
}

/// DTensor's dispatch costs belong to messages of tensor parallelism; norms and products cost the
/// same with and without it.
TEST(MeasuredStepFit, DispatchIsOfMessagesOfTensorParallelism) {
  plan::PlannedJob job = planned(8);
  job.plan.parallel.data = 1;
  job.plan.parallel.tensor = 2;
  job.plan.micro_batch = 4;
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  const auto norm_s = [](const MeasuredStepFit& fitted) {
    for (const auto& one : fitted.fit.computations) {
      if (one.law.kind == step::OperatorKind::kNorm && one.law.phase == step::Phase::kForward) {
        return one.law.start_s;
      }
    }
    return -1.0;
  };
  const double alone_s = norm_s(fit_measured_steps(job, {trace}, {}));
  trace.steps[0].dispatch = 12e-3;
  trace.steps[0].seconds += 12e-3;
  const MeasuredStepFit fitted = fit_measured_steps(job, {trace}, {});
  EXPECT_DOUBLE_EQ(norm_s(fitted), alone_s);
  const step::StepProgram program = step::build_step_program(job.job, job.plan);
  double handled_s = 0;
  for (const auto& [key, messages] : planned_messages(program, program.stages.front())) {
    const cost::MessageHostOverheadLaw* law = handling_of(fitted, key.first, key.second);
    if (law != nullptr) handled_s += messages.calls * law->seconds(0);
    EXPECT_EQ(law != nullptr, key.first == step::ParallelismScheme::kTensor);
  }
  EXPECT_NEAR(handled_s, 12e-3, 1e-9);
}

/// A trace without tensor parallelism or FSDP does not show their host time.
TEST(MeasuredStepFit, HandlingThatATraceDoesNotShowIsAssumedAndMarked) {
  const plan::PlannedJob job = planned(8);
  RankHostTrace trace = trace_of_plan(job, 1e-9);
  trace.steps[0].kinds[{step::OperatorKind::kAdd, step::Phase::kForward}] = {.busy = 50e-6};
  const MeasuredStepFit fitted = fit_measured_steps(job, {trace}, {});
  for (const auto& one : fitted.fit.host_overhead) EXPECT_EQ(one.rows, 0U);
  const cost::MessageHostOverheadLaw* tensor = handling_of(
      fitted, step::ParallelismScheme::kTensor, collective::CollectiveOperation::kAllReduce);
  ASSERT_NE(tensor, nullptr);
  EXPECT_DOUBLE_EQ(tensor->start_s,
                   plan::framework_defaults(job.job.framework).host_overhead.tensor_s);
  const cost::MessageHostOverheadLaw* gather = handling_of(
      fitted, step::ParallelismScheme::kData, collective::CollectiveOperation::kAllGather);
  const cost::MessageHostOverheadLaw* scatter = handling_of(
      fitted, step::ParallelismScheme::kData, collective::CollectiveOperation::kReduceScatter);
  ASSERT_NE(gather, nullptr);
  ASSERT_NE(scatter, nullptr);
  EXPECT_GT(scatter->s_per_byte, gather->s_per_byte);  // c10d copies once more
  EXPECT_EQ(handling_of(fitted, step::ParallelismScheme::kData,
                        collective::CollectiveOperation::kAllReduce),
            nullptr);
}

TEST(HostSteps, DispatchOfSplitTensorsIsOfNoOperator) {
  const auto op = [](std::string_view name, double start_us, double length_us,
                     std::string_view args = "") {
    return event("cpu_op", name, start_us, length_us, args);
  };
  const std::string sizes = R"("Input Dims":[[2,8,8],[8]])";
  const std::string events =
      event("user_annotation", "ProfilerStep#1", 0, 1000) +
      op("aten::mul", 0, 300, sizes + R"(,"Sequence number":1)") +
      op("PythonSubclass", 0, 300, sizes) + op("aten::mul", 100, 150, sizes) +
      op("_FromTorchTensor", 400, 100) +
      op("autograd::engine::evaluate_function: RedistributeBackward", 600, 50) +
      op("_c10d_functional::all_reduce", 700, 30) + op("aten::mul", 800, 20, sizes) +
      event("user_annotation", "Optimizer.step#AdamW.step", 820, 170) +
      op("PythonSubclass", 830, 160, sizes);
  const RankHostTrace trace = read_host_trace_steps(trace_of(events), widths());
  const HostThreadStep& step = trace.steps.at(0);
  // 150 around the product, 100 before and 100 in the second, 100 before and 50 in the third.
  EXPECT_NEAR(step.dispatch, 500e-6, 1e-12);
  EXPECT_NEAR(busy_us(step, step::OperatorKind::kNorm, step::Phase::kForward), 170, 1e-6);
  const auto& reduce = step.kinds.at({step::OperatorKind::kAllReduce, step::Phase::kForward});
  EXPECT_NEAR(reduce.host, 80e-6, 1e-12);
  double sum = step.waiting + step.dispatch + step.unknown;
  for (const auto& [key, seconds] : step.kinds) sum += seconds.busy + seconds.host;
  EXPECT_NEAR(sum, 1000e-6, 1e-12);
}

}  // namespace
}  // namespace stepwright::fit
