#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/utf8.h"
#include "stepwright/packing/dataset_lengths.h"
#include "stepwright/packing/length_file.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr std::size_t kMostLengths = 20'000;
constexpr std::size_t kLookedAt = 1024;  // bytes

/// True if a file already is a table of lengths, judged by its name and, for .json (also used for
/// data sets), by its first bytes.
bool holds_lengths(const std::filesystem::path& path) {
  if (path.extension() != ".json") return path.extension() == ".yaml";
  return read_first_bytes_of_regular_file(path, kLookedAt).value_or("").find("\"lengths/") !=
         std::string::npos;
}

/// Returns the length that a given share of the documents does not exceed.
std::int64_t quantile(const packing::LengthHistogram& histogram, double share) {
  const double due = share * packing::total_document_count(histogram);
  double seen = 0;
  for (const auto& [length, count] : histogram) {
    seen += count;
    if (seen >= due) return length;
  }
  return histogram.back().length;
}

class Lengths : public Subcommand {
 public:
  explicit Lengths(CLI::App& program)
      : Subcommand(program, "lengths", "Read how long the documents of a data set are",
                   "  stepwright lengths data.jsonl --field input_ids -o lengths.yaml\n"
                   "  stepwright lengths part-*.jsonl --field text --characters-per-token 4.2") {
    reads(app().add_option(
              "FILE", files_,
              "JSON lines, one document a line, or files of lengths (.yaml, .json) to join"))
        ->required()
        ->type_name("FILE");
    app()
        .add_option("--field", field_.name,
                    "Field with token ids, a length, text, or turns of a conversation; dots "
                    "separate nested keys")
        ->type_name("NAME");
    app()
        .add_option("--characters-per-token", field_.characters_per_token,
                    "For text: mean number of characters of a token of your tokenizer")
        ->check(runtime::number_range_validator({.low = 0.01, .high = 1000}))
        ->needs("--field")
        ->type_name("NUMBER");
    mark_option_as_output(
        app().add_option("-o,--output", output_, "File of lengths, for batch.lengths of a job"))
        ->type_name("FILE");
  }

  void run_subcommand(const Console& console) override {
    if (!field_.name.empty() && std::ranges::all_of(files_, holds_lengths)) {
      fail_input(fmt::format("--field: is only for JSON lines; {} holds lengths already",
                             one_line_printable_text(files_.front())));
    }
    packing::LengthHistogram all;
    std::int64_t empty = 0;
    bool text = false;
    for (const std::string& file : files_) {
      const packing::DatasetDocumentLengths read = read_file(file);
      all.insert(all.end(), read.histogram.begin(), read.histogram.end());
      all = packing::merge_equal_lengths(std::move(all));
      empty += read.empty;
      text = text || read.counts_characters;
    }
    if (all.empty())
      fail_input(fmt::format("{}: holds no document", one_line_printable_text(files_.front())));
    if (field_.characters_per_token > 0 && !text) {
      fail_input(fmt::format(
          "--characters-per-token: is only for text, but '{}' contains no text in {}; leave the "
          "option out",
          one_line_printable_text(field_.name), one_line_printable_text(files_.front())));
    }
    if (!output_.empty()) {
      write_file(output_, [&](std::ostream& out) {
        out << packing::length_histogram_text(
            packing::coarsened_length_histogram(all, kMostLengths), comment(all));
      });
    }
    wants_json_output() ? print_json(console.out, answer(all, empty))
                        : say(console.out, all, empty);
  }

 private:
  [[nodiscard]] packing::DatasetDocumentLengths read_file(const std::string& file) const {
    if (holds_lengths(file)) return {packing::load_length_histogram(file)};
    if (field_.name.empty()) {
      fail_input(fmt::format("{}: state with --field which field has the length of a document",
                             one_line_printable_text(file)));
    }
    return packing::read_dataset_lengths(file, field_);
  }

  [[nodiscard]] std::string comment(const packing::LengthHistogram& all) const {
    std::string text = fmt::format(
        "Lengths of {}: [tokens, documents].",
        count_with_noun(static_cast<std::int64_t>(packing::total_document_count(all)), "document"));
    if (!field_.name.empty())
      text += fmt::format("\nOf field {}.", one_line_printable_text(field_.name));
    if (field_.characters_per_token > 0) {
      text +=
          fmt::format("\nText counted as a token for {} characters.", field_.characters_per_token);
    }
    return text;
  }

  [[nodiscard]] nlohmann::ordered_json answer(const packing::LengthHistogram& all,
                                              std::int64_t empty) const {
    return {{"documents", static_cast<std::int64_t>(packing::total_document_count(all))},
            {"empty", empty},
            {"tokens", static_cast<std::int64_t>(packing::total_tokens(all))},
            {"mean", packing::total_tokens(all) / packing::total_document_count(all)},
            {"median", quantile(all, 0.5)},
            {"p90", quantile(all, 0.9)},
            {"p99", quantile(all, 0.99)},
            {"longest", all.back().length},
            {"file",
             output_.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(output_)}};
  }

  void say(std::ostream& out, const packing::LengthHistogram& all, std::int64_t empty) const {
    out << fmt::format(
        "{} with {} tokens: mean {:.1f}, median {}, 90% up to {}, 99% up to {}, longest {}\n",
        count_with_noun(static_cast<std::int64_t>(packing::total_document_count(all)), "document"),
        format_count(static_cast<std::int64_t>(packing::total_tokens(all))),
        packing::total_tokens(all) / packing::total_document_count(all), quantile(all, 0.5),
        quantile(all, 0.9), quantile(all, 0.99), all.back().length);
    if (empty > 0)
      out << fmt::format("{} without a token left out\n", count_with_noun(empty, "document"));
    if (!output_.empty()) {
      out << fmt::format("{0} written; in a job: lengths: {{file: {0}}}\n",
                         one_line_printable_text(output_));
    }
  }

  std::vector<std::string> files_;
  packing::DocumentLengthField field_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Subcommand> lengths_command(CLI::App& program) {
  return std::make_unique<Lengths>(program);
}

}  // namespace stepwright::cli
