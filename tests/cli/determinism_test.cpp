#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace stepwright::cli {
namespace {

/// Returns a tuned answer without its wall-clock time.
std::string tuned(const Workplace& place, const std::string& job, const std::string& options) {
  const Outcome outcome = place.run("tune " + job + " --json " + options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto answer = nlohmann::ordered_json::parse(outcome.out);
  answer.erase("seconds");
  return answer.dump();
}

TEST(Determinism, TuneDoesNotDependOnThreads) {
  const Workplace place;
  for (const char* job : {"examples/llama-3-70b.yaml", "examples/mixtral-8x7b.yaml"}) {
    const std::string one = tuned(place, job, "--threads 1");
    EXPECT_EQ(tuned(place, job, "--threads 2"), one) << job;
    EXPECT_EQ(tuned(place, job, "--threads 7"), one) << job;
  }
}

TEST(Determinism, EqualInputsGiveEqualBytes) {
  const Workplace place;
  const std::string plan = "examples/llama-3-70b.plan.yaml";
  for (const std::string& arguments :
       {"predict " + plan + kSmallBatch + " --json --trace trace.json --program program.json",
        "traffic " + plan + " --json --matrix matrix.csv --links", "memory " + plan + " --json"}) {
    const std::string first = place.run(arguments).out;
    const std::string trace = place.read("trace.json");
    const std::string program = place.read("program.json");
    const std::string matrix = place.read("matrix.csv");
    EXPECT_EQ(place.run(arguments).out, first);
    EXPECT_EQ(place.read("trace.json"), trace);
    EXPECT_EQ(place.read("program.json"), program);
    EXPECT_EQ(place.read("matrix.csv"), matrix);
  }
}

}  // namespace
}  // namespace stepwright::cli
