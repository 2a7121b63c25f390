#include <gtest/gtest.h>

#include "golden.h"

namespace stepwright::cli {
namespace {

TEST(Arguments, HelpTextsAreThese) {
  const Workplace place;
  std::string text;
  for (const char* arguments : {"--help",         "init --help",       "tune --help",
                                "predict --help", "traffic --help",    "memory --help",
                                "study --help",   "fit --help",        "validate --help",
                                "train --help",   "checkpoint --help", "characterize --help",
                                "compare --help", "export --help",     "import --help",
                                "mcp --help",     "serve --help",      "capture --help",
                                "list --help",    "doctor --help",     "completion --help",
                                "lab --help",     "lab run --help",    "--version"}) {
    text += transcript(place, arguments);
  }
  expect_golden("help.txt", text);
}

TEST(Arguments, WrongOnesAreBadInput) {
  const Workplace place;
  std::string text;
  for (const char* arguments :
       {"",
        "tnue job.yaml",
        "tune",
        "tune job.yaml plan.yaml",
        "tune job.yaml --topp 3",
        "lab run examples/lab-4x4.yaml --timout 3 -- true --not-ours",
        "tune examples/llama-3-70b.yaml --top",
        "tune examples/llama-3-70b.yaml --top 0",
        "tune examples/llama-3-70b.yaml --top many",
        "tune examples/llama-3-70b.yaml --threads -1",
        "predict --sett x=1 plan.yaml",
        "run examples/llama-3-70b.plan.yaml --tokens 1T --seed -1",
        "run examples/llama-3-70b.plan.yaml --tokens 1T --seed 18446744073709551616",
        "train examples/tiny-llama.plan.yaml --data nowhere.txt --seed -1",
        "train examples/tiny-llama.plan.yaml --data nowhere.txt --seed 1e3",
        "traffic examples/llama-3-70b.plan.yaml --rank 64",
        "traffic examples/llama-3-70b.plan.yaml --rank -1",
        "traffic examples/llama-3-70b.plan.yaml --rank 99999999999999999999",
        "list cars",
        "study speed examples/llama-3-70b.yaml",
        "study search examples/llama-3-70b.plan.yaml",
        "study bandwidth none.yaml",
        "study collectives",
        "study collectives examples/llama-3-70b.yaml",
        "study collectives mi300x-8gpu",
        "study collectives a40-8gpu-pcie",
        "study collectives meta-llama3-h100",
        "study collectives dgx-h100 --nodes 0",
        "study collectives dgx-h100 --nodes 1,many",
        "study collectives dgx-h100 --nodes 200000",
        "study collectives dgx-h100 --bytes 64XB",
        "study collectives dgx-h100 --bytes 0",
        "study collectives dgx-h100 --operations all_to_all",
        "study collectives dgx-h100 --schedules nvls",
        "study collectives dgx-h100 --message-start -1",
        "study collectives dgx-h100 --simulate many",
        "study collectives dgx-h100 --nodes 2048 --simulate 16384 --every-rank",
        "study bandwidth examples/llama-3-70b.plan.yaml --nodes 4",
        "list profiles --config config.json",
        "list models --length 64",
        "list models --config config.json --tensors",
        "lab",
        "lab rnu",
        "lab run",
        "lab run examples/lab-4x4.yaml",
        "lab check none.yaml",
        "lab profile examples/llama-3-70b.yaml",
        "lab run --timeout soon examples/lab-4x4.yaml -- true"}) {
    text += transcript(place, arguments);
  }
  expect_golden("arguments.txt", text);
}

TEST(Arguments, ListsAreThese) {
  const Workplace place;
  std::string text;
  for (const char* what :
       {"models", "profiles", "shardings", "schedules", "collectives", "frameworks"}) {
    text += transcript(place, std::string("list ") + what);
  }
  expect_golden("lists.txt", text);
}

}  // namespace
}  // namespace stepwright::cli
