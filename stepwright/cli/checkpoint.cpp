#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "stepwright/checkpoint/convert.h"
#include "stepwright/checkpoint/directory.h"
#include "stepwright/checkpoint/safetensors.h"
#include "stepwright/checkpoint/verify.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/named_file.h"
#include "stepwright/core/quantity.h"
#include "stepwright/core/table.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/huggingface/exporter.h"
#include "stepwright/plan/files.h"

namespace stepwright::cli {
namespace {

nlohmann::ordered_json checkpoint_json(const checkpoint::CheckpointIndex& index) {
  const checkpoint::CheckpointRunFacts& run = index.run;
  nlohmann::ordered_json json = {{"step", run.step},
                                 {"samples", run.samples},
                                 {"seed", run.seed},
                                 {"program", run.program},
                                 {"dtype", index.dtype},
                                 {"states", index.states},
                                 {"plan", run.plan},
                                 {"files", nlohmann::json::array()},
                                 {"tensors", nlohmann::json::array()}};
  for (const checkpoint::CheckpointFileEntry& file : index.files) {
    json["files"].push_back({{"name", file.name}, {"bytes", file.sum.bytes}});
  }
  for (const checkpoint::CheckpointTensorEntry& tensor : index.tensors) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"shape", tensor.shape}, {"slices", tensor.slices.size()}});
  }
  return json;
}

std::string checkpoint_text(const std::filesystem::path& path,
                            const checkpoint::CheckpointIndex& index) {
  TextTable table{.columns = {{"tensor"},
                              {"shape"},
                              {"slices", ColumnAlignment::kRight},
                              {"size", ColumnAlignment::kRight}},
                  .rows = {}};
  const auto width = static_cast<double>(checkpoint::element_bytes(index.dtype));
  double bytes = 0;
  for (const checkpoint::CheckpointTensorEntry& tensor : index.tensors) {
    const double size =
        width *
        static_cast<double>(checkpoint::stored_state_names_of_tensor(index, tensor).size()) *
        static_cast<double>(tensor.elements());
    bytes += size;
    table.rows.push_back({tensor.name, fmt::format("{}", fmt::join(tensor.shape, " x ")),
                          fmt::format("{}", tensor.slices.size()), format_bytes(size)});
  }
  return fmt::format("{}: step {}, {} sequences read, {} files, {} of {} ({})\n\n{}\n{}",
                     path.string(), index.run.step, index.run.samples, index.files.size(),
                     format_bytes(bytes), one_line_printable_text(index.dtype),
                     one_line_printable_text(fmt::format("{}", fmt::join(index.states, ", "))),
                     format_text_table(table), index.run.plan);
}

/// Fails if the plan of a checkpoint cannot be read: such a checkpoint can neither be resumed nor
/// be converted to other formats.
void check_plan(const std::filesystem::path& path, const checkpoint::CheckpointIndex& index) {
  const std::string name = (path / checkpoint::kCheckpointIndexName).string() + ": plan";
  plan::read_plan(YamlJsonDocument::parse(index.run.plan, name), path);
}

constexpr std::size_t kLongestFlaw = 1000;
constexpr std::int64_t kShardBytes = 5'000'000'000;
constexpr double kMostShardBytes = 1e18;

class Checkpoint : public Subcommand {
 public:
  explicit Checkpoint(CLI::App& program)
      : Subcommand(program, "checkpoint", "Show, verify or convert what `train --checkpoint` wrote",
                   "  stepwright checkpoint show checkpoints\n"
                   "  stepwright checkpoint verify checkpoints/step-00000100\n"
                   "  stepwright checkpoint convert checkpoints -o weights.safetensors\n"
                   "  stepwright checkpoint convert checkpoints -o model --format huggingface "
                   "--dtype bf16\n"
                   "  stepwright checkpoint convert checkpoints -o adapter --format peft") {
    app()
        .add_option("ACTION", action_, "show, verify or convert")
        ->required()
        ->transform(one_of_words_validator({"show", "verify", "convert"}));
    app()
        .add_option("DIR", directory_,
                    "A checkpoint, or a directory of checkpoints, of which the last is used")
        ->required();
    mark_option_as_output(
        app().add_option("-o,--output", output_,
                         "With convert: whole weights in one safetensors file, or in a directory"),
        OptionOutputKind::kAnything)
        ->type_name("PATH");
    app()
        .add_option(
            "--format", format_,
            "Format that convert writes: stepwright (a file with our names), huggingface (a "
            "directory that transformers loads) or peft (a directory with only adapters)")
        ->transform(one_of_words_validator({"stepwright", "huggingface", "peft"}));
    app()
        .add_option("--merge", merge_,
                    "With --format huggingface, if adapters or a part of the weights were trained: "
                    "directory of the base model, into whose weights they are merged")
        ->type_name("DIR");
    app()
        .add_option("--base", base_,
                    "With --format peft: directory of the base model of the adapters; by default "
                    "the one from which the run started")
        ->type_name("DIR");
    app()
        .add_option("--dtype", dtype_,
                    "Type of the numbers of a huggingface directory: fp64, fp32, fp16 or bf16; by "
                    "default as in the checkpoint")
        ->transform(one_of_words_validator({"fp64", "fp32", "fp16", "bf16"}));
    app()
        .add_option("--shard-size", shard_size_,
                    "Size of the largest file of a huggingface directory, in bytes or as 5GB")
        ->type_name("SIZE");
  }

  void run_subcommand(const Console& console) override {
    if (output_.empty() == (action_ == "convert")) {
      fail_input("-o PATH is only for `checkpoint convert`, which needs it");
    }
    check_format();
    if (action_ == "convert" && format_ == "stepwright") {
      check_option_output_writable({"--output", output_});
    }
    const std::filesystem::path path = checkpoint::find_checkpoint(directory_);
    if (action_ == "show") return show(console, path);
    if (action_ == "verify") return verify(console, path);
    convert(path);
    answer(console, path, {{"output", output_}}, "written to " + output_);
  }

 private:
  void check_format() const {
    const bool there = format_ != "stepwright";
    if (there && action_ != "convert") fail_input("--format is only for `checkpoint convert`");
    if (!there && !dtype_.empty()) fail_input("--dtype is only for --format huggingface or peft");
    const bool whole = format_ == "huggingface";
    if (!whole && !merge_.empty()) fail_input("--merge is only for --format huggingface");
    if (format_ != "peft" && !base_.empty()) fail_input("--base is only for --format peft");
    if (!whole && !shard_size_.empty()) {
      fail_input("--shard-size is only for --format huggingface");
    }
    static_cast<void>(shard_bytes());  // fails where it is no size
  }

  void convert(const std::filesystem::path& path) const {
    if (format_ == "stepwright") return checkpoint::convert_checkpoint(path, output_);
    const huggingface::ExportedWeightForm form =
        format_ == "peft" ? huggingface::ExportedWeightForm::kAdapters
        : merge_.empty()  ? huggingface::ExportedWeightForm::kWeights
                          : huggingface::ExportedWeightForm::kMerged;
    huggingface::export_huggingface(
        path, output_,
        {.form = form,
         .base = form == huggingface::ExportedWeightForm::kAdapters ? base_ : merge_,
         .type = huggingface::find_weight_number_type(huggingface::kNumberTypeNames, dtype_),
         .shard_bytes = shard_bytes()});
  }

  [[nodiscard]] std::int64_t shard_bytes() const {
    if (shard_size_.empty()) return kShardBytes;
    const YamlJsonDocument document =
        YamlJsonDocument::from_tree(DocumentTree::make_scalar(shard_size_, false), "--shard-size");
    return static_cast<std::int64_t>(
        read_quantity(document.root(), QuantityKind::kBytes, 1, kMostShardBytes));
  }

  void show(const Console& console, const std::filesystem::path& path) const {
    const checkpoint::CheckpointIndex index = checkpoint::load_checkpoint_index(path);
    if (wants_json_output()) return print_json(console.out, checkpoint_json(index));
    console.out << checkpoint_text(path, index);
  }

  void verify(const Console& console, const std::filesystem::path& path) const {
    std::vector<std::string> flaws = checkpoint::find_checkpoint_defects(
        path, [&](const checkpoint::CheckpointIndex& index) { check_plan(path, index); });
    for (std::string& flaw : flaws) flaw = one_line_printable_text(flaw, kLongestFlaw);
    if (!flaws.empty()) {
      throw Error(ErrorKind::kRuntime, fmt::format("{}", fmt::join(flaws, "\n")));
    }
    answer(console, path, {{"damaged", false}}, "no file has changed since it was written");
  }

  void answer(const Console& console, const std::filesystem::path& path,
              nlohmann::ordered_json entries, const std::string& text) const {
    entries["checkpoint"] = path.string();
    if (wants_json_output()) return print_json(console.out, entries);
    console.out << path.string() << ": " << text << '\n';
  }

  std::string action_;
  std::string directory_;
  std::string output_;
  std::string format_ = "stepwright";
  std::string dtype_;
  std::string merge_;
  std::string base_;
  std::string shard_size_;
};

}  // namespace

std::unique_ptr<Subcommand> checkpoint_command(CLI::App& program) {
  return std::make_unique<Checkpoint>(program);
}

}  // namespace stepwright::cli
