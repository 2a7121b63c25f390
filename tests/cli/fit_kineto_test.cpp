#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace stepwright::cli {
namespace {

using testing::HasSubstr;

/// Writes a trace of host operators and their kernels as the PyTorch profiler does.
class TraceText {
 public:
  void add(const std::string& op, const std::string& dims, double microseconds) {
    const auto number = ++count_;
    events_ += fmt::format(
        R"({}{{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": 5,
"args": {{"External id": {}, "Input Dims": {}, "Input type": ["c10::BFloat16", "c10::BFloat16"]}}}},
{{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {}, "dur": {},
"args": {{"External id": {}, "device": 0, "stream": 7, "correlation": {}}}}}
)",
        events_.empty() ? "" : ",", op, 10 * number, number, dims, 1e6 * number, microseconds,
        number, number);
  }
  [[nodiscard]] std::string text() const {
    return R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
"traceEvents": [)" +
           events_ + "]}\n";
  }

 private:
  std::string events_;
  int count_ = 0;
};

/// Returns samples of matrix products at 200 TFLOP/s after 5 us.
std::string products() {
  TraceText trace;
  for (const std::int64_t hidden : {1024, 1536, 2048, 2560, 3072, 4096, 5120}) {
    for (const std::int64_t rows : {2048, 4096, 6144, 8192}) {
      const auto flops = static_cast<double>(2 * rows * hidden * 4 * hidden);
      trace.add("aten::mm", fmt::format("[[{}, {}], [{}, {}]]", rows, hidden, hidden, 4 * hidden),
                5 + flops / 200e12 * 1e6);
    }
  }
  trace.add("aten::copy_", "[[4096, 1024], [4096, 1024]]", 40);
  return trace.text();
}

TEST(FitKineto, WritesAProfileOfTheTracedDevice) {
  const Workplace place;
  place.write("trace.json", products());
  const Outcome outcome = place.run("fit trace.json -o mine.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("trace.json: kernels that cannot be used as samples"));
  EXPECT_THAT(outcome.out, HasSubstr("aten::copy_"));
  const auto profile = nlohmann::json::parse(place.read("mine.json"));
  EXPECT_EQ(profile["device"]["name"], "a100-sxm-80g");
  ASSERT_EQ(profile["operators"].size(), 1U);
  EXPECT_EQ(profile["operators"][0]["class"], "product");
  EXPECT_EQ(profile["operators"][0]["rows"], 28);
}

TEST(FitKineto, AnswersInJson) {
  const Workplace place;
  place.write("trace.json", products());
  const Outcome outcome = place.run("fit trace.json -o mine.json --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(answer["unused"].size(), 1U);
  EXPECT_EQ(answer["unused"][0]["name"], "aten::copy_");
  EXPECT_EQ(answer["unused"][0]["kernels"], 1);
}

TEST(FitKineto, RefusesWhatItCannotFit) {
  const Workplace place;
  TraceText few;
  few.add("aten::mm", "[[4096, 1024], [1024, 1024]]", 40);
  place.write("few.json", few.text());
  place.write("broken.json", "{\"traceEvents\": [");
  const auto refusal = [&](const std::string& arguments) {
    const Outcome outcome = place.run("fit " + arguments + " -o profile.json");
    EXPECT_EQ(outcome.code, 2) << arguments;
    return outcome.err;
  };
  EXPECT_THAT(refusal("few.json"), HasSubstr("1 usable rows; a fit needs at least"));
  EXPECT_THAT(refusal("few.json --profile dgx-a100-80g"), HasSubstr("has no kernels of NCCL"));
  EXPECT_THAT(refusal("broken.json"), HasSubstr("broken.json: byte 18: the file ends"));
}

}  // namespace
}  // namespace stepwright::cli
