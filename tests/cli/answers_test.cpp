#include <gtest/gtest.h>

#include <regex>

#include "golden.h"

namespace stepwright {
namespace {

constexpr const char* kPlan = "examples/llama-3-70b.plan.yaml";

TEST(Answers, OfPredictAreThese) {
  const Workplace place;
  const std::string plan = std::string("predict ") + kPlan;
  expect_golden("predict.txt",
                transcript(place, plan) +
                    transcript(place, plan + " --set cluster.nic=2x --set micro_batch=2"));
}

TEST(Answers, OfTrafficAreThese) {
  const Workplace place;
  const std::string plan = std::string("traffic ") + kPlan;
  expect_golden("traffic.txt",
                transcript(place, plan + " --links") + transcript(place, plan + " --rank 0"));
}

TEST(Answers, OfMemoryAreThese) {
  const Workplace place;
  expect_golden("memory.txt", transcript(place, std::string("memory ") + kPlan));
}

TEST(Answers, OfTuneAreThese) {
  const Workplace place;
  const std::string text =
      transcript(place, "tune examples/llama-3-70b.yaml --top 3 --shortlist 2 -o plan.yaml");
  const std::regex seconds("search took [^:]*:");
  expect_golden("tune.txt", std::regex_replace(text, seconds, "search took N s:"));
  expect_golden("tuned-plan.yaml", place.read("plan.yaml"));
}

TEST(Answers, OfExportAreThese) {
  const Workplace place;
  std::string text =
      transcript(place, "export --to msccl-xml --collective all_reduce --algorithm ring --tiers 2");
  text += transcript(place, "export --to nccl-tuner --cluster aws-p5-h100 --nodes 3");
  text += transcript(place, std::string("export --to nccl-tuner --channels 16 -o tuner.conf "
                                        "--plan ") +
                                kPlan);
  expect_golden("export.txt", text + place.read("tuner.conf"));
}

}  // namespace
}  // namespace stepwright
