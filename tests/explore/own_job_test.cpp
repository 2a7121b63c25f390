#include "stepwright/explore/own_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/explore/explore.h"
#include "stepwright/explore/question.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::explore {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

/// The config of Llama 3 8B in its Hugging Face repository.
constexpr const char* kConfig = R"({
  "architectures": ["LlamaForCausalLM"],
  "hidden_act": "silu",
  "hidden_size": 4096,
  "intermediate_size": 14336,
  "max_position_embeddings": 8192,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "rms_norm_eps": 1e-05,
  "rope_theta": 500000.0,
  "tie_word_embeddings": false,
  "torch_dtype": "bfloat16",
  "vocab_size": 128256
})";

Json file(const std::string& name, const std::string& text) {
  return {{"name", name}, {"text", text}};
}

/// Returns the job that the page shows: Llama 3 70B on eight nodes.
Json sight() {
  return {{"model", "llama-3-70b"},
          {"cluster", {{"profile", "dgx-h100"}, {"nodes", 8}}},
          {"batch", {{"sequences", 512}, {"length", 8192}}}};
}

Json brought(Json files, Json given = Json::object()) {
  return answer_explorer_question({{"ask", "import"},
                                   {"files", std::move(files)},
                                   {"given", std::move(given)},
                                   {"beside", sight()}});
}

Json asked(const std::string& ask, const Json& plan, Json more = Json::object()) {
  Json question = {{"ask", ask}, {"text", plan.dump()}, {"name", "it"}};
  question.update(more);
  return answer_explorer_question(question);
}

/// Returns a legal plan of Llama 3 70B on 64 GPUs.
Json legal_plan() {
  Json job = sight();
  job["stepwright"] = "job/2";
  return asked("predict", job).at("plan");
}

/// Returns the error for a question.
Json failure(const Json& question) {
  try {
    answer_explorer_question(question);
  } catch (const Error& error) {
    return explorer_error_json(error);
  }
  return {{"error", ""}, {"place", {{"field", ""}}}};
}

TEST(OwnJob, AConfigBecomesAJobOnTheClusterThatIsGiven) {
  const Json answer = brought(Json::array({file("config.json", kConfig)}),
                              {{"cluster", "dgx-h100"}, {"devices", 64}, {"name", "my-8b"}});
  EXPECT_EQ(answer.at("kind"), "model");
  EXPECT_EQ(answer.at("model").at("parameters"), 8'030'261'248);
  EXPECT_EQ(answer.at("model").at("name"), "my-8b");
  EXPECT_THAT(answer.at("about").get<std::string>(), HasSubstr("8 nodes of 8 h100"));
  const plan::Job job = plan::read_job(YamlJsonDocument::parse(answer.at("job").dump(), "job"), {});
  EXPECT_EQ(job.cluster.devices(), 64);
  EXPECT_EQ(job.sequences, 512);
  EXPECT_FALSE(asked("predict", answer.at("job")).contains("refused"));
}

TEST(OwnJob, AFormAloneIsAJob) {
  const Json given = {
      {"model", {{"layers", 8}, {"hidden", 512}, {"heads", 8}, {"ffn", 2048}, {"vocab", 32000}}},
      {"cluster", {{"profile", "dgx-a100-80g"}, {"nics_per_node", 4}}},
      {"nodes", 2},
      {"batch", {{"sequences", 64}, {"length", "4k"}}}};
  const Json answer = brought(Json::array(), given);
  const plan::Job job = plan::read_job(YamlJsonDocument::parse(answer.at("job").dump(), "job"), {});
  EXPECT_EQ(job.model.layers, 8);
  EXPECT_EQ(job.cluster.devices(), 16);
  EXPECT_EQ(job.cluster.nics_per_node, 4);
  EXPECT_EQ(job.length, 4096);
}

TEST(OwnJob, AFailureNamesTheFieldOfTheForm) {
  const Json given = {
      {"model", {{"layers", 8}, {"hidden", 512}, {"heads", 0}, {"ffn", 2048}, {"vocab", 9}}}};
  const Json failed =
      failure({{"ask", "import"}, {"given", given}, {"beside", sight()}, {"files", Json::array()}});
  EXPECT_EQ(failed.at("place").at("field"), "model.heads");
  EXPECT_EQ(failed.at("kind"), "input");
}

TEST(OwnJob, ABrokenConfigIsToldByItsLine) {
  const Json failed =
      failure({{"ask", "import"},
               {"files", Json::array({file("config.json", "{\"model_type\":\n ,}")})},
               {"beside", sight()}});
  EXPECT_THAT(failed.at("error").get<std::string>(), HasSubstr("config.json:2"));
}

TEST(OwnJob, AJobAndAPlanAreTakenAsTheyAre) {
  const Json plan = legal_plan();
  const Json answer = brought(Json::array({file("plan.json", plan.dump())}));
  EXPECT_EQ(answer.at("kind"), "plan");
  EXPECT_EQ(answer.at("plan"), plan);
  const Json job =
      brought(Json::array({file("job.yaml",
                                "stepwright: job/2\nmodel: llama-3-8b\ncluster: dgx-h100:2\n"
                                "batch: {sequences: 64, length: 4096}\n")}));
  EXPECT_EQ(job.at("kind"), "job");
  EXPECT_EQ(asked("predict", job.at("job")).at("sizes").at("devices"), 16);
}

TEST(OwnJob, AScriptThatWasWrittenIsReadBack) {
  Json plan = legal_plan();
  plan["job"]["framework"] = "megatron-core";
  const Json written = asked("export", plan, {{"to", "megatron"}, {"nearest", true}});
  ASSERT_TRUE(written.contains("file")) << written;
  EXPECT_EQ(written.at("file").at("name"), "megatron.sh");
  EXPECT_THAT(written.at("file").at("text").get<std::string>(),
              HasSubstr("--tensor-model-parallel-size"));
  const Json answer = brought(Json::array({file("megatron.sh", written.at("file").at("text"))}),
                              {{"cluster", "dgx-h100"}});
  EXPECT_EQ(answer.at("kind"), "launch");
  EXPECT_EQ(answer.at("from"), "megatron");
  EXPECT_FALSE(answer.contains("refused"));
  EXPECT_GT(answer.at("read").size(), 10U);
  EXPECT_EQ(answer.at("plan").at("parallel"), written.at("plan").at("parallel"));
  EXPECT_EQ(answer.at("plan").at("job").at("model"), "llama-3-70b");
}

TEST(OwnJob, AScriptTakesTheModelOfAConfigBesideIt) {
  const std::string script =
      "#!/bin/bash\ntorchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py "
      "--tensor-model-parallel-size 4 --sequence-parallel --micro-batch-size 1 "
      "--global-batch-size 64 --seq-length 4096 --use-distributed-optimizer --bf16\n";
  const Json answer = brought(Json::array({file("train.sh", script), file("config.json", kConfig)}),
                              {{"cluster", "dgx-h100"}});
  EXPECT_EQ(answer.at("from"), "megatron");
  EXPECT_EQ(answer.at("plan").at("parallel").at("tensor"), 4);
  EXPECT_EQ(answer.at("model").at("parameters"), 8'030'261'248);
  const Json alone = failure({{"ask", "import"},
                              {"files", Json::array({file("train.sh", script)})},
                              {"given", {{"cluster", "dgx-h100"}}}});
  EXPECT_THAT(alone.at("error").get<std::string>(), HasSubstr("--model is required"));
}

TEST(OwnJob, CheckSaysOfAPlanWhetherItStartsAndFits) {
  const Json answer = asked("check", legal_plan());
  EXPECT_EQ(answer.at("starts"), true);
  EXPECT_EQ(answer.at("fits"), true);
  EXPECT_TRUE(answer.contains("gains"));
}

TEST(OwnJob, CheckReadsAPlanOrAScriptFromFilesAndSaysWhatIsNone) {
  const Json plan = asked("check", legal_plan());
  const Json files = Json::array({file("plan.json", legal_plan().dump())});
  const Json read = answer_explorer_question({{"ask", "check"}, {"files", files}});
  EXPECT_EQ(read.at("step_time_s"), plan.at("step_time_s"));
  Json bad = legal_plan();
  bad["parallel"]["tensor"] = 3;
  const Json refused = asked("check", bad);
  EXPECT_EQ(refused.at("starts"), false);
  EXPECT_THAT(refused.at("fault").get<std::string>(), HasSubstr("does not start"));
  const Json none = failure({{"ask", "check"},
                             {"files", Json::array({file("config.json", kConfig)})},
                             {"given", Json::object()}});
  EXPECT_THAT(none.at("error").get<std::string>(),
              HasSubstr("config.json: contains no plan to check"));
}

TEST(OwnJob, CheckOffersThePlanThatEachOfItsChangesReaches) {
  Json plan = legal_plan();
  plan["recompute"] = "full";
  const Json answer = asked("check", plan);
  ASSERT_FALSE(answer.at("gains").empty());
  double before = answer.at("step_time_s");
  for (const Json& gain : answer.at("gains")) {
    EXPECT_FALSE(gain.at("changes").get<std::string>().empty());
    const Json there = asked("predict", gain.at("plan")).at("prediction");
    EXPECT_NEAR(there.at("step_time_s"), gain.at("step_time_s"), 1e-9 * before);
    EXPECT_LT(there.at("step_time_s").get<double>(), before);
    before = there.at("step_time_s");
  }
}

TEST(OwnJob, APlanThatAFrameworkDoesNotRunComesWithOneThatItRuns) {
  Json plan = legal_plan();
  plan["parallel"] = {{"tensor", 8}, {"pipeline", 4}, {"data", 2}};
  plan["schedule"] = {{"kind", "zb-h1"}};
  plan["job"]["framework"] = "megatron-core";
  const Json answer = asked("predict", plan);
  ASSERT_FALSE(answer.contains("refused")) << answer.at("refused");
  EXPECT_THAT(answer.at("not_run").at("reasons").at(0).get<std::string>(),
              HasSubstr("schedule zb-h1: megatron-core supports only 1f1b"));
  const Json offer = answer.at("not_run").at("offer");
  EXPECT_FALSE(asked("predict", offer.at("plan")).contains("not_run"));
  const Json written = asked("export", plan, {{"to", "megatron"}});
  EXPECT_THAT(written.at("refused").get<std::string>(), HasSubstr("zb-h1"));
  EXPECT_FALSE(written.at("refused").get<std::string>().ends_with("--nearest writes this plan"));
  EXPECT_FALSE(written.at("nearest").at("changes").get<std::string>().empty());
  EXPECT_TRUE(asked("export", plan, {{"to", "megatron"}, {"nearest", true}}).contains("file"));
  bool offers = false;
  const Json launches = asked("launches", plan).at("launches");
  for (const Json& launch : launches) {
    if (launch.at("to") == "megatron") EXPECT_FALSE(launch.at("starts"));
    EXPECT_EQ(launch.at("starts").get<bool>(), !launch.contains("why"));
    offers = offers || launch.contains("nearest");
  }
  EXPECT_TRUE(offers) << launches;
}

TEST(OwnJob, WaysOutOfAPlanThatDoesNotFit) {
  Json plan = legal_plan();
  plan["job"]["model"] = "llama-3-8b";
  plan["job"]["cluster"]["nodes"] = 1;
  plan["job"]["batch"] = {{"sequences", 64}, {"length", 8192}};
  plan["parallel"] = {{"data", 8}};
  plan["sequence_parallel"] = false;
  plan["schedule"] = {{"kind", "1f1b"}};
  plan["sharding"] = "ddp";
  plan["recompute"] = "none";
  plan["micro_batch"] = 1;
  ASSERT_FALSE(asked("predict", plan).at("prediction").at("fits"));
  const Json nearest = asked("nearest_fit", plan).at("offer");
  EXPECT_TRUE(asked("predict", nearest.at("plan")).at("prediction").at("fits"));
  EXPECT_FALSE(nearest.at("changes").get<std::string>().empty());
  const Json smallest = asked("smallest_cluster", plan).at("offer");
  EXPECT_EQ(smallest.at("nodes"), 1);
  const Json there = asked("predict", smallest.at("plan"));
  EXPECT_TRUE(there.at("prediction").at("fits"));
  const Json remedies = asked("remedies", plan).at("remedies");
  ASSERT_FALSE(remedies.empty());
  for (const Json& remedy : remedies) {
    EXPECT_TRUE(asked("predict", remedy.at("plan")).at("prediction").at("fits")) << remedy;
  }
  EXPECT_TRUE(asked("nearest_fit", nearest.at("plan")).contains("none"));
}

TEST(OwnJob, TheSmallestClusterMayBeLargerThanTheOwn) {
  Json job = sight();
  job["stepwright"] = "job/2";
  job["cluster"]["nodes"] = 1;
  job["batch"] = {{"sequences", 64}, {"length", 4096}};
  const Json plan = asked("predict", job).at("plan");
  const Json offer = asked("smallest_cluster", plan).at("offer");
  EXPECT_GT(offer.at("nodes").get<int>(), 1);  // 70e9 x 16 bytes over 8 x 80e9
  EXPECT_TRUE(asked("predict", offer.at("plan")).at("prediction").at("fits"));
  EXPECT_EQ(offer.at("plan").at("job").at("objective"), plan.at("job").at("objective"));
}

TEST(OwnJob, AClusterOfAFileHasAsManyGpusAsArePutBesideIt) {
  const std::string text = "stepwright: cluster/1\nprofile: dgx-h100\nnic: 25e9\nnodes: 4\n";
  const Json answer = brought(Json::array({file("cluster.yaml", text)}),
                              {{"cluster", "dgx-a100-80g"}, {"devices", 16}});
  EXPECT_EQ(answer.at("kind"), "cluster");
  const plan::Job job = plan::read_job(YamlJsonDocument::parse(answer.at("job").dump(), "job"), {});
  EXPECT_EQ(job.cluster.devices(), 16);
  EXPECT_EQ(job.cluster.nic_bytes_per_s, 25e9);
}

TEST(OwnJob, NothingToReadIsAFailure) {
  EXPECT_THROW(answer_explorer_question({{"ask", "import"}, {"files", Json::array()}}), Error);
  EXPECT_THROW(brought(Json::array({file("empty.json", "")})), Error);
  const Json two = Json::array({file("a.json", kConfig), file("b.json", kConfig)});
  EXPECT_THROW(brought(two), Error);
}

}  // namespace
}  // namespace stepwright::explore
