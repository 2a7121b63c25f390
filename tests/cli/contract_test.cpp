#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "command.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the single JSON document that a command prints.
Json answer_of(const std::string& arguments) {
  const Workplace place;
  const Outcome outcome = place.run(arguments + " --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return Json::parse(outcome.out, nullptr, false);
}

void expect_keys(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) EXPECT_TRUE(object.contains(key)) << key << " is not in\n" << object;
}

double sum_of(const Json& breakdown) {
  double sum = 0;
  for (const char* key : {"compute_s", "bubble_s", "optimizer_s"})
    sum += breakdown.at(key).get<double>();
  for (const Json& seconds : breakdown.at("exposed")) sum += seconds.get<double>();
  return sum;
}

void expect_prediction(const Json& answer) {
  expect_keys(answer, {"model", "step_time_s", "tokens_per_s_per_device", "mfu", "hfu", "fits",
                       "peak_memory_bytes", "breakdown", "stages", "notes"});
  expect_keys(answer.at("model"), {"name", "parameters", "active_parameters", "flops_per_token"});
  expect_keys(answer.at("breakdown"), {"compute_s", "bubble_s", "optimizer_s", "exposed"});
  expect_keys(answer.at("breakdown").at("exposed"),
              {"tensor_s", "context_s", "expert_s", "pipeline_s", "data_s", "host_s"});
  const double step = answer.at("step_time_s").get<double>();
  EXPECT_NEAR(sum_of(answer.at("breakdown")), step, 1e-9 * step);
}

TEST(Contract, PredictSumsToTheStepTime) {
  const Json answer = answer_of(std::string("predict ") + kExamplePlan);
  expect_prediction(answer);
  EXPECT_EQ(answer.at("model").at("parameters"), 70'553'706'496);
  EXPECT_EQ(answer.at("stages").size(), 4);
  const double step = answer.at("step_time_s").get<double>();
  EXPECT_NEAR(answer.at("tokens_per_s_per_device").get<double>() * step * 64, 512 * 8192, 1);
}

TEST(Contract, StudiesHavePanelsOfCurves) {
  for (const char* what : {"utilization ", "bandwidth "}) {
    const Json answer = answer_of(std::string("study ") + what + kExamplePlan);
    expect_keys(answer, {"variable", "panels", "plan"});
    for (const Json& panel : answer.at("panels")) {
      expect_keys(panel, {"key", "title", "x", "y", "curves"});
      for (const Json& curve : panel.at("curves")) expect_keys(curve, {"name", "points"});
    }
  }
}

TEST(Contract, SearchesAreComparedWithTimesAndCounts) {
  const Json answer = answer_of("study search examples/long-context.yaml");
  ASSERT_EQ(answer.at("choices").size(), 3);
  for (const Json& choice : answer.at("choices")) {
    expect_keys(choice, {"by", "plan", "step_time_s", "evaluated", "seconds"});
  }
}

TEST(Contract, CollectivesAreStudiedPointByPoint) {
  const Json answer =
      answer_of("study collectives dgx-h100 --nodes 1,4 --bytes 1MiB,1GiB --simulate 8");
  expect_keys(answer,
              {"variable", "cluster", "devices_per_node", "nics_per_node", "nic_bytes_per_s",
               "inside_bytes_per_s", "rail_bytes_per_s", "inside_latency_s", "network_latency_s",
               "message_start_s", "points", "differences"});
  ASSERT_EQ(answer.at("points").size(), 3 * 2 * 2);
  for (const Json& point : answer.at("points")) {
    expect_keys(point, {"operation", "payload_bytes", "nodes", "ranks", "schedules", "least_s",
                        "least_on_both_levels_s", "ho_ring_gain"});
    EXPECT_EQ(point.contains("adding_network_s"), point.at("operation") == "all_reduce");
    for (const Json& schedule : point.at("schedules")) {
      expect_keys(schedule, {"name", "chunks", "closed_s"});
      EXPECT_EQ(schedule.contains("simulated_s"), point.at("ranks") == 8);
      EXPECT_GE(schedule.at("closed_s").get<double>(), point.at("least_s").get<double>());
    }
  }
}

TEST(Contract, SetGivesBothAndTheDifference) {
  const Json answer = answer_of(std::string("predict ") + kExamplePlan + " --set cluster.nic=0.5x");
  expect_prediction(answer);
  for (const char* key : {"baseline", "changed"}) expect_prediction(answer.at(key));
  const double before = answer.at("baseline").at("step_time_s").get<double>();
  const double after = answer.at("changed").at("step_time_s").get<double>();
  EXPECT_GT(after, before);
  EXPECT_EQ(answer.at("step_time_s"), answer.at("changed").at("step_time_s"));
  EXPECT_EQ(answer.at("difference").at("step_time_s").get<double>(), after - before);
  EXPECT_NEAR(sum_of(answer.at("difference").at("breakdown")), after - before, 1e-9 * after);
}

TEST(Contract, SetTakesAnotherClusterOrSaysThatNothingChanged) {
  const std::string predict = std::string("predict ") + kExamplePlan + " --set ";
  const Json other = answer_of(predict + "cluster.profile=dgx-h200");
  EXPECT_GT(other.at("capacity_bytes"), other.at("baseline").at("capacity_bytes"));
  EXPECT_LT(other.at("step_time_s"), other.at("baseline").at("step_time_s"));
  const Json same = answer_of(predict + "model.rotary_base=5e5");
  EXPECT_EQ(same.at("step_time_s"), same.at("baseline").at("step_time_s"));
  EXPECT_EQ(same.at("notes").front(), "The changes by --set change no figure of this prediction.");
}

TEST(Contract, TrafficTotalsSumItsMessages) {
  const Json answer = answer_of(std::string("traffic ") + kExamplePlan + " --links");
  expect_keys(answer, {"ranks", "messages", "totals", "histogram", "links"});
  EXPECT_EQ(answer.at("ranks"), 64);
  double sent = 0;
  std::int64_t count = 0;
  for (const Json& message : answer.at("messages")) {
    expect_keys(message, {"operation", "scheme", "phase", "group_size", "payload_bytes", "count",
                          "sent_bytes_per_rank"});
    count += message.at("count").get<std::int64_t>();
    sent += message.at("count").get<double>() * message.at("sent_bytes_per_rank").get<double>();
  }
  for (const char* part : {"totals", "histogram"}) {
    double part_sent = 0;
    std::int64_t part_count = 0;
    for (const Json& volume : answer.at(part)) {
      part_count += volume.at("count").get<std::int64_t>();
      part_sent += volume.at("sent_bytes").get<double>();
    }
    EXPECT_EQ(part_count, count) << part;
    EXPECT_NEAR(part_sent, sent, 1e-9 * sent) << part;
  }
}

TEST(Contract, TrafficOfAllRanksSumsThatOfEach) {
  const Json all = answer_of(std::string("traffic ") + kExamplePlan);
  std::int64_t count = 0;
  for (int rank = 0; rank < 64; rank += 1) {
    const Json one =
        answer_of(std::string("traffic ") + kExamplePlan + " --rank " + std::to_string(rank));
    EXPECT_EQ(one.at("rank"), rank);
    for (const Json& message : one.at("messages")) count += message.at("count").get<std::int64_t>();
  }
  for (const Json& message : all.at("messages")) count -= message.at("count").get<std::int64_t>();
  EXPECT_EQ(count, 0);
}

TEST(Contract, MemoryKindsSumToThePeak) {
  const Json answer = answer_of(std::string("memory ") + kExamplePlan);
  expect_keys(answer, {"peak_memory_bytes", "stages", "fits", "capacity_bytes"});
  std::int64_t largest = 0;
  for (const Json& stage : answer.at("stages")) {
    expect_keys(stage, {"stage", "peak_memory_bytes", "kinds"});
    std::int64_t sum = 0;
    for (const Json& bytes : stage.at("kinds")) sum += bytes.get<std::int64_t>();
    EXPECT_EQ(sum, stage.at("peak_memory_bytes").get<std::int64_t>());
    largest = std::max(largest, sum);
  }
  EXPECT_EQ(largest, answer.at("peak_memory_bytes").get<std::int64_t>());
}

void expect_tuned(const Json& plan) {
  expect_keys(plan,
              {"plan", "step_time_s", "price_s", "lower_bound_s", "peak_memory_bytes", "tied"});
  EXPECT_LE(plan.at("lower_bound_s").get<double>(), plan.at("step_time_s").get<double>());
}

TEST(Contract, TuneCountsItsSpace) {
  const Json answer = answer_of("tune examples/inline-model.yaml --top 4");
  expect_keys(answer, {"plans", "optimality_gap", "space", "rejected", "baseline", "seconds"});
  ASSERT_EQ(answer.at("plans").size(), 4);
  double last = 0;
  for (const Json& plan : answer.at("plans")) {
    expect_tuned(plan);
    EXPECT_GE(plan.at("step_time_s").get<double>(), last);
    last = plan.at("step_time_s").get<double>();
  }
  const Json& space = answer.at("space");
  expect_keys(space, {"total", "legal", "fitting", "priced", "bounded", "simulated"});
  const auto number = [&](const char* key) { return space.at(key).get<std::int64_t>(); };
  std::int64_t rejected = 0;
  for (const Json& refusal : answer.at("rejected")) {
    expect_keys(refusal, {"rule", "reason", "count"});
    rejected += refusal.at("count").get<std::int64_t>();
  }
  EXPECT_EQ(number("legal"), number("priced") + number("bounded"));
  EXPECT_EQ(number("total"), number("legal") + number("duplicates") + rejected);
  expect_keys(answer.at("baseline"), {"plan", "step_time_s"});
}

TEST(Contract, ChangesOfAnOwnPlanCanBePredicted) {
  const Workplace place;
  const Outcome tuned =
      place.run(std::string("tune examples/llama-3-70b.yaml --json --against ") + kExamplePlan);
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  const Json answer = Json::parse(tuned.out);
  for (const Json& alternative : answer.at("alternatives")) {
    expect_keys(alternative, {"family", "plan", "step_time_s", "wins", "loses"});
    EXPECT_FALSE(alternative.at("wins").empty() && alternative.at("loses").empty());
  }
  const Json& against = answer.at("against");
  expect_keys(against, {"step_time_s", "fits", "changes"});
  std::string command = std::string("predict --json ") + kExamplePlan;
  double last_s = against.at("step_time_s").get<double>();
  ASSERT_FALSE(against.at("changes").empty());
  for (const Json& change : against.at("changes")) {
    expect_keys(change, {"set", "step_time_s", "gain_s", "kind"});
    for (const Json& set : change.at("set")) {
      command += " --set '" + set.get<std::string>() + "'";
    }
    const Json predicted = Json::parse(place.run(command).out);
    EXPECT_EQ(predicted.at("step_time_s"), change.at("step_time_s")) << command;
    EXPECT_EQ(predicted.at("fits"), true) << command;
    EXPECT_NEAR(last_s - change.at("step_time_s").get<double>(), change.at("gain_s").get<double>(),
                1e-9);
    last_s = change.at("step_time_s").get<double>();
  }
  EXPECT_LE(last_s, 1.0005 * answer.at("plans").at(0).at("step_time_s").get<double>());
}

/// Expects the days of the whole run, with their range, beside the days of the steps alone.
void expect_whole_run(const Json& answer) {
  const Json& run = answer.at("whole_run");
  expect_keys(run, {"tokens", "useful_share", "days", "gpu_hours", "low", "high", "steps_alone"});
  const double days = run.at("days");
  const double steps_days = run.at("steps_alone").at("days");
  EXPECT_LT(steps_days, days);
  EXPECT_LT(run.at("low").at("days").get<double>(), days);
  EXPECT_GT(run.at("high").at("days").get<double>(), days);
  EXPECT_NEAR(run.at("useful_share").get<double>(), steps_days / days, 1e-12);
  // The whole run has whole steps.
  EXPECT_NEAR(steps_days, answer.at("days").get<double>(), 1e-3 * steps_days);
}

TEST(Contract, PredictSaysTheWholeRunThatRunSays) {
  const std::string plan = "examples/llama-3-70b.plan.yaml --tokens 1e12";
  const Json answer = answer_of("predict " + plan);
  expect_whole_run(answer);
  const Json run = answer_of("run " + plan);
  for (const char* key : {"days", "gpu_hours", "low", "high", "useful_share", "steps_alone"}) {
    EXPECT_EQ(answer.at("whole_run").at(key), run.at(key)) << key;
  }
  EXPECT_FALSE(answer_of("predict examples/llama-3-70b.plan.yaml").contains("whole_run"));
}

TEST(Contract, ARunThatNeverEndsSaysSoBesideItsSteps) {
  const Workplace place;
  place.write("plan.yaml",
              "stepwright: plan/2\njob:\n  model: llama-3-8b\n"
              "  cluster: {profile: dgx-h100, nodes: 1}\n"
              "  batch: {sequences: 64, length: 4096}\n"
              "  run: {failures_per_device_hour: 1e5}\n"
              "parallel: {tensor: 8}\nsequence_parallel: true\nsharding: zero1\n");
  const Outcome outcome = place.run("predict plan.yaml --tokens 1e12 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  EXPECT_GT(answer.at("days").get<double>(), 0);
  expect_keys(answer.at("whole_run"), {"tokens", "refused"});
  EXPECT_FALSE(answer.at("whole_run").contains("days"));
}

TEST(Contract, PlansOfTuneSayTheirEfficiencyAndTheWholeRun) {
  const Json answer = answer_of(
      "tune examples/inline-model.yaml --top 2 --tokens 1e12 --price-per-gpu-hour 2 "
      "--sweep batch.sequences=128,256");
  for (const char* list : {"plans", "alternatives"}) {
    for (const Json& plan : answer.at(list)) {
      expect_keys(plan, {"mfu", "tflops_per_device", "peak_flops", "days", "gpu_hours", "cost"});
      const auto number = [&](const char* key) { return plan.at(key).get<double>(); };
      EXPECT_NEAR(number("tflops_per_device") * 1e12 / number("peak_flops"), number("mfu"), 1e-12);
      EXPECT_DOUBLE_EQ(number("cost"), 2 * number("gpu_hours"));
      expect_whole_run(plan);
      EXPECT_DOUBLE_EQ(plan.at("whole_run").at("steps_alone").at("cost"),
                       2 * plan.at("whole_run").at("steps_alone").at("gpu_hours").get<double>());
    }
  }
  ASSERT_EQ(answer.at("sweep").size(), 2);
  for (const Json& point : answer.at("sweep")) {
    expect_keys(point,
                {"value", "plan", "fits", "step_time_s", "mfu", "days", "gpu_hours", "cost"});
  }
}

TEST(Contract, TuneExhaustivelyFindsTheSame) {
  const Workplace place;
  place.write("job.yaml",
              "stepwright: job/1\n"
              "model: {name: small, layers: 16, hidden: 2048, heads: 16, ffn: 8192, vocab: 50304}\n"
              "cluster: {profile: dgx-a100-40g, nodes: 1}\n"
              "batch: {sequences: 64, length: 2048}\n");
  const auto answer = [&](const std::string& more) {
    return Json::parse(place.run("tune job.yaml --top 4 --json" + more).out);
  };
  const Json bounded = answer("");
  const Json exhaustive = answer(" --exhaustive");
  EXPECT_EQ(exhaustive.at("space").at("bounded"), 0);
  EXPECT_GT(bounded.at("space").at("bounded"), 0);
  EXPECT_EQ(exhaustive.at("plans"), bounded.at("plans"));
}

TEST(Contract, APlanThatDoesNotFitSaysByHowMuch) {
  const Workplace place;
  place.write("plan.yaml",
              "stepwright: plan/1\njob:\n  model: llama-3-8b\n"
              "  cluster: {profile: dgx-h100, nodes: 1}\n"
              "  batch: {sequences: 64, length: 4096}\nparallel: {data: 8}\n");
  const Outcome outcome = place.run("predict plan.yaml --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  EXPECT_EQ(answer.at("fits"), false);
  EXPECT_EQ(answer.at("over_by_bytes").get<std::int64_t>(),
            answer.at("peak_memory_bytes").get<std::int64_t>() -
                answer.at("capacity_bytes").get<std::int64_t>() +
                answer.at("reserve_bytes").get<std::int64_t>());
  EXPECT_EQ(answer.at("largest_kind"), "optimizer");
}

/// The lines below "Notes".
std::vector<std::string> notes_of_text(const std::string& text) {
  std::vector<std::string> notes;
  std::istringstream lines(text);
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    if (below && line.starts_with("- ")) notes.push_back(line.substr(2));
    below = below || line == "Notes";
  }
  return notes;
}

TEST(Contract, TextHasTheFiveNotesThatChangeMost) {
  const Workplace place;
  const std::string predict = std::string("predict ") + kExamplePlan +
                              " --set cluster.nic=400 --set cluster.device.memory_bandwidth=4000";
  const Json answer = Json::parse(place.run(predict + " --json").out);
  auto notes = answer.at("notes").get<std::vector<std::string>>();
  ASSERT_EQ(notes.size(), 6);
  EXPECT_THAT(notes[0], testing::StartsWith("cluster.device.memory_bandwidth is 4000 bytes/s"));
  EXPECT_THAT(notes[1], testing::StartsWith("cluster.nic is 400 bytes/s"));
  const std::string text = place.run(predict).out;
  EXPECT_THAT(text, testing::HasSubstr("\nFurther notes with `--verbose`: 1\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr(notes.back())));
  const std::string whole = place.run(predict + " --verbose").out;
  EXPECT_THAT(whole, testing::HasSubstr(notes.back()));
  const Json& sizes = answer.at("unmeasured_sizes").front();
  EXPECT_THAT(whole, testing::HasSubstr("Sizes that were not measured\n- " +
                                        sizes.at("operators").front().get<std::string>()));
  notes.pop_back();
  EXPECT_EQ(notes_of_text(text), notes);
}

TEST(Contract, NotesOfTheTextAreThoseOfTheDocument) {
  const Workplace place;
  place.write("job.yaml",
              "stepwright: job/2\nmodel: mixtral-8x7b\ncluster: {profile: dgx-h100, nodes: 2}\n"
              "batch: {sequences: 32, length: 4096}\nrouting: learned\n"
              "search: {sharding: hpz, tensor: 2, pipeline: 1, recompute: full, context: 1}\n");
  const Outcome written = place.run("tune job.yaml -o plan.yaml");
  ASSERT_EQ(written.code, 0) << written.err;
  for (const char* arguments :
       {"tune job.yaml", "predict plan.yaml", "predict plan.yaml --set imbalance=2",
        "memory plan.yaml", "traffic plan.yaml --rank 1"}) {
    const Json answer = Json::parse(place.run(std::string(arguments) + " --json").out);
    auto notes = answer.at("notes").get<std::vector<std::string>>();
    notes.resize(std::min<std::size_t>(notes.size(), 5));  // the text has the first
    EXPECT_EQ(notes_of_text(place.run(arguments).out), notes) << arguments;
    const bool learned = std::ranges::any_of(
        notes, [](const std::string& note) { return note.starts_with("A router sends tokens"); });
    EXPECT_TRUE(learned) << arguments;
  }
  const Json tuned = Json::parse(place.run("tune job.yaml --json").out);
  EXPECT_THAT(tuned.at("notes").dump(),
              testing::AllOf(testing::HasSubstr("hpz is read as IGG"),
                             testing::HasSubstr("no measurement covers their sizes")));
}

TEST(Contract, TuneIsSilentWhereNobodyWatches) {
  const Workplace place;
  EXPECT_EQ(place.run("tune examples/inline-model.yaml --json").err, "");
}

TEST(Contract, PlansOfTuneCanBePredicted) {
  const Workplace place;
  const Outcome tuned = place.run("tune examples/inline-model.yaml --top 1 --json -o plan.yaml");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  const Json best = Json::parse(tuned.out).at("plans").at(0);
  place.write("plan.json", best.at("plan").dump());
  for (const char* name : {"plan.yaml", "plan.json"}) {
    const Outcome predicted = place.run(std::string("predict --json ") + name);
    ASSERT_EQ(predicted.code, 0) << predicted.err;
    const Json answer = Json::parse(predicted.out);
    EXPECT_EQ(answer.at("step_time_s"), best.at("step_time_s"));
    EXPECT_EQ(answer.at("peak_memory_bytes"), best.at("peak_memory_bytes"));
  }
}

TEST(Contract, ListsAreArraysOfNamedEntries) {
  for (const char* what : {"models", "profiles", "shardings", "schedules", "collectives"}) {
    const Json answer = answer_of(std::string("list ") + what);
    ASSERT_TRUE(answer.is_array()) << what;
    EXPECT_GT(answer.size(), 3) << what;
    for (const Json& entry : answer) EXPECT_TRUE(entry.at("name").is_string());
  }
}

TEST(Contract, ListDescribesAConfig) {
  const Workplace place;
  place.write("config.json", content_of("tests/model/configs/llama-2-7b.json"));
  const Outcome outcome = place.run("list models --config config.json --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  ASSERT_EQ(answer.size(), 1);
  EXPECT_EQ(answer.at(0).at("parameters"), 6'738'415'616);
  EXPECT_EQ(answer.at(0).at("layers"), 32);
  EXPECT_FALSE(answer.at(0).contains("tensors"));
}

TEST(Contract, ListNamesTheTensorsOfAConfig) {
  const Workplace place;
  place.write("config.json", content_of("tests/model/configs/llama-2-7b.json"));
  const Outcome outcome =
      place.run("list models --config config.json --length 64 --tensors --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json model = Json::parse(outcome.out).at(0);
  EXPECT_EQ(model.at("length"), 64);
  const Json& tensors = model.at("tensors");
  EXPECT_EQ(tensors.size(), 3 + 32 * 9);
  EXPECT_EQ(tensors.at("lm_head.weight"), Json({32'000, 4096}));
  EXPECT_EQ(tensors.at("model.layers.31.mlp.down_proj.weight"), Json({4096, 11'008}));
  EXPECT_EQ(tensors.at("model.norm.weight"), Json({4096}));
}

}  // namespace
}  // namespace stepwright::cli
