#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"

namespace stepwright::model {

inline ModelArchitecture read(const std::string& text) {
  return read_huggingface_config(YamlJsonDocument::parse(text, "models/tiny/config.json"));
}

/// Returns a small config.json of a model family, with additional members.
inline std::string tiny(std::string_view type, std::string_view more = "") {
  return fmt::format(
      R"({{"model_type": "{}", "hidden_size": 64, "intermediate_size": 128,
           "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 1000{}{}}})",
      type, more.empty() ? "" : ", ", more);
}

inline ModelArchitecture read_tiny(std::string_view type, std::string_view more = "") {
  return read(tiny(type, more));
}

inline std::string message_of(const std::string& text, ErrorKind kind) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

inline std::string input_error(const std::string& text) {
  return message_of(text, ErrorKind::kInput);
}

inline std::string unsupported(const std::string& text) {
  return message_of(text, ErrorKind::kUnsupported);
}

}  // namespace stepwright::model
