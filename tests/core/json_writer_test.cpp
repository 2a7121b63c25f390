#include "stepwright/core/json_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/document.h"

namespace stepwright {
namespace {

std::string as_json(const std::string& text) {
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "file");
  return json_from_tree(document.root().copy_tree()).dump();
}

TEST(JsonWriter, KeepsValuesAndTheirOrder) {
  EXPECT_EQ(as_json("b: {x: [1, two, true, null]}\na: 0.5\n"),
            R"({"b":{"x":[1,"two",true,null]},"a":0.5})");
}

TEST(JsonWriter, IntegersStayIntegersHoweverTheyAreWritten) {
  EXPECT_EQ(as_json("[40e6, 1.5e3, -3, 9007199254740993]"), "[40000000,1500,-3,9007199254740993]");
}

TEST(JsonWriter, TextStaysText) {
  EXPECT_EQ(as_json("{\"a\": \"12\", \"b\": \"true\"}"), R"({"a":"12","b":"true"})");
  EXPECT_EQ(as_json("nic: 400 Gbit/s\nquoted: '1e3'\n"), R"({"nic":"400 Gbit/s","quoted":"1e3"})");
}

TEST(JsonWriter, ANumberBeyondEveryDoubleStaysText) {
  EXPECT_EQ(as_json("a: 1e999"), R"({"a":"1e999"})");
}

TEST(JsonWriter, WhatItWritesReadsAsTheSame) {
  const std::string once = as_json("a: [1, 0.1, {b: x y}]\nc: \n");
  EXPECT_EQ(as_json(once), once);
}

}  // namespace
}  // namespace stepwright
