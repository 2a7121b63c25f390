#include "stepwright/validate/validation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/core/refusal.h"

namespace stepwright::validate {
namespace {

using ::testing::StartsWith;

constexpr const char* kHeader =
    "id,cluster,gpus,model,layers,hidden,heads,kv_heads,ffn_hidden,vocab,seq_len,global_batch,"
    "micro_batch,tp,pp,vpp,job,plan,measured_metric,measured_value,tier\n";
constexpr const char* kRow =
    ",dgx-a100-80g,8,GPT-tiny,4,1024,16,16,4096,51200,1024,16,2,2,2,1,"
    "\"{framework: megatron-lm, precision: fp16, model: {base: gpt3-175b, head_dim: 64}}\","
    "\"{sharding: NNN, recompute: full}\",iteration_time_s,";

std::string runs(std::initializer_list<std::pair<const char*, const char*>> rows) {
  std::string text = kHeader;
  for (const auto& [id, value] : rows) text += std::string(id) + kRow + value + ",A\n";
  return text;
}

TEST(Validation, AColumnThatIsNearlyAKnownOneIsRefused) {
  const auto refused = [](std::string header, std::string_view from, std::string_view to) {
    header.replace(header.find(from), from.size(), to);
    return refusal([&] { compare_predictions_to_measurements(parse_csv(header, "runs.csv"), {}); });
  };
  EXPECT_THAT(refused(kHeader, "layers", "layer"),
              StartsWith("runs.csv:1: unknown column 'layer'; did you mean 'layers'?"));
  EXPECT_THAT(refused(kHeader, "measured_value", "measured_valu"),
              StartsWith("runs.csv:1: unknown column 'measured_valu'; did you mean 'measured_"));
}

TEST(Validation, PublishedTablesHaveNoColumnThatIsNearlyAKnownOne) {
  for (const char* name :
       {"training_runs", "training_runs_2", "training_runs_3", "training_runs_4", "memory",
        "memory_2", "memory_4", "memory_5", "memory_6", "training_runs_5", "training_runs_6",
        "own_runs_h100", "own_tuning_h200", "verification_cards"}) {
    const CsvTable table = load_csv(std::string("data/") + name + ".csv");
    EXPECT_NO_THROW(table.refuse_misspelt_column_titles(measured_run_table_columns())) << name;
  }
}

TEST(Validation, ComparesEveryRowInFileOrder) {
  const CsvTable table = parse_csv(runs({{"a-1", "0.1"}, {"b-1", "1"}, {"", "10"}}), "runs.csv");
  const Validation v = compare_predictions_to_measurements(table, {.threads = 3});
  EXPECT_EQ(v.kind, MeasurementTableKind::kTrainingRuns);
  EXPECT_EQ(v.rows, 3U);
  ASSERT_EQ(v.results.size(), 3U);
  EXPECT_EQ(v.results[0].id, "a-1");
  EXPECT_EQ(v.results[2].id, "4") << "a row without an id is its line";
  const double predicted = v.results[0].predicted;
  EXPECT_GT(predicted, 0);
  EXPECT_DOUBLE_EQ(v.results[1].error, predicted - 1);
  EXPECT_EQ(v.groups[0].at("a").used, 1U);
  double sum = 0;
  for (const auto& [term, seconds] : v.results[0].terms) sum += seconds;
  EXPECT_NEAR(sum, predicted, 1e-9 * predicted);
}

TEST(Validation, CountsRunsInsideTheirInterval) {
  const double predicted =
      compare_predictions_to_measurements(parse_csv(runs({{"a-1", "1"}}), "runs.csv"), {})
          .results.front()
          .predicted;
  const std::string same = fmt::format("{}", predicted);
  const std::string longer = fmt::format("{}", 3 * predicted);
  const Validation v = compare_predictions_to_measurements(
      parse_csv(runs({{"a-1", same.c_str()}, {"a-2", longer.c_str()}}), "runs.csv"), {});
  EXPECT_EQ(v.inside_interval, 0.5);
  EXPECT_LT(v.results[0].low_s, predicted);
  EXPECT_GT(v.results[0].high_s, predicted);
  EXPECT_EQ(validation_json(v)["results"][1]["high_s"], v.results[1].high_s);
}

TEST(Validation, ComparesPlansOfOneJob) {
  std::string text = runs({{"a-1", "0.1"}, {"a-2", "0.2"}, {"a-3", "0.3"}, {"b-1", "0.4"}});
  for (const char* id : {"a-2", "a-3", "b-1"}) {  // other micro-batches: other plans of one job
    text.replace(text.find("16,2,2,2", text.find(id)), 8, id[2] == '2' ? "16,1,2,2" : "16,4,2,2");
  }
  const Validation v = compare_predictions_to_measurements(parse_csv(text, "runs.csv"), {});
  EXPECT_EQ(v.choices->groups, 1U) << "one row of source b";
  EXPECT_EQ(validation_json(v)["choices"]["groups"], 1);

  std::string apart;  // The rows of `text`, with a column that declares the setup of one different.
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    const char* const setup = line == 0 ? ",setup" : line == 3 ? ",before the change" : ",";
    apart += text.substr(begin, end - begin) + setup + "\n";
    begin = end + 1;
  }
  EXPECT_EQ(compare_predictions_to_measurements(parse_csv(apart, "runs.csv"), {}).choices->groups,
            0U);
}

TEST(Validation, DoesNotDependOnTheNumberOfThreads) {
  const CsvTable table = parse_csv(runs({{"a-1", "0.1"}, {"a-2", "0.2"}}), "runs.csv");
  EXPECT_EQ(validation_json(compare_predictions_to_measurements(table, {.threads = 1})).dump(),
            validation_json(compare_predictions_to_measurements(table, {.threads = 4})).dump());
}

TEST(Validation, SkipsBadCellsWithAReason) {
  const CsvTable table =
      parse_csv(runs({{"a-1", "nan"}, {"a-2", "-1"}, {"a-3", "fast"}, {"a-4", ""}, {"a-5", "1"}}),
                "runs.csv");
  const Validation v = compare_predictions_to_measurements(table, {});
  EXPECT_EQ(v.used, 1U);
  EXPECT_EQ(v.skipped.at("column measured_value: not a number above zero").count, 3U);
  EXPECT_EQ(v.skipped.at("nothing measured").count, 1U);
}

TEST(Validation, ProseAloneIsNotRead) {
  std::string text = runs({{"a-1", "1"}});
  text.insert(text.find('\n'), ",recompute");
  text.insert(text.size() - 1, ",full for 5 layers per stage");
  EXPECT_EQ(compare_predictions_to_measurements(parse_csv(text, "runs.csv"), {}).used, 1U)
      << "columns job and plan say it";
  for (const char* said : {"job", "plan"}) {
    text.replace(text.find(fmt::format(",{},", said)), 2, ",_");
  }
  const Validation v = compare_predictions_to_measurements(parse_csv(text, "runs.csv"), {});
  EXPECT_EQ(v.skipped.at("column recompute: not read").count, 1U);
}

TEST(Validation, UsesRowsOfATierOnly) {
  const std::string text = runs({{"a-1", "1"}}) + "b-1" + kRow + "1,B\n";
  const Validation v =
      compare_predictions_to_measurements(parse_csv(text, "runs.csv"), {.tier = "B"});
  EXPECT_EQ(v.skipped.at("tier A").count, 1U);
  EXPECT_EQ(refusal([&] {
              compare_predictions_to_measurements(parse_csv(text, "runs.csv"), {.tier = "BC"});
            }),
            "--tier: no row of runs.csv is of tier 'C'; there are A, B");
}

TEST(Validation, CountsLabelsOfMemory) {
  std::string text = kHeader;
  text.replace(text.find("measured_metric,measured_value"), 30,
               "memory_kind,peak,memory_value_gib");
  std::string row = kRow;
  row.replace(row.find("iteration_time_s,"), 17, "");
  std::string other = row;
  other.replace(other.find("GPT-tiny"), 8, "GPT-mini");
  text += "a-1" + row + ",fits,,A\n";
  text += "a-2" + other + ",oom,,A\n";
  text += "a-3" + row + ",allocated,2,A\n";
  text += "a-4" + row + ",,2,A\n";
  const Validation v = compare_predictions_to_measurements(parse_csv(text, "memory.csv"), {});
  ASSERT_TRUE(v.labels);
  EXPECT_EQ(v.labels->right, 1U);
  EXPECT_EQ(v.labels->oom_called_fits, 1U);
  EXPECT_EQ(v.labels->clear_wrong, 1U) << "four small layers are far below 80 GB";
  EXPECT_EQ(v.errors.used, 1U);
  EXPECT_EQ(v.skipped.at("kind of peak not stated").count, 1U);
}

TEST(Validation, ContradictoryLabelsAreListedAndNotJudged) {
  std::string text = kHeader;
  text.replace(text.find("measured_metric,measured_value"), 30,
               "memory_kind,peak,memory_value_gib");
  std::string row = kRow;
  row.replace(row.find("iteration_time_s,"), 17, "");
  text += "a-1" + row + ",fits,,A\n";
  text += "a-2" + row + ",oom,,A\n";
  const Validation v = compare_predictions_to_measurements(parse_csv(text, "memory.csv"), {});
  EXPECT_EQ(v.labels->right + v.labels->wrong, 0U);
  EXPECT_EQ(v.skipped.at("contradictory label").count, 2U);
  ASSERT_EQ(v.labels->contradictory.size(), 1U);
  EXPECT_EQ(validation_json(v)["labels"]["contradictory"].dump(), R"([["a-2","a-1"]])");
}

TEST(Validation, KnowsKindsByTheHeader) {
  const auto kind = [](const char* header) {
    return measurement_table_kind(parse_csv(header, "t.csv"));
  };
  EXPECT_EQ(kind("op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us"),
            MeasurementTableKind::kOperatorSamples);
  EXPECT_EQ(kind("id,op,metric,value"), MeasurementTableKind::kOperatorSamples);
  EXPECT_EQ(kind("library,operation,nodes,ranks_of_node,groups_of_node,payload_bytes,chunk_bytes,"
                 "seconds"),
            MeasurementTableKind::kOwnMessages);
  EXPECT_EQ(kind("op,nodes,gpus_per_node,elements_fp16,time_us"),
            MeasurementTableKind::kCollectiveSamples);
  EXPECT_EQ(kind("collective,size_bytes,time_us"), MeasurementTableKind::kCollectiveSamples);
  const std::string message = refusal([&] { kind("a,b"); });
  EXPECT_NE(message.find("t.csv:1: the header belongs to no known kind"), std::string::npos);
}

}  // namespace
}  // namespace stepwright::validate
